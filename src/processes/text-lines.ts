/**
 * The lines of a stream of text. Work and memory grow with the text and not with how often it comes in pieces: the parts of
 * a line are joined once, when it ends. Nothing of a line that is longer than `longest` is kept, not even its end.
 */
export class TextLines {
  readonly #longest: number
  #parts: string[] = []
  #length = 0

  constructor(longest: number) {
    this.#longest = longest
  }

  /** The lines that this piece brings to an end. */
  *take(piece: string): Generator<string> {
    let start = 0
    for (let end = piece.indexOf('\n'); end !== -1; end = piece.indexOf('\n', start)) {
      this.#keep(piece.slice(start, end))
      yield* this.end()
      start = end + 1
    }
    this.#keep(piece.slice(start))
  }

  /** The text after the last line break: a last line without an end. */
  *end(): Generator<string> {
    const parts = this.#parts
    const isWhole = this.#length <= this.#longest
    this.#parts = []
    this.#length = 0
    if (isWhole) yield parts.length === 1 ? (parts[0] as string) : parts.join('')
  }

  #keep(part: string): void {
    this.#length += part.length
    if (this.#length > this.#longest) this.#parts = []
    else if (part !== '') this.#parts.push(part)
  }
}
