import type { Conversation } from '../../../domain/conversation/conversation.ts'
import { beginningOf } from '../../../domain/kernel/cut-text.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { HandoffId } from '../../../domain/kernel/ids.ts'
import { err, ok, type Result } from '../../../domain/kernel/result.ts'
import { inQuotes } from '../../../domain/kernel/safe-text.ts'
import { isOvertaken } from '../../../domain/refusal.ts'
import type { RunEvent } from '../../../domain/run/run-event.ts'
import type { RunSummary } from '../../../domain/run/run-summary.ts'
import type { DelegatedThread } from '../../../domain/thread/delegated-thread.ts'
import { DEFAULT_FAN_OUT, whyNotDelegated } from '../../../domain/thread/fan-out.ts'
import { RefusedError } from '../../../domain/unwrap.ts'
import type { ThreadAsked } from '../../../ports/agent/agent-runtime.ts'
import type { ToolRefused } from '../../../ports/agent/run-tools.ts'
import { pauseFor } from '../../commands/pause-for.ts'
import { errorFields } from '../../commands/safe-logger.ts'
import { isSetBack } from '../../commands/set-back.ts'
import type { RetryThroughOutage } from '../retry-through-outage.ts'
import type { RunAccount } from '../run-account.ts'
import { messageOf } from '../run-errors.ts'
import type { RunTerms } from '../run-terms.ts'

/** Runs the conversation of a thread beside that of its parent, until it is over or the signal aborts. */
export type RunThread = (
  thread: Pick<DelegatedThread, 'session'>,
  options: { readonly signal: AbortSignal; readonly emit: (event: RunEvent) => void },
) => Promise<RunSummary>

/** The parts of a run that its threads need. */
interface ThreadsDeps {
  readonly terms: Pick<RunTerms, 'deps' | 'agents' | 'setting'>
  readonly conversation: Pick<Conversation, 'id'>
  readonly account: RunAccount
  /** Absent where nothing is delegated: one agent has nobody to delegate to. */
  readonly runThread?: RunThread
  readonly signal: AbortSignal
  /** Stops the run itself. */
  readonly stop: (reason: Error) => void
  readonly retryThroughOutage: RetryThroughOutage
  readonly emit: (event: RunEvent) => void
}

/** Outcomes of a run after which another process works the thread. */
const WITH_OTHERS: readonly RunSummary['outcome'][] = ['superseded', 'handed_over']

/**
 * The threads of a run: the wishes of its agents, until the turn with them is recorded, and the threads that run here.
 */
export class RunThreads {
  readonly #deps: ThreadsDeps
  readonly #wishes: ThreadAsked[] = []
  readonly #running = new Map<HandoffId, Promise<void>>()
  /** Why this process cannot continue a thread. */
  readonly #stopped = new Map<HandoffId, string>()
  /** The threads that another process worked when they were last tried here. */
  readonly #elsewhere = new Set<HandoffId>()
  readonly #stopping = new AbortController()
  #ends = 0
  #wake: () => void = () => undefined

  constructor(deps: ThreadsDeps) {
    this.#deps = deps
  }

  /** Whether the agents of this run may delegate. */
  get areOffered(): boolean {
    return this.#deps.runThread !== undefined && this.#deps.terms.agents.isCast
  }

  /** Stores a wish, if it is valid and the limits of the tree allow it. */
  async submit(raw: ThreadAsked): Promise<Result<ThreadAsked, ToolRefused>> {
    const { terms, conversation } = this.#deps
    const names = terms.agents.names.join(', ')
    if (!this.areOffered) return err({ code: 'agent.unknown', message: 'This run has no other agents.' })
    const wish = wishIn(raw)
    if (wish === undefined)
      return err({ code: 'input.invalid', message: `Name the agent in "to" (${names}), and its work in "task".` })
    if (!terms.agents.names.includes(wish.to))
      return err({
        code: 'agent.unknown',
        message: `${inQuotes(wish.to)} takes no part in this run. Name one of: ${names}.`,
      })
    const { conversations } = terms.deps.store
    const [tree, open] = await this.#deps.retryThroughOutage(() =>
      Promise.all([conversations.findTree(conversation.id), conversations.listDelegated(conversation.id)]),
    )
    const wished = this.#wishes.length
    const { depth = 0, threads = 0 } = tree ?? {}
    const limits = { ...DEFAULT_FAN_OUT, ...terms.deps.settings?.fanOut, ...terms.agents.request.fanOut }
    const refused = whyNotDelegated({ depth, threads: threads + wished }, open.length + wished, limits)
    if (refused !== undefined) return err(refused)
    this.#wishes.push(wish)
    return ok(wish)
  }

  /** Whether there are wishes that were not taken yet. */
  get hasWishes(): boolean {
    return this.#wishes.length > 0
  }

  /** The wishes, once: the caller carries them out. */
  takeWishes(): readonly ThreadAsked[] {
    return this.#wishes.splice(0)
  }

  /** Runs a thread in this process, unless it runs here already or cannot be continued here. */
  start(thread: DelegatedThread): void {
    const { runThread, terms, account, signal, emit } = this.#deps
    const { id: handoffId } = thread.handoff
    const isKnown = this.#running.has(handoffId) || this.#stopped.has(handoffId)
    if (runThread === undefined || isKnown || !terms.agents.names.includes(thread.session.agentName)) return
    const work = async (): Promise<void> => {
      try {
        const onEvent = (event: RunEvent): void => {
          // An event shows that this process works the thread, and no other one.
          this.#elsewhere.delete(handoffId)
          emit(event)
        }
        const stopping = AbortSignal.any([signal, this.#stopping.signal])
        const summary = await runThread(thread, { signal: stopping, emit: onEvent })
        account.threadEnded(summary)
        const { outcome, reason = outcome } = summary
        if (WITH_OTHERS.includes(outcome)) this.#elsewhere.add(handoffId)
        // A thread that failed or was interrupted is not tried again. If its end is on record, that one counts.
        else if (outcome !== 'completed') this.#stopped.set(handoffId, reason)
        this.#hasEnded()
      } catch (error) {
        // The store has lost facts of the threads, so this run must not report on them.
        if (isSetBack(error)) this.#deps.stop(error)
        const isElsewhere = error instanceof RefusedError && isOvertaken(error.refusal)
        if (isElsewhere) this.#elsewhere.add(handoffId)
        else {
          this.#stopped.set(handoffId, messageOf(error))
          this.#hasEnded()
        }
        const { logger, redact } = terms.deps
        const fields = { handoffId, ...errorFields(error, redact) }
        logger?.[isElsewhere ? 'debug' : 'warn'](fields, 'a thread was not run by this process')
      } finally {
        this.#running.delete(handoffId)
      }
    }
    this.#running.set(handoffId, work())
  }

  /** The threads that this process cannot continue, and why: their sessions are paused, or orphaned. */
  stopped(): ReadonlyMap<HandoffId, string> {
    return new Map(this.#stopped)
  }

  /** The threads that this process runs at the moment. */
  running(): ReadonlySet<HandoffId> {
    return new Set([...this.#running.keys()].filter((id) => this.isRunning(id)))
  }

  /**
   * Whether this process runs a thread now. One that another process works is tried from time to time, which does not
   * count.
   */
  isRunning(handoffId: HandoffId): boolean {
    return this.#running.has(handoffId) && !this.#elsewhere.has(handoffId)
  }

  /** How many runs of threads have ended here. */
  get ends(): number {
    return this.#ends
  }

  /** Waits until more than `counted` runs of threads have ended here, or the time is over. */
  async nextEnd(counted: number, { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal }) {
    if (this.#ends !== counted) return
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    await pauseFor(waitMs, AbortSignal.any([signal, woken.signal])).catch(() => undefined)
  }

  #hasEnded(): void {
    this.#ends += 1
    this.#wake()
  }

  /** Waits until every thread that runs here is over. */
  async rest(): Promise<void> {
    await Promise.all(this.#running.values())
  }

  /** Stops every thread that runs here: each is paused, and can be resumed. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('The run that delegated it has ended.'))
    await this.rest()
  }
}

/** The longest task or document, in characters. */
const LONGEST = 1_000_000
const LONGEST_NAME = 300
const LONGEST_REASON = 2_000

const textIn = (raw: unknown, longest: number): string | undefined =>
  typeof raw === 'string' && raw.trim() !== '' ? beginningOf(raw, longest) : undefined

/**
 * A checked wish; undefined without an agent or a task. Agents are not trusted, so names and texts are checked and cut.
 */
const wishIn = ({ to, task, reason, document }: ThreadAsked): ThreadAsked | undefined => {
  const name = textIn(to, LONGEST_NAME)?.trim()
  const work = textIn(task, LONGEST)
  if (name === undefined || work === undefined) return undefined
  return {
    to: name,
    task: work,
    ...defined({ reason: textIn(reason, LONGEST_REASON), document: textIn(document, LONGEST) }),
  }
}
