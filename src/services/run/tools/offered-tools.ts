import { defined } from '../../../domain/kernel/defined.ts'
import { err } from '../../../domain/kernel/result.ts'
import { usableWindow } from '../../../domain/window/context-pressure.ts'
import type { Delegates, HandsOver, LooksBack, ServedTools, ToolsEndpoint } from '../../../ports/agent/run-tools.ts'
import type { HeldSession } from '../held-session.ts'
import type { RunReporter } from '../news/run-reporter.ts'
import { messageOf } from '../run-errors.ts'
import type { RunTerms } from '../run-terms.ts'
import { believedWindowOf } from '../run-window.ts'
import type { RunThreads } from '../threads/run-threads.ts'
import { LookBackAccount } from './look-back-account.ts'
import type { TransferWish } from './transfer-wish.ts'

const HANDED_OVER = {
  code: 'handoff.already_open',
  message: 'The work is handed over already: say nothing more.',
} as const

type Offering = Pick<RunTerms, 'deps' | 'request' | 'agents' | 'setting'>

/**
 * The tools that a run offers: `look_back` to continued sessions, and `handoff` and `delegate` to the agents of a cast.
 * The tools are served from the first session on that can use one.
 */
export class OfferedTools implements AsyncDisposable {
  readonly #terms: Offering
  readonly #transferWish: TransferWish
  readonly #threads: RunThreads
  readonly #news: RunReporter
  readonly #account: LookBackAccount | undefined
  #opening: Promise<ServedTools | undefined> | undefined
  #served: ServedTools | undefined

  constructor(
    terms: Offering,
    wishes: { readonly transferWish: TransferWish; readonly threads: RunThreads },
    news: RunReporter,
  ) {
    this.#terms = terms
    this.#transferWish = wishes.transferWish
    this.#threads = wishes.threads
    this.#news = news
    const { lookBack } = terms.deps
    this.#account = lookBack && new LookBackAccount(lookBack)
  }

  /** Serves the tools, where the runtime takes them. @returns whether a continued session can look back */
  async serve(): Promise<boolean> {
    if (this.#terms.request.runtime.takesTools !== true) return false
    if (!this.#looksBack && !this.#handsOver) return false
    this.#opening ??= this.#open()
    this.#served = await this.#opening
    return this.#served !== undefined && this.#looksBack
  }

  /**
   * Offers the tools to the next launch of a session. The first session of a conversation has nothing to look back at.
   */
  offerTo(held: HeldSession): ToolsEndpoint | undefined {
    if (this.#terms.request.runtime.takesTools !== true) return undefined
    const lookBack = held.session.epoch > 1 && this.#looksBack ? this.#lookBackOf(held) : undefined
    const { others, names } = this.#terms.agents
    const handOver = this.#handsOver ? { to: others, ask: this.#handOverOf(held) } : undefined
    const delegate = this.#threads.areOffered ? { to: names, ask: this.#delegateOf(held) } : undefined
    return lookBack || handOver ? this.#served?.offer(defined({ lookBack, handOver, delegate })) : undefined
  }

  get #looksBack(): boolean {
    return this.#account !== undefined && this.#terms.setting('lookBack') !== false
  }

  get #handsOver(): boolean {
    return this.#terms.agents.isCast
  }

  /** Accepts a wish only from the session of this launch, and only while it is active. */
  #handOverOf(held: HeldSession): HandsOver {
    const { id } = held.session
    return async (wish) =>
      held.session.id === id && held.session.state === 'active' ? this.#transferWish.submit(wish) : err(HANDED_OVER)
  }

  /** As {@link #handOverOf}, for a piece of its work. */
  #delegateOf(held: HeldSession): Delegates {
    const { id } = held.session
    return async (wish) =>
      held.session.id === id && held.session.state === 'active' ? this.#threads.submit(wish) : err(HANDED_OVER)
  }

  #lookBackOf(held: HeldSession): LooksBack | undefined {
    const { deps, request } = this.#terms
    const window = (): number | undefined =>
      (held.monitor && usableWindow(held.monitor.window)?.tokens) ?? believedWindowOf({ request, held, deps })?.tokens
    return this.#account?.for(held.session.id, window)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const served = await this.#opening
    this.#served = undefined
    await served?.[Symbol.asyncDispose]()
  }

  /** A run without the tools is better than no run. */
  async #open(): Promise<ServedTools | undefined> {
    try {
      return await this.#terms.deps.tools?.open()
    } catch (error) {
      const names = [
        this.#looksBack ? 'look_back' : '',
        this.#handsOver ? 'handoff' : '',
        this.#threads.areOffered ? 'delegate' : '',
      ].filter((name) => name !== '')
      const tools = `the ${names.length === 1 ? 'tool' : 'tools'} ${names.join(' and ')}`
      const message = `The agent works without ${tools}, because it could not be served: ${messageOf(error)}`
      this.#news.emit({ type: 'run:warning', code: 'tools.not_served', message })
      return undefined
    }
  }
}
