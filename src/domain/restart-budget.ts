/** How often and how long a conversation may be restarted in fresh windows. */
export interface RestartBudget {
  readonly maxRestarts: number
  /** Milliseconds across all restarts; absent means no deadline. */
  readonly deadlineMs?: number
  readonly maxCostUsd?: number
  /** `stop` fails the session; `carry_on` leaves the rest to the runtime's own compaction. */
  readonly whenExhausted: 'stop' | 'carry_on'
}

/** Three restarts, then stop. */
export const DEFAULT_RESTART_BUDGET: RestartBudget = { maxRestarts: 3, whenExhausted: 'stop' }
