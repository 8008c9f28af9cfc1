import { totals as totalsCheck } from '../../../domain/input/readings.ts'
import { usable } from '../../../domain/input/window-events.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { addTotals, differenceOf, NO_TOTALS } from '../../../domain/run/run-summary.ts'
import type { UsageTotals } from '../../../domain/window/usage-reading.ts'
import type { AgentRuntime, RuntimeReply } from '../../../ports/agent/agent-runtime.ts'
import { processRecorder } from '../recover/agent-processes.ts'
import { type RunInProgress, workspaceOf } from '../run-in-progress.ts'
import { CostMeter } from '../work/cost-meter.ts'

/** Whom to ask, and how long all questions together may take. */
interface InterviewTerms {
  readonly ask: NonNullable<AgentRuntime['ask']>
  readonly providerSessionId: string
  readonly withinMs: number
}

/** Puts questions to a session that is not to go on working, all of them within one time, each of them accounted for. */
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

  /** How often it was asked. */
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

  /** The usage of all questions, as far as is known. */
  get totals(): UsageTotals | undefined {
    return this.#totals
  }

  /** Asks once. @throws whatever the run was stopped for */
  async put(make: () => string): Promise<RuntimeReply | { readonly error: unknown }> {
    const run = this.#run
    const cost = new QuestionCost(run)
    this.#attempts += 1
    try {
      const prompt = make()
      this.#question = prompt
      const about = { providerSessionId: this.#interview.providerSessionId, prompt, model: run.held.session.model }
      const told = { onProcess: processRecorder(run), onUsage: cost.take }
      const question = { ...defined({ ...about, workspace: workspaceOf(run) }), signal: this.#signal, ...told }
      // Waited for no longer than that, whatever the runtime does with its signal.
      const reply = await Promise.race([this.#interview.ask(question), aborted(this.#signal)])
      if (reply.totals !== undefined) cost.take(reply.totals)
      return reply
    } catch (error) {
      if (this.#signal.aborted) cost.cutOff()
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

/** The parts of a run that a question is put to the account of. */
type Paying = Pick<RunInProgress, 'deps' | 'held' | 'account'>

/** Keeps the account of one question to a session, answered or not. */
export class QuestionCost {
  readonly #run: Paying
  readonly #meter: CostMeter
  #counted: UsageTotals | undefined

  constructor(run: Paying) {
    this.#run = run
    this.#meter = new CostMeter(run.deps.priceOf)
  }

  /** The usage of the question, as far as is known. */
  get totals(): UsageTotals | undefined {
    return this.#counted
  }

  /** Counts what the runtime says the question has used so far. */
  readonly take = (given: UsageTotals): void => {
    const totals = usable(totalsCheck, given)
    if (totals === undefined) return
    const { held, account } = this.#run
    const now = this.#meter.take(totals, held.model)
    account.used(differenceOf(now, this.#counted ?? NO_TOTALS))
    this.#counted = addTotals(NO_TOTALS, now)
  }

  /** A question that was cut off has sent the whole window: it is counted as that, where the runtime has said nothing. */
  cutOff(): void {
    const { inputTokens } = this.#run.held.figures()
    if (this.#counted === undefined && inputTokens !== null) this.take({ inputTokens, outputTokens: 0, requests: 1 })
  }
}
