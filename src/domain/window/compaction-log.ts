import type { CompactionSeen } from './window-history.ts'

/** The compactions of a window, each once, with what the window held on either side. */
export class CompactionLog {
  readonly #seen: CompactionSeen[] = []
  #requestsSince = 1
  #hasReadSince = true

  /** Reported again before anything was read, it is still the same one. */
  get isRepetition(): boolean {
    return !this.#hasReadSince
  }

  add(seen: CompactionSeen): void {
    this.#seen.push(seen)
    this.#requestsSince = 0
    this.#hasReadSince = false
  }

  request(): void {
    this.#requestsSince += 1
    this.#hasReadSince = true
  }

  /** Takes a reading that counts no tokens: it says nothing of what was left. */
  percentage(): void {
    this.#hasReadSince = true
  }

  /** Completes the newest one, once the first request after it says what was left. */
  complete(contextAfter: number): void {
    const newest = this.#seen.at(-1)
    if (this.#requestsSince === 1 && newest !== undefined) this.#seen.splice(-1, 1, { ...newest, contextAfter })
  }

  list(): readonly CompactionSeen[] {
    return [...this.#seen]
  }
}
