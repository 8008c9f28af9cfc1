import type { RuntimeStep } from '../../../ports/agent/agent-runtime.ts'

/** Which tools of an agent are running, as far as its messages show, so that none is interrupted. */
export class RunningTools {
  readonly #calls = new Set<string>()
  #unnamed = 0
  #answered = 0
  /** Some runtimes report no tool results: then only the next answer of the agent shows that the tools have ended. */
  #reportsResults = false
  #hasMovedOn = false

  get areRunning(): boolean {
    if (this.#hasMovedOn && !this.#reportsResults) return false
    return this.#calls.size + this.#unnamed > this.#answered
  }

  /** Takes the next step. An agent that begins another turn has the results of the tools before it. */
  take({ events, texts }: Pick<RuntimeStep<unknown>, 'events' | 'texts'>, isNewTurn: boolean): void {
    if (isNewTurn) {
      this.#hasMovedOn ||= this.areRunning
      this.#calls.clear()
      this.#unnamed = 0
      this.#answered = 0
    }
    for (const event of events) {
      if (event.type !== 'tool_call') continue
      if (event.callId === undefined) this.#unnamed += 1
      else this.#calls.add(event.callId)
    }
    const results = texts.filter(({ role }) => role === 'tool').length
    this.#answered += results
    this.#reportsResults ||= results > 0
  }
}
