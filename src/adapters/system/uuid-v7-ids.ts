import { v7 } from 'uuid'
import type { IdGenerator } from '../../ports/system/system.ts'

const BYTES_AN_ID = 16

/** Random bytes for many ids at once: asking the system for each id costs more than the rest of it. */
class RandomBytes {
  readonly #pool = new Uint8Array(256 * BYTES_AN_ID)
  #used = this.#pool.length

  next(): Uint8Array {
    if (this.#used === this.#pool.length) {
      crypto.getRandomValues(this.#pool)
      this.#used = 0
    }
    this.#used += BYTES_AN_ID
    return this.#pool.subarray(this.#used - BYTES_AN_ID, this.#used)
  }
}

/** Ids of one process in order, also within a millisecond and when the clock is set back. */
class OrderedIds {
  readonly #bytes = new RandomBytes()
  #msecs = Number.NEGATIVE_INFINITY
  #seq = 0

  next(): string {
    const random = this.#bytes.next()
    const now = Date.now()
    if (now > this.#msecs) {
      this.#msecs = now
      // Half of the room stays free for the ids of the same millisecond.
      this.#seq = new DataView(random.buffer, random.byteOffset).getUint32(0) >>> 1
    } else {
      this.#seq = (this.#seq + 1) >>> 0
      if (this.#seq === 0) this.#msecs += 1
    }
    return v7({ random, msecs: this.#msecs, seq: this.#seq })
  }
}

const ordered = new OrderedIds()

/**
 * Ids that sort by age, so that indexes grow at one end.
 *
 * @example
 * ```ts
 * console.log(uuidV7Ids.next() < uuidV7Ids.next()) // => true
 * ```
 */
export const uuidV7Ids: IdGenerator = { next: () => ordered.next() }
