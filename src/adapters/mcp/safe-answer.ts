import { asText } from '../../domain/kernel/safe-text.ts'

/** The most characters of one answer, over what any tool makes by itself. Claude Code takes 25,000 tokens of one. */
const LONGEST_ANSWER = 50_000

/** A text of any origin that every client can read: what cannot be seen, and halves of pairs, are spelled out. */
export const safeText = asText

/** A text that is short enough for one answer. Tools page by themselves; this is for the one that did not. */
export const shortAnswer = (text: string, most: number = LONGEST_ANSWER): string => {
  if (text.length <= most) return text
  const left = `\n[cut here: ${text.length - most} more characters are left out. Ask for less.]`
  return `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}${left}`
}

/** The same facts, with every text in them made safe. */
export const safeFacts = (value: unknown): unknown => {
  if (typeof value === 'string') return safeText(value)
  if (Array.isArray(value)) return value.map(safeFacts)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, safeFacts(each)]))
}
