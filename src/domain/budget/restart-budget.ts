import { type Instant, later } from '../kernel/instant.ts'
import type { SequenceNumber } from '../kernel/sequence.ts'

/** How often and how long a conversation may be restarted in fresh windows. */
export interface RestartBudget {
  readonly maxRestarts: number
  /** Milliseconds across all restarts; absent means no deadline. */
  readonly deadlineMs?: number
  /** Dollars over all sessions and runs of the conversation. Nothing is launched or asked once they are spent. */
  readonly maxCostUsd?: number
  /** Times that a session may be taken over from a lost process; {@link DEFAULT_MAX_TAKEOVERS} unless given. */
  readonly maxTakeovers?: number
  /**
   * The consequence when no restart is left: `stop` fails the session; `carry_on` leaves the rest to the runtime's
   * own compaction. It is about windows only: deadline, cost and takeovers end the work in both cases,
   * and a session that has reached its cost is paused.
   */
  readonly whenExhausted: 'stop' | 'carry_on'
}

/** Three restarts, then stop. */
export const DEFAULT_RESTART_BUDGET: RestartBudget = { maxRestarts: 3, whenExhausted: 'stop' }

/** Enough for crashes of a machine, and too few for a session that ends its process every time. */
export const DEFAULT_MAX_TAKEOVERS = 5

/** The usage of a conversation so far, over all its sessions and runs, according to the record. */
export interface BudgetUse {
  /** Restarts that were initiated, including those that were cancelled or failed. */
  readonly restarts: number
  /** How often its sessions were taken over from a lost process. */
  readonly takeovers: number
  /** The cost of its sessions and checkpoints, as far as is known. */
  readonly costUsd: number
  /** When its first session started: the deadline counts from there. Absent before that. */
  readonly firstStartedAt?: Instant
}

/** The latest new prompt of a person, and what had been used before it: restarts and takeovers count from there. */
export interface AskedPrompt extends Pick<BudgetUse, 'restarts' | 'takeovers'> {
  /** Tells the prompt from another one: see `promptMark`. */
  readonly mark: number
  /** The prompt itself: the task of every window until the next new one. */
  readonly prompt: string
  /**
   * The sequence number of the next message when it was asked: the prompt stands there or later, or is not recorded
   * yet.
   */
  readonly sequence: SequenceNumber
  /** The first line of the first prompt, where the original task was nobody's words: see `titleOf`. */
  readonly first?: { readonly prompt: string }
}

/** The use since the latest new prompt. Time and money stay with the conversation. */
export const useSince = <Use extends BudgetUse>(use: Use, asked: AskedPrompt | undefined): Use => ({
  ...use,
  restarts: Math.max(0, use.restarts - (asked?.restarts ?? 0)),
  takeovers: Math.max(0, use.takeovers - (asked?.takeovers ?? 0)),
})

/** Every limit that may refuse further work. */
export const BUDGET_LIMITS = ['restarts', 'deadline', 'cost', 'takeovers', 'turns', 'no_progress'] as const

/** The limit that refuses another restart or another launch. */
export type BudgetLimit = (typeof BUDGET_LIMITS)[number]

/** Whether the work may carry on in its window when this is used up: it may where only a fresh window is refused. */
export const mayCarryOn = (limit: BudgetLimit, { whenExhausted }: RestartBudget): boolean =>
  whenExhausted === 'carry_on' && (limit === 'restarts' || limit === 'no_progress')

/**
 * Whether a session that this limit ends is paused, and not failed: once it is allowed more, it can be resumed in its
 * window.
 */
export const isPausedFor = (limit: BudgetLimit | undefined): boolean => limit === 'cost' || limit === 'turns'

/** Whether the conversation has cost what it may. */
export const isSpent = ({ maxCostUsd }: RestartBudget, { costUsd }: Pick<BudgetUse, 'costUsd'>): boolean =>
  maxCostUsd !== undefined && costUsd >= maxCostUsd

/** Whether a session was taken over once more than it may be. */
export const isTakenOverTooOften = (
  { maxTakeovers = DEFAULT_MAX_TAKEOVERS }: RestartBudget,
  { takeovers }: Pick<BudgetUse, 'takeovers'>,
): boolean => takeovers > maxTakeovers

/** The limit that still ended the last session and refuses to resume it without a new prompt. */
export const stillEndedBy = (
  limit: BudgetLimit | undefined,
  budget: RestartBudget,
  use: BudgetUse,
): BudgetLimit | undefined => {
  if (limit === 'restarts' && use.restarts >= budget.maxRestarts) return limit
  return limit === 'takeovers' && isTakenOverTooOften(budget, use) ? limit : undefined
}

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

/** How long to wait before an agent is launched after a takeover: not at all the first time, then longer each time. */
export const pauseAfterTakeover = (takeovers: number): number =>
  takeovers <= 1 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** Math.min(takeovers - 2, 30), LONGEST_PAUSE_MS)

/** When the deadline of a conversation is, if it has one. */
export const deadlineOf = ({ deadlineMs }: RestartBudget, firstStartedAt: Instant): Instant | undefined =>
  deadlineMs === undefined ? undefined : later(firstStartedAt, deadlineMs)

const SENTENCES: Readonly<Record<BudgetLimit, (budget: RestartBudget) => string>> = {
  restarts: ({ maxRestarts }) =>
    maxRestarts === 1 ? 'its one restart is used up' : `its ${maxRestarts} restarts are used up`,
  deadline: ({ deadlineMs }) => `its time of ${deadlineMs} ms is over`,
  cost: ({ maxCostUsd }) => `it has cost the ${maxCostUsd} dollars it may`,
  takeovers: ({ maxTakeovers = DEFAULT_MAX_TAKEOVERS }) =>
    `its process was gone more often than the ${maxTakeovers} times it may be taken over`,
  turns: () => 'the run has had the turns it may',
  no_progress: () => 'restarting it gets nowhere: its window is full again before anything was done',
}

/** Why a session that is full gets no other window, for a person. */
export const describeLimit = (limit: BudgetLimit, budget: RestartBudget): string =>
  `The context window is full, and the conversation is not restarted: ${SENTENCES[limit](budget)}.`

/** Why nothing more is launched, for a person. */
export const describeStop = (limit: BudgetLimit, budget: RestartBudget): string =>
  `The conversation cannot continue: ${SENTENCES[limit](budget)}.`
