import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editedSummary, summaryFrom } from '../../../src/domain/summary/summary-budget.ts'
import { partsOf, plainText } from '../../../src/domain/summary/summary-parts.ts'
import { isStructured } from '../../../src/domain/summary/summary-prompt.ts'
import { SUMMARY_PARTS, SUMMARY_TOKENS } from '../../../src/domain/summary/thread-summary.ts'
import { runsOf } from '../../support/amounts.ts'

const model = (text: string) => ({ text, modelUsed: 'some-model' })

/** A summary with so many lines in each part, each of so many words. */
const long = (lines: number, words: number): string =>
  SUMMARY_PARTS.map((part) => {
    const line = (at: number): string => `- ${part} ${at} ${Array.from({ length: words }, () => 'word').join(' ')}.`
    return `## ${part}\n${Array.from({ length: lines }, (_, at) => line(at)).join('\n')}`
  }).join('\n\n')

describe('the structure of a summary', () => {
  it('is read from headings as models write them', () => {
    const text =
      'Here it is.\n# Objective:\nFix it\n**Progress**\n- done\n## 3. Next steps\nship\n### BLOCKERS\nKey Files:\n- a.ts'
    expect([...partsOf(text)]).toEqual([
      ['Objective', ['Fix it']],
      ['Progress', ['- done']],
      ['Next Steps', ['ship']],
      ['Blockers', []],
      ['Key files', ['- a.ts']],
    ])
  })

  it('has all five parts in the end, none of them empty', () => {
    const { text } = summaryFrom(model('## Progress\n- done\n## Objective\nFix it\n## Blockers\n'))
    expect(text).toBe(
      '## Objective\nFix it\n\n## Progress\n- done\n\n## Next Steps\nNot stated.\n\n## Blockers\nNot stated.\n\n## Key files\nNot stated.',
    )
  })

  it('is there with an objective and two other parts', () => {
    expect(isStructured('## Objective\nFix it\n## Progress\n## Blockers')).toBe(true)
    expect(isStructured('## Objective\n## Progress\nx\n## Blockers')).toBe(false)
    expect(isStructured('I cannot help with that.')).toBe(false)
  })

  it('loses what does not show, and bounds a line', () => {
    const { text } = summaryFrom(
      model(`## Objective\nA\u0007\u001b[2J\u202eB\u200b\n${'x'.repeat(5_000)}\n## Progress\n- p\n## Blockers\nb`),
      2_000,
    )
    expect(text).toContain('A[2JB\n')
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBe(400)
  })

  it('keeps no heading of another kind, no rule and no half of a code block', () => {
    const parts = partsOf('## Objective\nFix\n## Thoughts\n```ts\ncode\n---\nmore')
    expect(parts.get('Objective')).toEqual(['Fix', 'Thoughts', 'code', 'more'])
  })
})

describe('a summary within its budget', () => {
  it('is as it was when it fits, and is counted', () => {
    const { text, tokens, modelUsed } = summaryFrom(model(long(1, 5)))
    expect(text).toBe(long(1, 5))
    expect(tokens).toBe(Math.ceil(text.length / 4))
    expect(modelUsed).toBe('some-model')
  })

  it('cuts the least important part first, whole lines from its end', () => {
    const { text, tokens } = summaryFrom(model(long(5, 9)))
    const left = (part: (typeof SUMMARY_PARTS)[number]) => partsOf(text).get(part)?.length
    expect([left('Objective'), left('Next Steps'), left('Blockers')]).toEqual([5, 5, 5])
    expect(left('Key files')).toBe(1)
    expect(left('Progress')).toBeLessThan(5)
    expect(tokens).toBeLessThanOrEqual(SUMMARY_TOKENS.usual)
    expect(tokens).toBeGreaterThan(250)
    expect(text.endsWith('\n\n(Shortened to fit.)')).toBe(true)
  })

  it('keeps a line of every part in the least of budgets, and closes quotations', () => {
    const quote = `"${'words in quotes '.repeat(20)}"`
    const { text, tokens } = summaryFrom(model(SUMMARY_PARTS.map((part) => `## ${part}\n- ${quote}`).join('\n')), 100)
    expect(tokens).toBeLessThanOrEqual(100)
    for (const part of SUMMARY_PARTS) expect(partsOf(text).get(part)?.[0]).toMatch(/^- ".+…"$/)
  })

  it('is kept to, whatever the text', () => {
    const unit = fc.oneof(
      fc.constantFrom(...SUMMARY_PARTS.map((part) => `\n## ${part}\n`), '\n', '. ', '"', '漢字', '🎉'),
      fc.string(),
    )
    const anyText = fc.array(unit, { maxLength: 300 }).map((parts) => parts.join(''))
    const reasons = fc.option(fc.string({ maxLength: 400 }), { nil: undefined })
    const property = fc.property(anyText, fc.integer({ min: 100, max: 2_000 }), reasons, (text, budget, reason) => {
      const made = summaryFrom(
        { text, modelUsed: 'extractive', ...(reason !== undefined && { fallbackReason: reason }) },
        budget,
      )
      expect(made.tokens).toBeLessThanOrEqual(budget)
      expect(made.text).toContain('Written without a model')
      const parts = partsOf(made.text)
      expect([...parts.values()].every((lines) => lines.length > 0)).toBe(true)
    })
    fc.assert(property, { numRuns: runsOf(300) })
  })

  it('refuses a budget that has no room, or is none', () => {
    for (const budget of [0, 99, 2_001, 150.5, Number.NaN])
      expect(() => summaryFrom(model(long(1, 1)), budget)).toThrow(TypeError)
  })
})

describe('an edited summary', () => {
  it('is the text of the person as it is', () => {
    const text = '  My own words\r\n\r\n* whatever \u0007'
    expect(editedSummary(text)).toMatchObject({ text, modelUsed: 'person', tokens: Math.ceil(text.length / 4) })
  })
})

describe('the plain text of a summary', () => {
  it('has no markup, and a line for each part', () => {
    const text =
      'Note.\n\n## Objective\n- **Fix** the `clock` ([docs](https://example.test/a))\n\n## Key files\n1. a.ts\n2. b.ts'
    expect(plainText(text)).toBe('Note.\nObjective: Fix the clock (docs)\nKey files: a.ts b.ts')
  })
})
