/** A pattern that keeps a place to return to for every character would fail on a very long run: it is read in pieces. */
const PIECE = 4_096

/** The run of a class of characters, such as `[a-z]`. */
export const runOf = (characters: string): RegExp => new RegExp(`${characters}{1,${PIECE}}`, 'y')

/** Where a run ends that begins here, or has begun before. */
export const endOfRun = (text: string, from: number, run: RegExp): number => {
  let to = from
  for (;;) {
    run.lastIndex = to
    const piece = run.exec(text)
    if (piece === null) return to
    to += piece[0].length
  }
}

/** A form of secret: how its place is found, and which characters the secret is made of. */
export interface SecretForm {
  /** Finds the beginning; a first group is what stands before the secret and stays. */
  readonly begin: RegExp
  readonly run: RegExp
  /** Whether the whole of it is a secret after all. */
  readonly isSecret?: (value: string) => boolean
}

/** The text with every secret of a form replaced. What is not replaced is not looked at again from its middle. */
export const replaceRuns = (
  text: string,
  { begin, run, isSecret = () => true }: SecretForm,
  by: () => string,
): string => {
  const parts: string[] = []
  let at = 0
  begin.lastIndex = 0
  for (let found = begin.exec(text); found !== null; found = begin.exec(text)) {
    const from = found.index + (found[1] ?? '').length
    const to = endOfRun(text, begin.lastIndex, run)
    begin.lastIndex = to
    if (!isSecret(text.slice(from, to))) continue
    parts.push(text.slice(at, from), by())
    at = to
  }
  return parts.length === 0 ? text : `${parts.join('')}${text.slice(at)}`
}
