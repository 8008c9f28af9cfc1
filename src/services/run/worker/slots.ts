/** Places for work at the same time. The next free place goes to the caller that has waited longest. */
export class Slots {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(count: number) {
    this.#free = count
  }

  /** Takes a place once one is free; disposing of it gives it back. Undefined when the signal aborts first. */
  async take(signal: AbortSignal): Promise<Disposable | undefined> {
    if (signal.aborted) return undefined
    if (this.#free > 0) this.#free -= 1
    else if (!(await this.#turn(signal))) return undefined
    let isTaken = true
    return {
      [Symbol.dispose]: () => {
        if (isTaken) this.#give()
        isTaken = false
      },
    }
  }

  #give(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free += 1
    else next()
  }

  #turn(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1)
        resolve(false)
      }
      const enter = (): void => {
        signal.removeEventListener('abort', leave)
        resolve(true)
      }
      this.#waiting.push(enter)
      signal.addEventListener('abort', leave, { once: true })
    })
  }
}
