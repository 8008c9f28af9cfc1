/**
 * A map that keeps the entries that were set last: at least so many, and at most twice as many. It keeps two generations, and
 * drops the older one whole when the younger is full; taking out one entry at a time makes a map slow.
 */
export class LatestEntries<Key, Value> {
  readonly #most: number
  #young = new Map<Key, Value>()
  #old = new Map<Key, Value>()

  constructor(most: number) {
    this.#most = most
  }

  get(key: Key): Value | undefined {
    return this.#young.get(key) ?? this.#old.get(key)
  }

  set(key: Key, value: Value): void {
    if (this.#young.size >= this.#most && !this.#young.has(key)) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }

  /** How many entries are kept, counting one twice that was set again since. */
  get size(): number {
    return this.#young.size + this.#old.size
  }
}
