/** Waits for one promise after the other; gives up some time after the signal has aborted. */
export class BoundedWait {
  readonly #signal: AbortSignal
  readonly #graceMs: number
  #giveUp: (() => void) | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  /** It gave up: the promise may never settle. */
  #isOver = false

  constructor(signal: AbortSignal, graceMs: number) {
    this.#signal = signal
    this.#graceMs = graceMs
  }

  /** The value of a promise. @throws the signal's reason once it has given up */
  async for<T>(promise: Promise<T>): Promise<T> {
    promise.catch(() => undefined)
    if (this.#isOver) throw this.#signal.reason
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#giveUp = () => reject(this.#signal.reason)
        promise.then(resolve, reject)
        this.#watch()
      })
    } finally {
      this.#giveUp = undefined
    }
  }

  /** One listener serves all promises: there may be many thousand. */
  #watch(): void {
    if (this.#timer !== undefined) return
    if (this.#signal.aborted) this.#begin()
    else this.#signal.addEventListener('abort', this.#begin, { once: true })
  }

  readonly #begin = (): void => {
    this.#timer ??= setTimeout(() => {
      this.#isOver = true
      this.#giveUp?.()
    }, this.#graceMs)
  };

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#signal.removeEventListener('abort', this.#begin)
  }
}
