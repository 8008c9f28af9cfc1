import { beginningOf } from '../kernel/cut-text.ts'
import { defined } from '../kernel/defined.ts'
import { withoutEnd } from '../kernel/without-end.ts'
import { tokensIn } from '../window/pending-text.ts'
import { markdownOf, plainText, SHORTENED, type SummarySection, sectionsOf } from './summary-parts.ts'
import { oneLine } from './summary-statements.ts'
import {
  EXTRACTIVE,
  isSummaryBudget,
  PERSON,
  SUMMARY_TOKENS,
  type SummaryPart,
  type ThreadSummary,
  type WrittenSummary,
} from './thread-summary.ts'

const utf8 = new TextEncoder()

/** An estimate of the tokens of a text: its bytes of UTF-8 divided by four, in whatever alphabet. */
const summaryTokens = (text: string): number => tokensIn(utf8.encode(text).length)

/** Says in a summary that no model wrote it. */
export const WITHOUT_A_MODEL = 'Written without a model, from the record'

/** The parts of a summary, the one to cut first in front. */
const CUT_FIRST: readonly (SummaryPart | undefined)[] = [
  ...['Key files' as const, 'Progress' as const, 'Blockers' as const, 'Next Steps' as const, 'Objective' as const],
  undefined,
]

/** The lengths that the last line of each part is cut to, one after the other, until all of it fits. */
const LENGTHS = [240, 160, 120, 80, 60, 40, 30, 20, 15, 10, 5] as const

/** Longer reasons are cut: the summary is about the work. */
const LONGEST_REASON = 100

/**
 * A summary within a budget of tokens, from the answer of a summarizer. Where it is too long, whole lines go from the
 * end of the least important part first, then sentences; every part keeps a line, and the summary says that it was cut.
 *
 * @throws TypeError when the budget is not one
 */
export const summaryFrom = (
  { text, modelUsed, fallbackReason }: WrittenSummary,
  budgetTokens: number = SUMMARY_TOKENS.usual,
): ThreadSummary => {
  const { least, most } = SUMMARY_TOKENS
  if (!isSummaryBudget(budgetTokens))
    throw new TypeError(`A summary has ${least} to ${most} tokens, got ${budgetTokens}`)
  const note = modelUsed === EXTRACTIVE ? noteOf(fallbackReason) : undefined
  const within = fitted(sectionsOf(text), note, budgetTokens)
  return summaryOf(within, defined({ modelUsed, fallbackReason }))
}

/** A summary as a person edited it: their text, as it is. */
export const editedSummary = (text: string): ThreadSummary => summaryOf(text, { modelUsed: PERSON })

const summaryOf = (text: string, by: Omit<WrittenSummary, 'text'>): ThreadSummary => ({
  text,
  plainText: plainText(text),
  tokens: summaryTokens(text),
  ...by,
})

const noteOf = (reason: string | undefined): string =>
  reason === undefined ? `${WITHOUT_A_MODEL}.` : `${WITHOUT_A_MODEL}: ${shorter(oneLine(reason), LONGEST_REASON)}`

const fitted = (sections: readonly SummarySection[], note: string | undefined, budgetTokens: number): string => {
  const remaining = sections.map(({ title, lines }) => ({ ...defined({ title }), lines: [...lines] }))
  const toCut = CUT_FIRST.flatMap((title) => remaining.filter((section) => section.title === title))
  const text = (end?: string): string =>
    [note, markdownOf(remaining), end].filter((part) => part !== undefined).join('\n\n')
  if (summaryTokens(text()) <= budgetTokens) return text()
  const isTooLong = (): boolean => summaryTokens(text(SHORTENED)) > budgetTokens
  for (const { lines } of toCut) while (lines.length > 1 && isTooLong()) lines.pop()
  for (const length of LENGTHS) {
    for (const { lines } of toCut) if (isTooLong()) lines[0] = shorter(lines[0] ?? '', length)
  }
  return text(SHORTENED)
}

/** The beginning of a line: up to the end of a sentence or of a word, with its quotation closed. */
export const shorter = (line: string, most: number): string => {
  if (line.length <= most) return line
  const begun = beginningOf(line, most - 2)
  const sentence = /^.*[.!?](?=\s|$)/s.exec(begun)?.[0] ?? ''
  if (sentence.length > most / 2) return closed(sentence)
  const words = withoutEnd(withoutEnd(begun, /\S/), /\s/)
  return closed(`${words.length > most / 2 ? words : begun}…`)
}

const closed = (text: string): string => (text.split('"').length % 2 === 0 ? `${text}"` : text)
