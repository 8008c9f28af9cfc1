import { addTotals, NO_TOTALS, type RunSummary } from '../../domain/run/run-summary.ts'
import type { UsageTotals } from '../../domain/window/usage-reading.ts'

/** Keeps the account of a run: what it did and used over all its sessions, and what its conversation had before it. */
export class RunAccount {
  readonly #startedMs = performance.now()
  #sessions = 0
  #turns = 0
  #restarts = 0
  #transfers = 0
  #totals: UsageTotals = NO_TOTALS
  #earlierRestarts = 0
  #earlierCostUsd = 0

  /** Notes what the conversation had cost before this run. */
  costBefore(costUsd: number): void {
    this.#earlierCostUsd = costUsd
  }

  /** Notes how often the conversation was restarted before this run. */
  restartedBefore(restarts: number): void {
    this.#earlierRestarts = restarts
  }

  /** Counts a session that was begun, resumed or taken over. */
  sessionBegun(): void {
    this.#sessions += 1
  }

  /** Counts a restart, and the session that it began. */
  restarted(): void {
    this.#restarts += 1
    this.#sessions += 1
  }

  /** Counts a handoff to another agent, and the session that it began. */
  transferred(): void {
    this.#transfers += 1
    this.#sessions += 1
  }

  turnsRecorded(turns: number): void {
    this.#turns += turns
  }

  used(totals: UsageTotals): void {
    this.#totals = addTotals(this.#totals, totals)
  }

  get turns(): number {
    return this.#turns
  }

  /** The usage of this run, as far as is known. */
  get totals(): UsageTotals {
    return this.#totals
  }

  /** The restarts of the conversation so far, those of this run included. */
  get restartsSoFar(): number {
    return this.#earlierRestarts + this.#restarts
  }

  /** The cost of the conversation so far, this run included. */
  get costUsd(): number {
    return this.#earlierCostUsd + (this.#totals.costUsd ?? 0)
  }

  /** The account so far, as the summary of the run has it. */
  figures(): Pick<RunSummary, 'sessions' | 'turns' | 'restarts' | 'transfers' | 'totals' | 'durationMs'> {
    return {
      sessions: this.#sessions,
      turns: this.#turns,
      restarts: this.#restarts,
      transfers: this.#transfers,
      totals: this.#totals,
      durationMs: Math.round(performance.now() - this.#startedMs),
    }
  }
}
