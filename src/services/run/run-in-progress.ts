import type { RestartBudget } from '../../domain/budget/restart-budget.ts'
import type { Conversation, Workspace } from '../../domain/conversation/conversation.ts'
import type { HookSettings } from '../../domain/hooks/hook-settings.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { Sha256 } from '../../domain/kernel/digest.ts'
import type { RunEvent } from '../../domain/run/run-event.ts'
import type { LeaseAsked } from '../../domain/session/process-identity.ts'
import { type MonitorSettings, type PressurePolicy, RUN_POLICY } from '../../domain/window/context-monitor.ts'
import type { WindowSize } from '../../domain/window/context-pressure.ts'
import type { AgentProcesses } from '../../ports/agent/agent-processes.ts'
import type { HookRunner } from '../../ports/agent/hook-runner.ts'
import type { RunTools } from '../../ports/agent/run-tools.ts'
import type { Store } from '../../ports/store/store.ts'
import type { Logger } from '../../ports/system/logger.ts'
import type { RunTelemetry } from '../../ports/system/run-telemetry.ts'
import type { Clock, IdGenerator } from '../../ports/system/system.ts'
import type { HandoffService } from '../handoff-service.ts'
import type { HandoffHistory } from '../history/handoff-history.ts'
import type { LookBack } from '../history/look-back.ts'
import type { ThreadCleanup } from '../thread/thread-cleanup.ts'
import type { ContextService } from '../window/context-service.ts'
import type { Seat } from './cast.ts'
import { HeldSession } from './held-session.ts'
import { DEFAULT_LEASE_MS } from './lease.ts'
import { LaunchedProcesses } from './recover/agent-processes.ts'
import { claimantOf } from './recover/gone-runner.ts'
import { type RetryThroughOutage, retriesOf } from './retry-through-outage.ts'
import { RunAccount, type SharedSpending } from './run-account.ts'
import { RunConversation } from './run-conversation.ts'
import { RunLog } from './run-log.ts'
import { RunReporter } from './run-reporter.ts'
import type { RunRequest, RunSettings } from './run-request.ts'
import type { RunSurroundings } from './run-surroundings.ts'
import { type RunThread, RunThreads } from './threads/run-threads.ts'
import type { PriceOf } from './work/cost-meter.ts'
import { OfferedTools } from './work/offered-tools.ts'
import { SessionSpans } from './work/spans.ts'
import { Transfers } from './work/transfers.ts'

/** The dependencies of the runner. */
export interface RunnerDeps extends RunSurroundings {
  readonly handoffs: HandoffService
  readonly history: HandoffHistory
  readonly context: ContextService
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly sha256: Sha256
  /** Calls hooks; without one there are none. */
  readonly hookRunner?: HookRunner
  /** Ends what runners that are gone have left at work; without it nothing is ended. */
  readonly processes?: AgentProcesses
  readonly telemetry?: RunTelemetry
  /** Answers what a continued session asks about earlier windows; without it nothing can be looked up. */
  readonly lookBack?: LookBack
  /** Serves tools to agents; without it they have none of ours. */
  readonly tools?: RunTools
  /** Takes summaries of threads out of memory files; without it none is looked for. */
  readonly threads?: Pick<ThreadCleanup, 'clearAround' | 'end' | 'offerAt' | 'otherStoreWaits'>
  /** Is told what happens; nobody unless given. */
  readonly logger?: Logger
  /** The believed window of a model, until its runtime reports one. */
  readonly believedWindow?: (model: string) => WindowSize | undefined
  /** List prices, for runtimes that say what they cost at their end or never. */
  readonly priceOf?: PriceOf
  /** The budget of conversations that are opened now, where a run says nothing else. */
  readonly restartBudget?: RestartBudget
  /** How windows are watched unless a run says otherwise. */
  readonly monitor?: MonitorSettings
  /** Applied to what is told of a run, as it is to what is stored. */
  readonly redact?: (text: string) => string
  /** Settings of every run, unless the run says otherwise. */
  readonly settings?: RunSettings
}

/** The terms of a run. In a run of several agents, request and hooks are those of the agent that works now. */
export interface RunTerms<Message = unknown> {
  readonly deps: RunnerDeps
  readonly request: RunRequest<Message>
  readonly hooks: readonly HookSettings[]
  /** The agent that works now, and those it may hand to. */
  readonly seat: Seat
  /** The lease that is asked for with each session: how long this process may be silent, and which one it is. */
  readonly lease: LeaseAsked & { readonly leaseMs: number }
  /** The places of agents that have one for themselves. */
  readonly places: ReadonlyMap<string, Workspace>
  /** A choice of this run, or what holds for all. */
  readonly setting: <Name extends keyof RunSettings>(name: Name) => RunSettings[Name] | undefined
}

/**
 * A run in progress: its terms, and the parts that keep how far it has come, each with a job of its own. Functions name
 * the parts they need. Everything in them that matters is in the record as well.
 */
export interface RunInProgress<Message = unknown> extends RunTerms<Message> {
  readonly conversation: RunConversation
  readonly held: HeldSession
  readonly account: RunAccount
  readonly news: RunReporter
  readonly log: RunLog
  readonly spans: SessionSpans
  /** The agent's wish to hand its work to another one. */
  readonly transfers: Transfers
  /** The pieces of the work that its agents delegate. */
  readonly threads: RunThreads
  /** The tools that the agents are offered. */
  readonly tools: OfferedTools
  /** The processes that were launched for the session. */
  readonly launched: LaunchedProcesses
  readonly retryThroughOutage: RetryThroughOutage
  /** Aborts when the run is cancelled, out of time, or overtaken; its reason says which. */
  readonly signal: AbortSignal
  /** Stops everything, for this reason. The first one counts. */
  readonly stop: (reason: Error) => void
}

/** The parts of a run that read the record of its conversation. */
export type RecordOfRun = Pick<RunInProgress, 'deps' | 'conversation' | 'retryThroughOutage'>

/** The surroundings of a run that begins. */
interface NewRun {
  readonly conversation: Conversation
  readonly places: ReadonlyMap<string, Workspace>
  readonly emit: (event: RunEvent) => void
  /** The spending that a thread shares with the run that delegated it. */
  readonly spending?: SharedSpending | undefined
  /** Runs what its agents delegate, on the same spending. */
  readonly runThread?: ((spending: SharedSpending) => RunThread) | undefined
}

/** A run that begins now, in a conversation that is there. */
export const newRun = <Message>(
  deps: RunnerDeps,
  seat: Seat,
  { conversation, places, emit, spending, runThread }: NewRun,
): RunInProgress<Message> => {
  const terms = termsOf<Message>(deps, seat, places)
  const transfers = new Transfers(seat)
  const log = new RunLog(deps.logger)
  const controller = new AbortController()
  const { signal } = controller
  const held = new HeldSession(claimantOf(terms.lease.runner) ?? `runner-${deps.ids.next()}`)
  const session = () => (held.isThere ? held.session : undefined)
  const news = new RunReporter(conversation, { agent: () => seat.request.agent, session, log, emit })
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
    transfers,
    threads,
    tools: new OfferedTools(terms, { transfers, threads }, news),
    launched: new LaunchedProcesses(),
    retryThroughOutage,
    signal,
    stop: (reason: Error) => controller.abort(reason),
  })
}

const termsOf = <Message>(deps: RunnerDeps, seat: Seat, places: RunTerms['places']): RunTerms<Message> => {
  const setting: RunTerms['setting'] = (name) => seat.request[name] ?? deps.settings?.[name]
  const leaseMs = setting('leaseMs') ?? DEFAULT_LEASE_MS
  return {
    deps,
    seat,
    places,
    get request() {
      return seat.request as RunRequest<Message>
    },
    get hooks() {
      return deps.hookRunner === undefined ? [] : (setting('hooks') ?? [])
    },
    lease: { leaseMs, ...defined({ runner: deps.processes?.self?.() }) },
    setting,
  }
}

/** The parts of a run that say where its work is done. */
export type Placed = Pick<RunInProgress, 'conversation' | 'setting' | 'request' | 'places'>

/**
 * Where the work is done: the place of the agent that works now, if it has one for itself; else the conversation's own, or
 * the one this run names when that has none.
 */
export const workspaceOf = ({ conversation, setting, request, places }: Placed): Workspace | undefined =>
  places.get(request.agent.trim()) ?? conversation.current.workspace ?? setting('workspace')

/** The policy about a full window: of this run, else of its session, else of all. */
export const policyOf = ({ request, held, deps }: Pick<RunInProgress, 'request' | 'held' | 'deps'>): PressurePolicy =>
  request.policy ?? held.monitor?.policy ?? unsaidPolicy(deps)

/** The policy where neither a run nor its session has chosen one. */
export const unsaidPolicy = ({ monitor }: Pick<RunnerDeps, 'monitor'>): PressurePolicy => monitor?.policy ?? RUN_POLICY

/** The believed window of the requested model, if one was requested. */
export const believedWindowOf = ({
  request,
  held,
  deps,
}: Pick<RunInProgress, 'request' | 'held' | 'deps'>): WindowSize | undefined => {
  const model = request.model ?? (held.isThere ? held.session.model : undefined)
  return model === undefined ? undefined : deps.believedWindow?.(model)
}
