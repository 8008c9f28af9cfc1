import { type RefusedTool, withRefused } from '../../domain/run/refused-tools.ts'
import { addTotals, NO_TOTALS, type RunSummary } from '../../domain/run/run-summary.ts'
import type { UsageTotals } from '../../domain/window/usage-reading.ts'

/** The cost of a run and its threads together, and of the work before them. */
export class SharedSpending {
  #earlierUsd = 0
  #usd = 0

  /** Notes the cost of the work before this run. */
  spentBefore(usd: number): void {
    this.#earlierUsd = usd
  }

  spend(usd: number): void {
    this.#usd += usd
  }

  get usd(): number {
    return this.#earlierUsd + this.#usd
  }
}

/** The account of a run: its work and usage over all its sessions, and those of its conversation before the run. */
export class RunAccount {
  readonly #startedMs = performance.now()
  #sessions = 0
  #turns = 0
  #restarts = 0
  #transfers = 0
  #threads = 0
  #totals: UsageTotals = NO_TOTALS
  #threadTotals: UsageTotals = NO_TOTALS
  #earlierRestarts = 0
  #refusedTools: readonly RefusedTool[] = []
  #writes = 0
  readonly #spending: SharedSpending
  readonly #isOwn: boolean

  /** A thread spends the money of the run that delegated it. */
  constructor(shared?: SharedSpending) {
    this.#isOwn = shared === undefined
    this.#spending = shared ?? new SharedSpending()
  }

  /** The spending that this run shares with its threads. */
  get spending(): SharedSpending {
    return this.#spending
  }

  /** Notes the cost of the work before this run. A thread shares the spending, which has it already. */
  costBefore(costUsd: number): void {
    if (this.#isOwn) this.#spending.spentBefore(costUsd)
  }

  /**
   * Counts a thread that has ended, with its own threads and their usage. Their cost was counted while they spent it.
   */
  threadEnded({
    totals,
    threads,
    refusedTools,
    writes,
  }: Pick<RunSummary, 'totals' | 'threads' | 'refusedTools' | 'writes'>): void {
    this.#threads += 1 + threads
    for (const refused of refusedTools) this.toolRefused(refused)
    this.#writes += writes
    this.#threadTotals = addTotals(this.#threadTotals, totals)
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

  toolRefused(refused: RefusedTool): void {
    this.#refusedTools = withRefused(this.#refusedTools, refused)
  }

  wrote(writes: number): void {
    this.#writes += writes
  }

  used(totals: UsageTotals): void {
    this.#totals = addTotals(this.#totals, totals)
    this.#spending.spend(totals.costUsd ?? 0)
  }

  get turns(): number {
    return this.#turns
  }

  /** The usage of this run, as far as its runtimes report it. */
  get totals(): UsageTotals {
    return this.#totals
  }

  /** The restarts of the conversation so far, those of this run included. */
  get restartsSoFar(): number {
    return this.#earlierRestarts + this.#restarts
  }

  /** The cost of the work so far: of the conversation, of this run, and of everything in the tree that it delegated. */
  get costUsd(): number {
    return this.#spending.usd
  }

  /** The account so far, as the summary of the run has it. */
  figures(): Omit<RunSummary, 'conversationId' | 'outcome' | 'reason' | 'limit' | 'lastSessionId'> {
    return {
      sessions: this.#sessions,
      turns: this.#turns,
      restarts: this.#restarts,
      transfers: this.#transfers,
      threads: this.#threads,
      refusedTools: this.#refusedTools,
      writes: this.#writes,
      totals: addTotals(this.#totals, this.#threadTotals),
      durationMs: Math.round(performance.now() - this.#startedMs),
    }
  }
}
