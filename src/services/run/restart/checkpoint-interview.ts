import { totals as totalsCheck } from '../../../domain/input/readings.ts'
import { usable } from '../../../domain/input/window-events.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { addTotals, differenceOf, NO_TOTALS } from '../../../domain/run/run-summary.ts'
import type { UsageTotals } from '../../../domain/window/usage-reading.ts'
import type { AgentRuntime, RuntimeReply } from '../../../ports/agent/agent-runtime.ts'
import { processRecorder } from '../recover/launched-processes.ts'
import { type RunInProgress, runWorkspace } from '../run-in-progress.ts'
import { CostMeter } from '../work/cost-meter.ts'

/** The session to ask, and how long all questions together may take. */
interface InterviewTerms {
  readonly ask: NonNullable<AgentRuntime['ask']>
  readonly providerSessionId: string
  readonly withinMs: number
}

/** Asks a session that is not to continue its work: all questions within one time limit, each with its cost counted. */
export class CheckpointInterview {
  readonly #run: RunInProgress
  readonly #interview: InterviewTerms
  readonly #timeout: AbortSignal
  readonly #signal: AbortSignal
  #totals: UsageTotals | undefined
  #attempts = 0
  #question = ''

  constructor(run: RunInProgress, interview: InterviewTerms) {
    this.#run = run
    this.#interview = interview
    this.#timeout = AbortSignal.timeout(Math.ceil(interview.withinMs))
    this.#signal = AbortSignal.any([run.signal, this.#timeout])
  }

  /** How many questions were asked. */
  get attempts(): number {
    return this.#attempts
  }

  /** The latest question, in words. */
  get question(): string {
    return this.#question
  }

  /** Whether the time is over. */
  get isOver(): boolean {
    return this.#timeout.aborted
  }

  /** The usage of all questions, as far as the runtime reports it. */
  get totals(): UsageTotals | undefined {
    return this.#totals
  }

  /** Asks once. @throws the reason for which the run was stopped */
  async put(make: () => string): Promise<RuntimeReply | { readonly error: unknown }> {
    const run = this.#run
    const cost = new QuestionCost(run)
    this.#attempts += 1
    try {
      const prompt = make()
      this.#question = prompt
      const about = { providerSessionId: this.#interview.providerSessionId, prompt, model: run.held.session.model }
      const listeners = { onProcess: processRecorder(run), onUsage: cost.take }
      const question = { ...defined({ ...about, workspace: runWorkspace(run) }), signal: this.#signal, ...listeners }
      // The wait ends with the signal, even if the runtime ignores it.
      const reply = await Promise.race([this.#interview.ask(question), aborted(this.#signal)])
      if (reply.totals !== undefined) cost.take(reply.totals)
      return reply
    } catch (error) {
      if (this.#signal.aborted) cost.countInterrupted()
      run.signal.throwIfAborted()
      return { error }
    } finally {
      if (cost.totals !== undefined) this.#totals = addTotals(this.#totals ?? NO_TOTALS, cost.totals)
    }
  }
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })

/** The parts of a run that account for a question. */
type Paying = Pick<RunInProgress, 'deps' | 'held' | 'account'>

/** The account of one question to a session, answered or not. */
class QuestionCost {
  readonly #run: Paying
  readonly #meter: CostMeter
  #counted: UsageTotals | undefined

  constructor(run: Paying) {
    this.#run = run
    this.#meter = new CostMeter(run.deps.priceOf)
  }

  /** The usage of the question, as far as the runtime reports it. */
  get totals(): UsageTotals | undefined {
    return this.#counted
  }

  /** Counts the usage of the question so far, as the runtime reports it. */
  readonly take = (given: UsageTotals): void => {
    const totals = usable(totalsCheck, given)
    if (totals === undefined) return
    const { held, account } = this.#run
    const now = this.#meter.take(totals, held.model)
    account.used(differenceOf(now, this.#counted ?? NO_TOTALS))
    this.#counted = addTotals(NO_TOTALS, now)
  }

  /** Counts the whole window as the usage of an interrupted question, where the runtime has reported none. */
  countInterrupted(): void {
    const { inputTokens } = this.#run.held.figures()
    if (this.#counted === undefined && inputTokens !== null) this.take({ inputTokens, outputTokens: 0, requests: 1 })
  }
}
