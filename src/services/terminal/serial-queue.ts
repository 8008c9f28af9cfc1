/** Does work one after the other for each key, and for different keys at the same time. */
export class SerialQueue {
  readonly #last = new Map<string, Promise<unknown>>()

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve()
    // Whoever came before has told its own caller how it went.
    const done = before.then(work, work)
    const settled = done.then(
      () => undefined,
      () => undefined,
    )
    this.#last.set(key, settled)
    void settled.then(() => {
      if (this.#last.get(key) === settled) this.#last.delete(key)
    })
    return done
  }

  /** Whether anything is under way. */
  get isBusy(): boolean {
    return this.#last.size > 0
  }
}
