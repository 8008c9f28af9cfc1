import type { RuntimeStep } from '../../../ports/agent/agent-runtime.ts'
import type { RunInProgress } from '../run-in-progress.ts'

/** Counts the turns of a run. The last one it may have ends when its tools have answered: what follows is the next one. */
export class TurnLimit {
  readonly #most: number
  /** Turns of the run so far, the one that is open included. */
  #turns: number
  #toolsAtWork = 0

  constructor(run: Pick<RunInProgress, 'setting' | 'account'>) {
    this.#most = run.setting('maxTurns') ?? Number.POSITIVE_INFINITY
    this.#turns = run.account.turns
  }

  /** @returns whether the run has had its turns with this step */
  take({ events, texts }: RuntimeStep<unknown>, isNewTurn: boolean): boolean {
    const calls = events.filter(({ type }) => type === 'tool_call').length
    const answers = texts.filter(({ role }) => role === 'tool').length
    this.#toolsAtWork = (isNewTurn ? 0 : this.#toolsAtWork) + calls - answers
    if (isNewTurn) this.#turns += 1
    const isWorkedOff = this.#turns === this.#most && answers > 0 && this.#toolsAtWork <= 0
    return isWorkedOff || this.#turns > this.#most
  }
}
