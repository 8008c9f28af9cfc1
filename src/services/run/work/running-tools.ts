import type { RuntimeStep } from '../../../ports/agent/agent-runtime.ts'

/** Knows which tools an agent is using, as far as it has said, so that none is cut off. */
export class RunningTools {
  readonly #calls = new Set<string>()
  #unnamed = 0
  #answered = 0
  /** Some runtimes never say what a tool answered: then only the next answer shows that it has. */
  #tellsResults = false
  #hasMovedOn = false

  get areRunning(): boolean {
    if (this.#hasMovedOn && !this.#tellsResults) return false
    return this.#calls.size + this.#unnamed > this.#answered
  }

  /** Takes the next thing the agent said. Whoever answers again has the results of the tools before. */
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
    this.#tellsResults ||= results > 0
  }
}
