/** Half a second in all, less the time that ending a process takes. */
const TOTAL_MS = 450
/** The share that is left at least once this code runs: a busy machine may need half a second to start a process at all, and the event must still be read. */
const LEAST = 5 / 9
/** The share that is kept back while input is awaited, for everything that comes after it. */
const AFTER_INPUT = 1 / 5
/** The share that sending a sample may take. */
const SAMPLE = 1 / 3

/** The time that a hook may take, counted from the start of its process. */
export class Budget {
  readonly #total: number
  readonly #end: number

  constructor(total: number = TOTAL_MS, now: number = performance.now()) {
    this.#total = total
    this.#end = Math.max(total, now + total * LEAST)
  }

  /** Milliseconds that are left for everything. */
  get left(): number {
    return Math.max(0, this.#end - performance.now())
  }

  /** Milliseconds that may be spent on waiting for input. */
  get forInput(): number {
    return Math.max(0, this.left - this.#total * AFTER_INPUT)
  }

  /** Milliseconds that a sample may take to be sent: it is worth a short wait, for the next one follows. */
  get forSample(): number {
    return Math.min(this.left, this.#total * SAMPLE)
  }

  /** Where the hook stands, in words for the one who asked for them. */
  describe(): string {
    return `took ${Math.ceil(performance.now())} ms of ${Math.ceil(this.#end)} ms`
  }
}

/**
 * Runs something when a time is over, and after everything that arrived by then was heard. On a busy machine a process may
 * stand still for longer than that, and Node looks at its timers before its pipes.
 */
export const afterAtMost = (ms: number, run: () => void): NodeJS.Timeout =>
  setTimeout(() => setImmediate(() => setImmediate(run)), ms)

/** The budget that the environment allows: more for a slow machine, if somebody says so. */
export const budgetFrom = ({
  BATONPASS_HOOK_BUDGET_MS: ms = '',
}: Readonly<Record<string, string | undefined>>): Budget =>
  /^[1-9]\d{1,5}$/.test(ms) ? new Budget(Number(ms)) : new Budget()
