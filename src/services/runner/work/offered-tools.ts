import { usableWindow } from '../../../domain/window/context-pressure.ts'
import type { ServedTools, ToolsEndpoint } from '../../../ports/run-tools.ts'
import type { HeldSession } from '../held-session.ts'
import { messageOf } from '../run-errors.ts'
import { believedWindowOf, type RunTerms } from '../run-in-progress.ts'
import type { RunReporter } from '../run-reporter.ts'
import { LookBackAccount } from './look-back-account.ts'

/** The tools that a run offers to its continued sessions. Nothing is served before the first of them. */
export class OfferedTools implements AsyncDisposable {
  readonly #terms: Pick<RunTerms, 'deps' | 'request' | 'setting'>
  readonly #news: RunReporter
  readonly #account: LookBackAccount | undefined
  #opening: Promise<ServedTools | undefined> | undefined
  #served: ServedTools | undefined

  constructor(terms: Pick<RunTerms, 'deps' | 'request' | 'setting'>, news: RunReporter) {
    this.#terms = terms
    this.#news = news
    const { lookBack } = terms.deps
    this.#account = lookBack && new LookBackAccount(lookBack)
  }

  /** Serves the tools, where they are wanted and the runtime takes them. @returns whether they are served */
  async serve(): Promise<boolean> {
    this.#opening ??= this.#open()
    this.#served = await this.#opening
    return this.#served !== undefined
  }

  /** Offers the tools to the next launch of a session; nothing to the first one, which has nothing to look back at. */
  offerTo(held: HeldSession): ToolsEndpoint | undefined {
    const { id, epoch } = held.session
    if (epoch === 1) return undefined
    const { deps, request } = this.#terms
    const window = (): number | undefined =>
      (held.monitor && usableWindow(held.monitor.window)?.tokens) ?? believedWindowOf({ request, held, deps })?.tokens
    return this.#account && this.#served?.offer(this.#account.for(id, window))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const served = await this.#opening
    this.#served = undefined
    await served?.[Symbol.asyncDispose]()
  }

  /** A run without the tools is better than no run. */
  async #open(): Promise<ServedTools | undefined> {
    const { deps, request, setting } = this.#terms
    const isWanted = request.runtime.takesTools === true && setting('lookBack') !== false
    if (!isWanted || this.#account === undefined) return undefined
    try {
      return await deps.tools?.open()
    } catch (error) {
      const message = `The agent works without the tool look_back, because it could not be served: ${messageOf(error)}`
      this.#news.emit({ type: 'run:warning', code: 'tools.not_served', message })
      return undefined
    }
  }
}
