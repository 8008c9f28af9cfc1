import type { WakeUpState, WakeUps } from '../../src/ports/store/wake-ups.ts'

/** A listener that remembers what it was told. */
export class Heard implements Disposable {
  readonly agents: (string | undefined)[] = []
  readonly states: WakeUpState[] = []
  readonly #listening: Disposable

  constructor(wakeUps: WakeUps | undefined) {
    if (wakeUps === undefined) throw new Error('This store wakes nobody')
    this.#listening = wakeUps.listen({
      wake: (agent) => void this.agents.push(agent),
      tell: (state) => void this.states.push(state),
    })
  }

  /** Waits until wake-ups are known to arrive, or not to. */
  async told(times = 1): Promise<WakeUpState | undefined> {
    while (this.states.length < times) await new Promise((resolve) => setTimeout(resolve, 5))
    return this.states.at(-1)
  }

  /** Waits until this agent was woken. */
  async woken(agent: string): Promise<void> {
    while (!this.agents.includes(agent)) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]()
  }
}
