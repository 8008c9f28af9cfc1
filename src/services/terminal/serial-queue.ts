/** Does work one after the other for each key, and for different keys at the same time. */
export class SerialQueue {
  readonly #last = new Map<string, Promise<unknown>>()

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve()
    // The work before has answered its own caller, also where it failed.
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
