import { unsupported, violation, WireProblem } from './wire-problem.ts'
import type { WireMessage } from './wire-reader.ts'

const [QUERY, PARSE, BIND, DESCRIBE, EXECUTE, CLOSE, SYNC] = ['Q', 'P', 'B', 'D', 'E', 'C', 'S']

/** Messages of a COPY that has been refused, which its sender could not know yet. The protocol says to ignore them. */
const COPYING = new Set(['d', 'c', 'f'])

/**
 * The messages that make one statement: a query, or those of the extended protocol up to their end. They are handed to
 * the engine together, so that no other visitor's statement comes between, and what they rely on is all there: the
 * statement without a name is everybody's.
 */
export class WireBatch {
  readonly #mostBytes: number
  #parts: Buffer[] = []
  #types = ''
  #length = 0

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /**
   * Adds a message, and answers with all of them when the statement is complete.
   *
   * @throws WireProblem for what would touch the statements of others, or harm the engine
   */
  add(message: WireMessage, isInTransaction: boolean): Buffer | undefined {
    if (COPYING.has(message.type)) return undefined
    this.#check(message, isInTransaction)
    this.#parts.push(message.bytes)
    this.#types += message.type
    this.#length += message.bytes.length
    if (this.#length > this.#mostBytes)
      throw new WireProblem('54000', `a statement of ${this.#length} bytes; this door takes ${this.#mostBytes} at once`)
    if (message.type !== QUERY && message.type !== SYNC) return undefined
    const whole = Buffer.concat(this.#parts)
    this.#parts = []
    this.#types = ''
    this.#length = 0
    return whole
  }

  #check({ type, body }: WireMessage, isInTransaction: boolean): void {
    if (type === 'H') throw unsupported('a flush: answers come after the sync')
    if (type !== QUERY && type !== SYNC && !hasNoName(type, body))
      throw unsupported('statements and portals with names: this door is a pooler, use those without')
    if (type === QUERY && this.#types !== '') throw violation('a query inside the messages of another')
    // An engine that copies reads on where it should not; so nothing is to be read there.
    if (this.#types.endsWith('E') && type !== SYNC) throw unsupported('anything between an execute and its sync')
    const leansOnEarlier = type === BIND ? !this.#types.includes('P') : type === EXECUTE && !this.#types.includes('B')
    if (leansOnEarlier && !isInTransaction)
      throw unsupported('a statement that was parsed or bound before the last sync')
  }
}

/** Whether a message is one that is known, and names nothing. */
const hasNoName = (type: string, body: Buffer): boolean => {
  if (type === PARSE || type === EXECUTE) return body[0] === 0
  if (type === BIND) return body[0] === 0 && body[1] === 0
  if (type === DESCRIBE || type === CLOSE) return body[1] === 0
  throw violation(`a message of type ${JSON.stringify(type)}`)
}
