import type { Conversation } from '../../../domain/conversation/conversation.ts'
import { beginningOf } from '../../../domain/kernel/cut-text.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { HandoffId } from '../../../domain/kernel/ids.ts'
import { type Result, err, ok } from '../../../domain/kernel/result.ts'
import { inQuotes } from '../../../domain/kernel/safe-text.ts'
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

/** Ends of a run after which somebody else works on the thread. */
const WITH_OTHERS: readonly RunSummary['outcome'][] = ['superseded', 'handed_over']

/** Refusals that say that somebody who lives works on the thread. */
const WORKED_ELSEWHERE: readonly RefusedError['code'][] = [
  'session.leased',
  'session.not_leased',
  'session.superseded',
  'session.illegal_transition',
  'session.not_active',
  'conversation.handoff_open',
]

/** Keeps what the agents of a run delegate: their wishes, until the turn that says so is recorded, and the threads at work. */
export class RunThreads {
  readonly #deps: ThreadsDeps
  readonly #wishes: ThreadAsked[] = []
  readonly #running = new Map<HandoffId, Promise<void>>()
  /** Why this process cannot run a thread any further. */
  readonly #stopped = new Map<HandoffId, string>()
  /** The threads that somebody else works, going by the last time that they were tried here. */
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

  /** Takes a wish, if the limits of the tree allow it. */
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

  /** Whether there are wishes that nobody has carried out. */
  get hasWishes(): boolean {
    return this.#wishes.length > 0
  }

  /** The wishes, once. */
  takeWishes(): readonly ThreadAsked[] {
    return this.#wishes.splice(0)
  }

  /** Runs a thread in this process, unless it is running here or cannot be run any further. */
  start(thread: DelegatedThread): void {
    const { runThread, terms, account, signal, emit } = this.#deps
    const { id: handoffId } = thread.handoff
    const isKnown = this.#running.has(handoffId) || this.#stopped.has(handoffId)
    if (runThread === undefined || isKnown || !terms.agents.names.includes(thread.session.agentName)) return
    const work = async (): Promise<void> => {
      try {
        const told = (event: RunEvent): void => {
          // Whoever has something to tell has the thread.
          this.#elsewhere.delete(handoffId)
          emit(event)
        }
        const stopping = AbortSignal.any([signal, this.#stopping.signal])
        const summary = await runThread(thread, { signal: stopping, emit: told })
        account.threadEnded(summary)
        const { outcome, reason = outcome } = summary
        if (WITH_OTHERS.includes(outcome)) this.#elsewhere.add(handoffId)
        // What failed, or was interrupted, is not tried again: its end on record, if there is one, counts more.
        else if (outcome !== 'completed') this.#stopped.set(handoffId, reason)
        this.#hasEnded()
      } catch (error) {
        // What its threads were answered is lost, and the run would tell of it.
        if (isSetBack(error)) this.#deps.stop(error)
        const isElsewhere = error instanceof RefusedError && WORKED_ELSEWHERE.includes(error.code)
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

  /** The threads that this process cannot run any further, and why: their sessions are paused, or nobody has them. */
  stopped(): ReadonlyMap<HandoffId, string> {
    return new Map(this.#stopped)
  }

  /** The threads that this process runs at the moment. */
  running(): ReadonlySet<HandoffId> {
    return new Set([...this.#running.keys()].filter((id) => this.isRunning(id)))
  }

  /** Whether this process runs a thread at the moment. One that others work is tried now and then, and not run. */
  isRunning(handoffId: HandoffId): boolean {
    return this.#running.has(handoffId) && !this.#elsewhere.has(handoffId)
  }

  /** How many runs of threads have ended here. */
  get ends(): number {
    return this.#ends
  }

  /** Waits until another run of a thread has ended here than those that were counted, or the time is over. */
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

/** As long as a task or a document may be. */
const LONGEST = 1_000_000
const LONGEST_NAME = 300
const LONGEST_REASON = 2_000

const textIn = (raw: unknown, longest: number): string | undefined =>
  typeof raw === 'string' && raw.trim() !== '' ? beginningOf(raw, longest) : undefined

/** The wish of an agent, as far as it can be used. Agents are not trusted: it is checked like everything else that they say. */
export const wishIn = ({ to, task, reason, document }: ThreadAsked): ThreadAsked | undefined => {
  const name = textIn(to, LONGEST_NAME)?.trim()
  const work = textIn(task, LONGEST)
  if (name === undefined || work === undefined) return undefined
  return {
    to: name,
    task: work,
    ...defined({ reason: textIn(reason, LONGEST_REASON), document: textIn(document, LONGEST) }),
  }
}

