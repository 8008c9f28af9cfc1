import { withoutUnseen } from '../kernel/safe-text.ts'

/** How a statement of an agent counts in a summary: work done, work to come, or something that fails. */
export type StatementKind = 'done' | 'next' | 'blocker'

/** One statement of a text, on one line. */
export interface SummaryStatement {
  readonly kind: StatementKind
  readonly text: string
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/
const HEADING = /^ {0,3}(?:#{1,6}[ \t](.+)|\*\*([^*]{1,80})\*\*:?|([A-Z][\w' ]{0,40}):)$/
const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])\s+/
const BOX = /^\[([ xX])\]\s+/
const SENTENCE_END = /(?<=[.!?])\s+(?=\S)/

/** So much of a text is looked at, from its end: what is done and what is next is mostly said there. */
const MOST_READ = 20_000

const NEXT_TITLE = /\b(?:next|to ?do|remaining|left|plan)\b/i
const BLOCKER_TITLE = /\b(?:block\w*|problems?|issues?|fail\w*|risks?)\b/i
const NEXT =
  /^(?:next|todo|to do|then|remaining|still|after that|i will|i'll|we will|we should|let me|let's|now i)\b|\b(?:next step|remains|still (?:needs?|has|have) to|needs? to be|left to do|not yet)\b/i
const FAILING =
  /\b(?:fail(?:s|ed|ing|ure|ures)?|errors?|blocked|cannot|can't|could not|couldn't|unable|broken|denied|crash(?:es|ed)?|timed? out|times out|stuck)\b/i
const NOT_FAILING = /\b(?:no|not|0|zero|without|fixed|resolved|solved|never|passed|passes)\b/i
const NOTHING = /^(?:none|nothing|n\/a|no)\b[\s\w]{0,10}[.!]?$/i

/** The statements of a text in markdown, in order. Code is left out. */
export const statementsIn = (text: string): readonly SummaryStatement[] => {
  const statements: SummaryStatement[] = []
  let below: StatementKind | undefined
  for (const line of text.slice(-MOST_READ).replaceAll('\r', '').split('\n').filter(outsideCode())) {
    const heading = HEADING.exec(line.trimEnd())
    if (heading !== null) below = kindOfTitle(heading[1] ?? heading[2] ?? heading[3] ?? '')
    else statements.push(...statementsOf(line, below))
  }
  return statements
}

/** Whether each line in turn stands in no fence of code. A fence that is never closed reaches to the end. */
const outsideCode = (): ((line: string) => boolean) => {
  let open: string | undefined
  return (line) => {
    const [begun = '', fence] = FENCE.exec(line) ?? []
    const rest = line.slice(begun.length)
    const wasOpen = open !== undefined
    if (!wasOpen) open = fence
    else if (fence?.startsWith(open ?? '') && /^[`~]*[ \t]*$/.test(rest)) open = undefined
    return !wasOpen && fence === undefined
  }
}

/** A text of any origin on one line, without what does not show, and no line break left in it. */
export const oneLine = (text: string): string => withoutUnseen(text.replaceAll(/[\s\u2028\u2029]+/g, ' ')).trim()

/** Whether a sentence says that something fails, and not that it no longer does. */
export const isFailing = (sentence: string): boolean => FAILING.test(sentence) && !NOT_FAILING.test(sentence)

const statementsOf = (line: string, below: StatementKind | undefined): readonly SummaryStatement[] => {
  const item = line.replace(ITEM, '')
  const box = BOX.exec(item)?.[1]
  const kind = box === undefined ? below : box === ' ' ? 'next' : 'done'
  return oneLine(item.replace(BOX, ''))
    .split(SENTENCE_END)
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence) && !NOTHING.test(sentence))
    .map((sentence) => ({ kind: kind ?? kindOf(sentence), text: sentence }))
}

const kindOf = (sentence: string): StatementKind => {
  if (NEXT.test(sentence)) return 'next'
  return isFailing(sentence) ? 'blocker' : 'done'
}

const kindOfTitle = (title: string): StatementKind | undefined => {
  if (NEXT_TITLE.test(title)) return 'next'
  return BLOCKER_TITLE.test(title) ? 'blocker' : undefined
}
