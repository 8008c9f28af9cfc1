/** A text somebody else wrote, and what it takes to set it apart. */
interface Untrusted {
  readonly name: string
  readonly text: string
  readonly nonce: string
  /** The other text of the same prompt; the fence does not appear in it either. */
  readonly around: string
}

/** Short ones can be guessed; other characters could be read as something else than one word. */
const NONCE = /^[0-9a-z-]{16,}$/i

/** Whether a word can set a text apart. */
export const isNonce = (word: string): boolean => NONCE.test(word)

/**
 * Sets a text apart between two lines that nothing inside it can imitate, and leaves the text as it is.
 *
 * @throws TypeError when the nonce is not at least 16 letters, digits and hyphens
 */
export const fenced = ({
  name,
  text,
  nonce,
  around,
}: Untrusted): { readonly fence: string; readonly block: string } => {
  if (!isNonce(nonce)) throw new TypeError('A nonce must be at least 16 letters, digits and hyphens')
  const fence = `${name}-${absentFrom(`${around}\n${text}`, nonce.toLowerCase())}`
  return { fence, block: `<${fence}>\n${text}\n</${fence}>` }
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
