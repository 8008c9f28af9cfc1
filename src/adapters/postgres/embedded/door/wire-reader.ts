import { violation, WireProblem } from './wire-problem.ts'

/** One message of a visitor. */
export interface WireMessage {
  readonly type: string
  readonly body: Buffer
  /** As it came, type and length included. */
  readonly bytes: Buffer
}

/** As long as Postgres itself lets a first message be. */
const LONGEST_STARTUP = 10_000

/** Cuts what a visitor sends into messages. It reads no further than the message that is asked for. */
export class WireReader {
  readonly #source: AsyncIterator<Buffer>
  readonly #mostBytes: number
  #chunks: Buffer[] = []
  #length = 0

  constructor(source: AsyncIterable<Buffer>, mostBytes: number) {
    this.#source = source[Symbol.asyncIterator]()
    this.#mostBytes = mostBytes
  }

  /** The first message, which has no type; nothing when the visitor has left. */
  async startup(): Promise<Buffer | undefined> {
    const head = await this.#peek(4)
    if (head === undefined) return undefined
    const length = head.readInt32BE(0)
    if (length < 8 || length > LONGEST_STARTUP) throw violation(`a first message of ${length} bytes`)
    return (await this.#take(length))?.subarray(4)
  }

  /** The next message; nothing when the visitor has left. */
  async next(): Promise<WireMessage | undefined> {
    const head = await this.#peek(5)
    if (head === undefined) return undefined
    const [type, length] = [String.fromCharCode(head[0] ?? 0), head.readInt32BE(1)]
    if (length < 4) throw violation(`a message of ${length} bytes`)
    if (length > this.#mostBytes)
      throw new WireProblem('54000', `a message of ${length} bytes; this door takes ${this.#mostBytes} at once`)
    const bytes = await this.#take(length + 1)
    return bytes && { type, bytes, body: bytes.subarray(5) }
  }

  async #take(count: number): Promise<Buffer | undefined> {
    const bytes = await this.#peek(count)
    if (bytes === undefined) return undefined
    const [all = bytes] = this.#chunks
    this.#chunks = all.length > count ? [all.subarray(count)] : []
    this.#length -= count
    return bytes
  }

  /** Joined once, when there is enough: a long message comes in many pieces. */
  async #peek(count: number): Promise<Buffer | undefined> {
    while (this.#length < count) {
      const { value, done } = await this.#source.next()
      if (done === true) return undefined
      this.#chunks.push(value)
      this.#length += value.length
    }
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)]
    return this.#chunks[0]?.subarray(0, count)
  }
}
