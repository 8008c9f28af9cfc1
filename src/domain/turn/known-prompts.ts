import { type Sha256, toBase64 } from '../kernel/digest.ts'

/** A prompt that came in by a door of the person, or that we sent, until it is met again in what a runtime says. */
export interface KnownPrompt {
  /** The name of the event that brought it: the same event brings it once. */
  readonly by: string
  /** A digest of its words; absent once it was met, so that nothing is left of an old prompt. */
  readonly mark?: string
  /** How many characters the digest covers, where only the beginning is known. */
  readonly beginning?: number
}

/** How the words of a prompt are compared. */
export interface PromptWords {
  readonly sha256: Sha256
  /** The same for every copy: a copy may come redacted, and another one not. */
  readonly redact?: ((text: string) => string) | undefined
}

/** As many are remembered: a day of prompts that hooks have put aside, and of those that were met, enough to know them again. */
const MOST_WAITING = 1_000
const MOST_MET = 300

/** Hooks pass on the beginning of a long prompt, and a sign that there is more. */
const CUT = '…'
const LEAST_CUT = 1_000

const encoder = new TextEncoder()

/** The words of a text as they are compared: redacted, with one kind of line end, and nothing around them. */
const comparable = (text: string, { redact = (same) => same }: PromptWords): string =>
  redact(text).replaceAll('\r\n', '\n').trim()

const digestOf = (words: string, { sha256 }: PromptWords): string => toBase64(sha256(encoder.encode(words)))

/** The prompts with one more. One that the same event brought before, or without a word, changes nothing. */
export const withPrompt = (
  prompts: readonly KnownPrompt[],
  { by, text }: { readonly by: string; readonly text: string },
  how: PromptWords,
): readonly KnownPrompt[] => {
  const words = comparable(text, how)
  if (words === '' || prompts.some((prompt) => prompt.by === by)) return prompts
  const isCut = words.length >= LEAST_CUT && words.endsWith(CUT)
  const whole = isCut ? words.slice(0, -CUT.length) : words
  const prompt = { by, mark: digestOf(whole, how), ...(isCut && { beginning: whole.length }) }
  return bounded([...prompts, prompt])
}

const bounded = (prompts: readonly KnownPrompt[]): readonly KnownPrompt[] => {
  const isWaiting = ({ mark }: KnownPrompt): boolean => mark !== undefined
  const waiting = new Set(prompts.filter(isWaiting).slice(-MOST_WAITING))
  const met = new Set(prompts.filter((prompt) => !isWaiting(prompt)).slice(-MOST_MET))
  return prompts.filter((prompt) => waiting.has(prompt) || met.has(prompt))
}

/** The prompts after one of them was met again, each once; nothing when the text is not one of them. */
export const metPrompt = (
  prompts: readonly KnownPrompt[],
  text: string,
  how: PromptWords,
): readonly KnownPrompt[] | undefined => {
  if (prompts.every(({ mark }) => mark === undefined)) return undefined
  const words = comparable(text, how)
  const whole = digestOf(words, how)
  const at = prompts.findIndex(({ mark, beginning }) =>
    beginning === undefined
      ? mark === whole
      : mark !== undefined && words.length >= beginning && mark === digestOf(words.slice(0, beginning), how),
  )
  return at === -1 ? undefined : prompts.map((prompt, index) => (index === at ? { by: prompt.by } : prompt))
}
