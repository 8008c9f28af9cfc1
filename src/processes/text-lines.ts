/** A line that was longer than is read: its beginning, and how long it was. */
export class CutLine {
  readonly beginning: string
  /** How many characters it had. */
  readonly length: number
  /** How many characters a line may have. */
  readonly longest: number

  constructor(beginning: string, { length, longest }: { readonly length: number; readonly longest: number }) {
    this.beginning = beginning
    this.length = length
    this.longest = longest
  }

  /** Why it was cut, for a person. */
  get why(): string {
    return `it had ${this.length} characters, and ${this.longest} are the most that are read of one line.`
  }

  /** The words that stand in the record for it. */
  get words(): string {
    return `This line of the agent was cut: ${this.why} It begins: ${this.beginning}`
  }
}

/** A line of a stream, or what is left of one that was too long. */
export type TextLine = string | CutLine

/** Enough of a line that is too long to see what it was. */
const MOST_BEGINNING = 1_000

/**
 * The lines of a stream of text. Work and memory grow with the text and not with how often it comes in pieces: the parts of
 * a line are joined once, when it ends. Of a line that is longer than `longest` only the beginning is kept.
 */
export class TextLines {
  readonly #longest: number
  #parts: string[] = []
  #length = 0

  constructor(longest: number) {
    this.#longest = longest
  }

  /** The lines that this piece brings to an end. */
  *take(piece: string): Generator<TextLine> {
    let start = 0
    for (let end = piece.indexOf('\n'); end !== -1; end = piece.indexOf('\n', start)) {
      this.#keep(piece.slice(start, end))
      yield* this.end()
      start = end + 1
    }
    this.#keep(piece.slice(start))
  }

  /** The text after the last line break: a last line without an end. */
  *end(): Generator<TextLine> {
    const parts = this.#parts
    const [length, longest] = [this.#length, this.#longest]
    this.#parts = []
    this.#length = 0
    const text = parts.length === 1 ? (parts[0] as string) : parts.join('')
    yield length <= longest ? text : new CutLine(text, { length, longest })
  }

  #keep(part: string): void {
    const wasWhole = this.#length <= this.#longest
    this.#length += part.length
    if (wasWhole && part !== '') this.#parts.push(part)
    if (wasWhole && this.#length > this.#longest)
      this.#parts = [this.#parts.join('').slice(0, Math.min(MOST_BEGINNING, this.#longest))]
  }
}
