import { describe, expect, it } from 'vitest'
import { mergeWindow, type WindowParts } from '../../src/domain/window/context-pressure.ts'
import { describeFigures, levelIn, percentOf, shortTokens, tokensOf } from '../../src/domain/window/window-level.ts'

const metered = (promptTokens: number) => ({ state: 'metered' as const, promptTokens, outputTokens: 0 })
const whole = (tokens: number) => ({ hardLimit: { tokens, source: 'runtime' as const } })

describe('the level of a window', () => {
  it.each<readonly [string, number, WindowParts, string]>([
    [
      'that compacts before its end',
      173_000,
      { ...whole(200_000), autoCompactAt: 167_000 },
      '103 % full: 173k of 167k before it compacts (200k window)',
    ],
    [
      'that was seen to compact earlier',
      100_000,
      { ...whole(200_000), autoCompactAt: 167_000, compactedAt: 135_000 },
      '74 % full: 100k of 135k before it compacts (200k window)',
    ],
    [
      'of which somebody allows a part',
      75_000,
      { ...whole(200_000), autoCompactAt: 167_000, configuredLimit: 150_000 },
      '50 % full: 75k of 150k allowed (200k window)',
    ],
    ['that is used to its end', 122_400, whole(200_000), '61 % full: 122k of 200k'],
    [
      'whose compaction point alone is known',
      10_000,
      { autoCompactAt: 100_000 },
      '10 % full: 10k of 100k before it compacts',
    ],
    [
      'of a million',
      967_400,
      { ...whole(1_000_000), autoCompactAt: 967_000 },
      '100 % full: 967k of 967k before it compacts (1M window)',
    ],
  ])('%s', (_, used, parts, text) => {
    const level = levelIn(metered(used), parts)
    expect(level.state === 'known' && describeFigures(level)).toBe(text)
  })

  it('that is only a percentage is a share of the usable part as well', () => {
    const level = levelIn({ state: 'percentage', usedPercent: 61 }, { ...whole(200_000), autoCompactAt: 167_000 })
    expect(level).toEqual({
      state: 'known',
      ratio: 122_000 / 167_000,
      usedTokens: 122_000,
      windowTokens: 167_000,
      end: 'compaction',
      wholeTokens: 200_000,
    })
    const alone = levelIn({ state: 'percentage', usedPercent: 61 }, {})
    expect(alone.state === 'known' && describeFigures(alone)).toBe('61 % full')
  })

  it('is unknown where nothing was read, and where nobody knows the window', () => {
    expect(levelIn({ state: 'unknown' }, whole(200_000))).toEqual({ state: 'unknown' })
    expect(levelIn(metered(5), {})).toEqual({ state: 'unknown' })
  })

  it('does not count a compaction point that a believed window led to, once more was seen in it', () => {
    const believed: WindowParts = { hardLimit: { tokens: 200_000, source: 'catalogue' }, autoCompactAt: 167_000 }
    expect(levelIn(metered(250_000), believed)).toMatchObject({ ratio: 1, windowTokens: 250_000, end: 'window' })
    expect(levelIn(metered(199_000), believed)).toMatchObject({ windowTokens: 167_000, end: 'compaction' })
  })
})

describe('a percentage', () => {
  it('is whole and rounded down, so that a milestone is never shown before it is reached', () => {
    expect([0.129, 0.8499, 0.85, 1.0359, 0].map(percentOf)).toEqual([12, 84, 85, 103, 0])
  })

  it('is not one too low because a fraction has no exact number', () => {
    for (let percent = 0; percent <= 200; percent += 1) expect(percentOf(percent / 100)).toBe(percent)
  })
})

it('tokens are counted in thousands and millions', () => {
  expect([999, 1_000, 122_499, 999_499, 999_500, 1_048_576, 2_000_000].map(shortTokens)).toEqual([
    ...['999', '1k', '122k', '999k', '1M', '1M', '2M'],
  ])
  expect(tokensOf({ ratio: 0.5, usedTokens: 83_500, windowTokens: 167_000, end: 'compaction' })).toBe('84k of 167k')
  expect(tokensOf({ ratio: 0.5 })).toBeUndefined()
})

describe('a newer report on a window', () => {
  const known: WindowParts = { ...whole(200_000), autoCompactAt: 167_000 }

  it('does not move the compaction point with a size that is trusted less than the known one', () => {
    const believed: WindowParts = { hardLimit: { tokens: 1_000_000, source: 'catalogue' }, autoCompactAt: 967_000 }
    expect(mergeWindow(known, believed)).toEqual(known)
    expect(mergeWindow(believed, known)).toEqual(known)
  })

  it('moves both with the size of another model', () => {
    const larger = { ...whole(1_000_000), autoCompactAt: 967_000 }
    expect(mergeWindow(known, larger)).toEqual(larger)
  })
})
