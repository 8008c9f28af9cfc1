/** Gives the turn back. More than once is fine. */
export type EndTurn = () => void

/**
 * Turns at an engine that has one session for everybody. Who asks first is first; nobody else's statement comes between
 * two of the same turn.
 */
export class Turns {
  #last: Promise<void> = Promise.resolve()

  /** Waits until everybody before has ended theirs. */
  async take(): Promise<EndTurn> {
    const before = this.#last
    let end: EndTurn = () => {}
    const turn = new Promise<void>((resolve) => {
      end = resolve
    })
    this.#last = before.then(() => turn)
    await before
    return end
  }

  /** Does one piece of work in a turn of its own. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const end = await this.take()
    try {
      return await work()
    } finally {
      end()
    }
  }
}
