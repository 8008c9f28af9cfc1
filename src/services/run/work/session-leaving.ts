import { type BudgetLimit, mayCarryOn } from '../../../domain/budget/restart-budget.ts'
import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import { RESTART } from '../../../domain/window/milestone.ts'
import type { RecordedTurns } from '../../commands/answers.ts'
import type { HookCaller } from '../hooks/hook-calls.ts'
import { decideByHooks } from '../hooks/threshold-hooks.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import { emitLimitReached, type Uncounted } from './limits.ts'
import { emitRestartRefused, type Restarting } from './session-outcome.ts'

/** Why a session is left: for a handoff, for a limit, or because its cost cannot be counted. */
export type Leaving =
  | { readonly type: 'restart'; readonly handoff: HandoffMetadata }
  /** `isRefused` when it was refused a fresh window: then its work is not done, whatever its last answer says. */
  | { readonly type: 'exhausted'; readonly limit: BudgetLimit; readonly isRefused?: true }
  | { readonly type: 'uncounted'; readonly uncounted: Uncounted }

/** Decides whether a session is to be left, and remembers why. */
export class SessionLeaving {
  readonly #run: HookCaller & Restarting & Pick<RunInProgress, 'account'>
  #why: Leaving | undefined

  constructor(run: HookCaller & Restarting & Pick<RunInProgress, 'account'>, given?: Leaving) {
    this.#run = run
    this.#why = given
  }

  /** Why the session is to be left; undefined while it is not. */
  get why(): Leaving | undefined {
    return this.#why
  }

  /**
   * Whether it is left because of its cost: then no tool is waited for, because the request after it would cost money.
   */
  get isAboutMoney(): boolean {
    return this.#why?.type === 'uncounted' || (this.#why?.type === 'exhausted' && this.#why.limit === 'cost')
  }

  /** Decides from the answer to the recorded turns. Unless a restart was withheld, threshold hooks are called. */
  async decide(recorded: RecordedTurns, isWithheld: boolean): Promise<void> {
    const { handoff, refusedBy, session, signals = [] } = recorded
    if (handoff !== undefined) this.#why = { type: 'restart', handoff }
    else if (refusedBy !== undefined) {
      emitRestartRefused(this.#run, refusedBy)
      this.#refused(refusedBy)
    } else if (
      !isWithheld &&
      signals.some(({ milestone, aboutId }) => milestone === RESTART && aboutId === session.id)
    ) {
      const decided = await decideByHooks(this.#run)
      if (decided?.handoff !== undefined) this.#why = { type: 'restart', handoff: decided.handoff }
      if (decided?.refusedBy !== undefined) this.#refused(decided.refusedBy)
    }
  }

  /** Leaves for a handoff that another caller initiated, or that the agent wished for. */
  leaveFor(handoff: HandoffMetadata): void {
    this.#why = { type: 'restart', handoff }
  }

  /** Leaves for a limit of the run itself, unless there is a reason already. */
  reached(limit: BudgetLimit): void {
    if (this.#why !== undefined) return
    emitLimitReached(this.#run, limit)
    this.#why = { type: 'exhausted', limit }
  }

  /** Leaves because the cost cannot be counted, unless there is a reason already. */
  uncounted(uncounted: Uncounted): void {
    this.#why ??= { type: 'uncounted', uncounted }
  }

  /** The session continues after all: the handoff was cancelled. */
  stay(): void {
    this.#why = undefined
  }

  #refused(limit: BudgetLimit): void {
    if (!mayCarryOn(limit, this.#run.conversation.restartBudget))
      this.#why = { type: 'exhausted', limit, isRefused: true }
  }
}
