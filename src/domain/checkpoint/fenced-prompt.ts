import { err, ok, type Result } from '../kernel/result.ts'

/** How a text begins that somebody else wrote, as `fenced` sets it apart. */
const OPENING = /<((?:checkpoint|document|answer|words|recap|hooks)-[0-9a-z-]{16,})>/gi

/** The words of the fences in a prompt, the outermost only: what looks like a fence inside another one is text. */
const fencesIn = (prompt: string): readonly string[] => {
  const words: string[] = []
  const opening = new RegExp(OPENING)
  for (let found = opening.exec(prompt); found !== null; found = opening.exec(prompt)) {
    const word = found[1] as string // the pattern has the group
    const end = prompt.toLowerCase().lastIndexOf(`</${word.toLowerCase()}>`)
    if (end <= found.index) continue
    words.push(word)
    opening.lastIndex = end
  }
  return words
}

/** Whether nothing else can be taken for a fence: it begins once, ends once, and its word is nowhere between. */
const isUnique = (prompt: string, word: string): boolean => {
  const searched = prompt.toLowerCase()
  const sought = word.toLowerCase()
  const [opening, closing] = [`<${sought}>`, `</${sought}>`]
  const [begin, end] = [searched.indexOf(opening), searched.indexOf(closing)]
  if (begin === -1 || end < begin) return false
  if (begin !== searched.lastIndexOf(opening) || end !== searched.lastIndexOf(closing)) return false
  return !searched.slice(begin + opening.length, end).includes(sought)
}

/** The fence of a prompt that cannot be used: others could imitate it, or redaction took it away. */
export interface BrokenFence {
  readonly fence: string
}

/** How the parts of a prompt are redacted, and which of its fences count. */
export interface PromptRedaction {
  readonly redact: (text: string) => string
  /** The nonce that the prompt was fenced with, in whatever form. What other fences there are is quoted text then. */
  readonly nonce?: string
  /** Take a fence that is not unique for quoted text, instead of refusing it: for what people write themselves. */
  readonly mayQuote?: boolean
}

/**
 * A prompt with every part of it redacted, and its fences left as they are: a redactor that masks ids would make them
 * words that anybody can guess.
 *
 * @returns the redacted prompt, or a fence that is not unique in it
 */
export const redactPrompt = (prompt: string, redaction: PromptRedaction): Result<string, BrokenFence> => {
  const { redact, nonce, mayQuote = false } = redaction
  const fences = fencesIn(prompt).filter((word) => isOf(nonce, word) && (!mayQuote || isUnique(prompt, word)))
  const spared = nonce === undefined ? fences : [...fences, `${nonce}0*`]
  const redacted = spared.length === 0 ? redact(prompt) : redactAround(prompt, spared, redact)
  const broken = fences.find((word) => !isUnique(redacted, word))
  return broken === undefined ? ok(redacted) : err({ fence: broken })
}

const isOf = (nonce: string | undefined, word: string): boolean =>
  nonce === undefined || word.toLowerCase().includes(nonce.toLowerCase())

const redactAround = (prompt: string, kept: readonly string[], redact: (text: string) => string): string =>
  prompt
    .split(new RegExp(`((?:</?)?(?:${kept.join('|')})>?)`, 'i'))
    .map((piece, index) => (index % 2 === 1 || piece === '' ? piece : redact(piece)))
    .join('')
