import { asText } from './safe-text.ts'

/** A text somebody else wrote, and what it takes to set it apart. */
interface Untrusted {
  readonly name: string
  readonly text: string
  readonly nonce: string
  /** The other text of the same prompt; the fence does not appear in it either. */
  readonly around: string
  /** It is the person's own: it stays as it is, character for character. */
  readonly isPersons?: boolean
}

/** Short ones can be guessed; other characters could be read as something else than one word. */
const NONCE = /^[0-9a-z-]{16,}$/i

/** Whether a word can set a text apart. */
export const isNonce = (word: string): boolean => NONCE.test(word)

/**
 * Sets a text apart between two lines that nothing inside it can imitate. What can be seen of it stays as it is; what
 * cannot is spelled out, so that an agent reads nothing that a person who looks at the same text does not see.
 *
 * @throws TypeError when the nonce is not at least 16 letters, digits and hyphens
 */
export const fenced = ({
  name,
  text,
  nonce,
  around,
  isPersons = false,
}: Untrusted): { readonly fence: string; readonly block: string } => {
  if (!isNonce(nonce)) throw new TypeError('A nonce must be at least 16 letters, digits and hyphens')
  const inside = isPersons ? text : asText(text)
  const fence = `${name}-${absentFrom(`${around}\n${inside}`, nonce.toLowerCase())}`
  return { fence, block: `<${fence}>\n${inside}\n</${fence}>` }
}

/**
 * A word that appears nowhere in the text: the given one, or that one and more zeros than ever follow it there.
 *
 * Compared in lower case, because a model may not mind the difference.
 */
const absentFrom = (text: string, word: string): string => {
  const searched = text.toLowerCase()
  let zeros = -1
  for (let at = searched.indexOf(word); at !== -1; at = searched.indexOf(word, at + 1)) {
    zeros = Math.max(zeros, zerosAt(searched, at + word.length))
  }
  return word + '0'.repeat(zeros + 1)
}

const zerosAt = (text: string, start: number): number => {
  let end = start
  while (text[end] === '0') end += 1
  return end - start
}
