import type { BudgetLimit } from '../../domain/budget/restart-budget.ts'
import { describeThrown } from '../../domain/kernel/describe-thrown.ts'

/** Another process has taken the session over: the store refuses everything that this run does from now on. */
export class SupersededError extends Error {
  override readonly name = 'SupersededError'
  readonly code = 'run.superseded'
}

/** The run was cancelled. */
export class RunCancelled extends Error {
  override readonly name = 'RunCancelled'
  readonly code = 'run.cancelled'
  /** Whether another process is to resume the session at once: then it stays active and is not paused. */
  readonly isHandedBack: boolean

  constructor(message: string, { isHandedBack = false }: { readonly isHandedBack?: boolean } = {}) {
    super(message)
    this.isHandedBack = isHandedBack
  }
}

/** A limit of the conversation or of the run is reached: no agent is launched or asked any more. */
export class RunExhausted extends Error {
  override readonly name = 'RunExhausted'
  readonly code = 'run.exhausted'
  readonly limit: BudgetLimit

  constructor(limit: BudgetLimit, message: string) {
    super(message)
    this.limit = limit
  }
}

/** The agent was silent for longer than the idle timeout. */
export class AgentSilent extends Error {
  override readonly name = 'AgentSilent'
  readonly code = 'run.idle'
}

/** The time of the conversation is over. */
export class RunTimedOut extends Error {
  override readonly name = 'RunTimedOut'
  readonly code = 'run.timed_out'
}

/** An error as a sentence. */
export const messageOf = (error: unknown): string => describeThrown(error)
