import { describe, expect, it } from 'vitest'
import { instant, instantIn, later } from '../../src/domain/kernel/instant.ts'

describe('instants', () => {
  it('are the same from a date, milliseconds or text', () => {
    const text = '2026-11-16T03:45:34.123Z'
    for (const raw of [text, new Date(text), Date.parse(text), '2026-11-16T04:45:34.123+01:00']) {
      expect(instant(raw)).toBe(text)
    }
  })

  it('have a fixed width, so that they sort as they read', () => {
    const moments = [0, 1, 999, 1_000, 253_402_300_799_999].map((ms) => instant(ms))
    expect(moments.map(({ length }) => length)).toEqual([24, 24, 24, 24, 24])
    expect([...moments].reverse().sort()).toEqual(moments)
  })

  it.each(['', 'soon', Number.NaN, 253_402_300_800_000, -62_135_596_800_001, '0000-12-31T23:59:59Z', new Date('x')])(
    '%s is none',
    (raw) => {
      expect(() => instant(raw)).toThrow(TypeError)
    },
  )

  it('begin with the year 1: databases know no year 0', () => {
    expect(instant(-62_135_596_800_000)).toBe('0001-01-01T00:00:00.000Z')
    expect(instantIn('0001-01-01T00:00:00Z')).toBe('0001-01-01T00:00:00.000Z')
    expect(instantIn('0000-12-31T23:59:59Z')).toBeUndefined()
  })

  it('go on by milliseconds, over the end of a year', () => {
    expect(later(instant('2026-12-31T23:59:59.990Z'), 20)).toBe('2027-01-01T00:00:00.010Z')
    expect(later(instant('2026-01-01T00:00:00.000Z'), 0)).toBe('2026-01-01T00:00:00.000Z')
  })
})
