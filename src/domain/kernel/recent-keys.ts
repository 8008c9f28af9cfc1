const MOST = 10_000

/** Remembers the newest keys, at least this many and at most twice as many, so that no recording is too long for it. */
export class RecentKeys {
  readonly #most: number
  #newer = new Set<string>()
  #older = new Set<string>()

  constructor(most: number = MOST) {
    this.#most = most
  }

  has(key: string): boolean {
    return this.#newer.has(key) || this.#older.has(key)
  }

  /** Whether the key is new; it is remembered either way. */
  add(key: string): boolean {
    const isNew = !this.has(key)
    this.#newer.add(key)
    if (this.#newer.size >= this.#most) {
      this.#older = this.#newer
      this.#newer = new Set()
    }
    return isNew
  }
}
