/** One line that says how far a run is: rewritten on a terminal, a new one now and then elsewhere. */
export class Progress implements Disposable {
  readonly #say: () => string
  readonly #timer: NodeJS.Timeout

  constructor(say: () => string) {
    this.#say = say
    this.#timer = setInterval(() => this.#show(), process.stderr.isTTY ? 500 : 10_000)
  }

  #show(): void {
    process.stderr.write(process.stderr.isTTY ? `\r\u001b[K${this.#say()}` : `${this.#say()}\n`)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#show()
    if (process.stderr.isTTY) process.stderr.write('\n')
  }
}

/** Seconds as minutes and seconds. */
export const clock = (milliseconds: number): string => {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
