import { defined } from '../../../domain/kernel/defined.ts'
import { addTotals, NO_TOTALS } from '../../../domain/run/run-summary.ts'
import type { UsageTotals } from '../../../domain/window/usage-reading.ts'
import type { AgentRuntime, RuntimeReply } from '../../../ports/agent/agent-runtime.ts'
import { recording } from '../recover/agent-processes.ts'
import { type RunInProgress, workspaceOf } from '../run-in-progress.ts'
import { AskingCost } from './asking-cost.ts'

/** Whom to ask, and how long all questions together may take. */
interface Interview {
  readonly ask: NonNullable<AgentRuntime['ask']>
  readonly providerSessionId: string
  readonly withinMs: number
}

/** Puts questions to a session that is not to go on working, all of them within one time, each of them accounted for. */
export class Asking {
  readonly #run: RunInProgress
  readonly #interview: Interview
  readonly #timeout: AbortSignal
  readonly #signal: AbortSignal
  #totals: UsageTotals | undefined
  #attempts = 0
  #question = ''

  constructor(run: RunInProgress, interview: Interview) {
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
    const cost = new AskingCost(run)
    this.#attempts += 1
    try {
      const prompt = make()
      this.#question = prompt
      const about = { providerSessionId: this.#interview.providerSessionId, prompt, model: run.held.session.model }
      const told = { onProcess: recording(run), onUsage: cost.take }
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
