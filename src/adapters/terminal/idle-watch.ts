/** Ends a service that nobody uses. */
export class IdleWatch {
  readonly #idleMs: number
  readonly #isIdle: () => Promise<boolean>
  #usedAt = performance.now()
  #timer: NodeJS.Timeout | undefined

  constructor(idleMs: number, isIdle: () => Promise<boolean>) {
    this.#idleMs = idleMs
    this.#isIdle = isIdle
  }

  /** Says that the service is used now. */
  used(): void {
    this.#usedAt = performance.now()
  }

  /** Calls back once nobody has used it for long enough, and nothing is left to do. */
  watch(end: () => void): void {
    this.#timer = setInterval(() => void this.#look(end), Math.min(5_000, Math.max(50, this.#idleMs / 4)))
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #look(end: () => void): Promise<void> {
    if (performance.now() - this.#usedAt < this.#idleMs) return
    if (await this.#isIdle().catch(() => false)) end()
    else this.used()
  }
}
