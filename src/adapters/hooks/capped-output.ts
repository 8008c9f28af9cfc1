import { withoutFirstWord, withoutLastWord } from '../../domain/kernel/cut-words.ts'
import { withoutEnd } from '../../domain/kernel/without-end.ts'
import { formsOf } from './hidden-values.ts'

const HEAD_BYTES = 48 * 1024
const TAIL_BYTES = 16 * 1024

/**
 * Takes output of any length and keeps its beginning and its end: a prompt is read from the beginning, and an answer
 * stands in the last line.
 */
export class CappedOutput {
  readonly #head: Buffer[] = []
  #headBytes = 0
  #tail: Buffer = Buffer.alloc(0)
  #tailTaken = 0
  #isEndCut = false

  add(chunk: Buffer): void {
    const room = HEAD_BYTES - this.#headBytes
    const first = chunk.subarray(0, room)
    if (first.length > 0) this.#head.push(first)
    this.#headBytes += first.length
    const rest = chunk.subarray(first.length)
    if (rest.length === 0) return
    this.#tailTaken += rest.length
    this.#tail = Buffer.concat([this.#tail, rest.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES)
  }

  /** Says that there is more, which is not read. */
  stopHere(): void {
    this.#isEndCut = true
  }

  /** The kept output, without secrets, and without the words that a cut went through: they may be halves of others. */
  text(secrets: readonly string[] = []): string {
    const head = Buffer.concat(this.#head)
    const cutOff = this.#tailTaken - this.#tail.length
    const atEnd = (text: string): string => (this.#isEndCut ? withoutLastWord(withoutCutEnd(text, secrets)) : text)
    if (cutOff === 0) return atEnd(withoutSecrets(Buffer.concat([head, this.#tail]).toString(), secrets))
    const first = withoutCutEnd(withoutSecrets(wholeCharacters(head), secrets), secrets)
    const last = withoutCutStart(withoutSecrets(wholeCharacters(this.#tail), secrets), secrets)
    const [beginning, end] = [withoutLastWord(first), atEnd(withoutFirstWord(last))]
    const leftOut = cutOff + Buffer.byteLength(first + last) - Buffer.byteLength(beginning + end)
    return `${beginning}\n… ${leftOut} bytes left out …\n${end}`
  }
}

/** A cut may go through a character; its pieces are dropped. */
const wholeCharacters = (bytes: Buffer): string => withoutEnd(bytes.toString().replace(/^\uFFFD+/, ''), /\uFFFD/)

/** The text with every secret in it taken out: a server may send back what it was sent. */
const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  formsOf(secrets).reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text)

/** A cut may go through a secret; the half that is left is one too. */
const withoutCutEnd = (text: string, secrets: readonly string[]): string => {
  const half = halves(secrets, (secret, length) => secret.slice(0, length)).find((part) => text.endsWith(part))
  return half === undefined ? text : text.slice(0, -half.length)
}

const withoutCutStart = (text: string, secrets: readonly string[]): string => {
  const half = halves(secrets, (secret, length) => secret.slice(-length)).find((part) => text.startsWith(part))
  return half === undefined ? text : text.slice(half.length)
}

/** Every part of a secret that a cut may leave, longest first. */
const halves = (secrets: readonly string[], part: (secret: string, length: number) => string): readonly string[] =>
  formsOf(secrets)
    .flatMap((secret) => Array.from({ length: secret.length - 1 }, (_, index) => part(secret, index + 1)))
    .toSorted((a, b) => b.length - a.length)

/** A text within the same bounds. */
export const capped = (text: string, secrets: readonly string[] = []): string => {
  const output = new CappedOutput()
  output.add(Buffer.from(text))
  return output.text(secrets)
}
