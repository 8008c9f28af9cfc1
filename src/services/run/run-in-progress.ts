import type { Conversation, Workspace } from '../../domain/conversation/conversation.ts'
import type { RunEvent } from '../../domain/run/run-event.ts'
import type { RunAgents } from './cast.ts'
import { HeldSession, LaunchedProcesses } from './held-session.ts'
import { RunLog } from './news/run-log.ts'
import { RunReporter } from './news/run-reporter.ts'
import { SessionSpans } from './news/session-spans.ts'
import { claimantOf } from './recover/gone-runner.ts'
import { type RetryThroughOutage, retriesOf } from './retry-through-outage.ts'
import { RunAccount, type SharedSpending } from './run-account.ts'
import { RunConversation } from './run-conversation.ts'
import { type RunnerDeps, type RunTerms, termsOf } from './run-terms.ts'
import { type RunThread, RunThreads } from './threads/run-threads.ts'
import { OfferedTools } from './tools/offered-tools.ts'
import { TransferWish } from './tools/transfer-wish.ts'

/**
 * A run in progress: its terms, and the parts that keep how far it has come, each with a job of its own. A function
 * names the parts it needs. Everything that recovery needs is in the record as well.
 */
export interface RunInProgress<Message = unknown> extends RunTerms<Message> {
  readonly conversation: RunConversation
  readonly held: HeldSession
  readonly account: RunAccount
  readonly news: RunReporter
  readonly log: RunLog
  readonly spans: SessionSpans
  /** The agent's wish to hand its work to another one. */
  readonly transferWish: TransferWish
  /** The pieces of the work that its agents delegate. */
  readonly threads: RunThreads
  /** The tools that the agents are offered. */
  readonly tools: OfferedTools
  /** The processes that were launched for the session. */
  readonly launched: LaunchedProcesses
  readonly retryThroughOutage: RetryThroughOutage
  /** Aborts when the run is cancelled, out of time, or superseded; its reason says which. */
  readonly signal: AbortSignal
  /** Stops the run for this reason. The first reason counts. */
  readonly stop: (reason: Error) => void
}

/** The parts of a run that read the record of its conversation. */
export type RecordOfRun = Pick<RunInProgress, 'deps' | 'conversation' | 'retryThroughOutage'>

/** The parts that a new run is made of, beside its dependencies and agents. */
interface NewRun {
  readonly conversation: Conversation
  readonly places: ReadonlyMap<string, Workspace>
  readonly emit: (event: RunEvent) => void
  /** The spending that a thread shares with the run that delegated it. */
  readonly spending?: SharedSpending | undefined
  /** Runs the threads that its agents delegate, on the same spending. */
  readonly runThread?: ((spending: SharedSpending) => RunThread) | undefined
}

/** A run that begins now, in a conversation that is stored already. */
export const newRun = <Message>(
  deps: RunnerDeps,
  agents: RunAgents,
  { conversation, places, emit, spending, runThread }: NewRun,
): RunInProgress<Message> => {
  const terms = termsOf<Message>(deps, agents, places)
  const transferWish = new TransferWish(agents)
  const log = new RunLog(deps.logger)
  const controller = new AbortController()
  const { signal } = controller
  const held = new HeldSession(claimantOf(terms.lease.runner) ?? `runner-${deps.ids.next()}`)
  const session = () => (held.isThere ? held.session : undefined)
  const news = new RunReporter(conversation, { agent: () => agents.request.agent, session, log, emit })
  const account = new RunAccount(spending)
  const threadWork = runThread?.(account.spending)
  const retryThroughOutage = retriesOf(deps.ids, { signal, onTrouble: (trouble) => log.outage(trouble) })
  const about = {
    terms,
    conversation,
    account,
    signal,
    stop: (reason: Error) => controller.abort(reason),
    retryThroughOutage,
    emit,
    ...(threadWork && { runThread: threadWork }),
  }
  const threads = new RunThreads(about)
  return Object.assign(terms, {
    conversation: new RunConversation(conversation),
    held,
    account,
    news,
    log,
    spans: new SessionSpans(deps.telemetry),
    transferWish,
    threads,
    tools: new OfferedTools(terms, { transferWish, threads }, news),
    launched: new LaunchedProcesses(),
    retryThroughOutage,
    signal,
    stop: (reason: Error) => controller.abort(reason),
  })
}

/** The parts of a run that determine where its work is done. */
export type Placed = Pick<RunInProgress, 'conversation' | 'setting' | 'request' | 'places'>

/**
 * Where the work is done: the workspace of the current agent if it has one of its own; else that of the conversation;
 * else the one that this run names.
 */
export const runWorkspace = ({ conversation, setting, request, places }: Placed): Workspace | undefined =>
  places.get(request.agent.trim()) ?? conversation.current.workspace ?? setting('workspace')
