import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import type { AgentSessionId, ConversationId } from '../../../domain/kernel/ids.ts'
import type { Instant } from '../../../domain/kernel/instant.ts'
import { isOvertaken } from '../../../domain/refusal.ts'
import type { RunEvent } from '../../../domain/run/run-event.ts'
import type { RunSummary } from '../../../domain/run/run-summary.ts'
import { type AgentSession, heldBy } from '../../../domain/session/agent-session.ts'
import { RefusedError } from '../../../domain/unwrap.ts'
import type { AgentRuntime } from '../../../ports/agent/agent-runtime.ts'
import { everyPage } from '../../../ports/store/page.ts'
import type { HeldLease } from '../../../ports/store/session-leases.ts'
import type { LogLevel } from '../../../ports/system/logger.ts'
import { pauseFor } from '../../commands/pause-for.ts'
import { isSetBack } from '../../commands/set-back.ts'
import type { Cast } from '../cast.ts'
import { messageOf } from '../run-errors.ts'
import type { RunRequest, RunSettings } from '../run-request.ts'
import type { RunnerDeps } from '../run-terms.ts'
import { giveUp } from './give-up.ts'
import { runningLeases } from './gone-runner.ts'

/** A request to recover orphaned sessions. */
export interface RecoverRequest {
  /** Runtimes that resume sessions, each those of its backend. A session of any other backend is failed. */
  readonly runtimes?: readonly AgentRuntime[]
  /** Agents that resume the sessions of their name. Handoffs to them that were under way are carried out. */
  readonly agents?: Cast
  /** Leave a session that none of these runtimes and agents can resume to another process, instead of failing it. */
  readonly leaveOthers?: boolean
  /** The settings of the resumed runs; a part of the budget is the new total of its conversation. */
  readonly run?: RunSettings & Pick<RunRequest, 'budget'>
  /** Wait for leases that have not expired, until each has expired or its holder has renewed it. */
  readonly wait?: boolean
  /** Called once for each lease that is waited for. */
  readonly onWaiting?: (lease: HeldLease) => void
  /** How many runs to resume at the same time; 4 unless given. */
  readonly atOnce?: number
  /** Called with the events of all resumed runs. */
  readonly onEvent?: (event: RunEvent) => void
  readonly signal?: AbortSignal
  /** Aborting it stops the recovery: it resumes nothing more, and finishes the runs under way. */
  readonly stop?: AbortSignal
}

/** The outcome of recovering an orphaned session. */
export type Recovered = {
  readonly conversationId: ConversationId
  readonly sessionId: AgentSessionId
} & (
  | { readonly type: 'resumed'; readonly summary: RunSummary }
  /** No runtime or agent here can resume it: it is failed, with the reason. */
  | { readonly type: 'failed'; readonly reason: string }
  /**
   * No runtime or agent here can resume it, and `leaveOthers` is set; or it waits for threads whose agents are not
   * here.
   */
  | { readonly type: 'left'; readonly backend: string; readonly waitsForThreads?: true }
  /** Recovering it failed; it can be recovered again. */
  | { readonly type: 'unfinished'; readonly problem: string }
  /** Another process has resumed it. */
  | { readonly type: 'taken' }
  /** It is handed to another agent, which a worker has not taken up yet: there is nothing to finish. */
  | { readonly type: 'handed_over' }
)

/** Resumes a session with its runtime, or with a cast that its agent is one of. */
type Resume = (session: AgentSessionId, by: AgentRuntime | Cast) => Promise<RunSummary>

/** Decides when a session may be resumed, and counts the runs that ended. */
export interface RecoveryGate {
  /** Waits for a place; undefined when nothing more is to be resumed. */
  enter(): Promise<Disposable | undefined>
  ended(summary: RunSummary): void
}

/** Knows which handoffs this process carries out. */
interface CarriesOut {
  carriesOut(handoff: HandoffMetadata): boolean
}

/**
 * The handoffs that a cast carries out. With `leavesReady`, a handoff that needs nothing more of its source is left for
 * a worker to claim.
 */
const castOf = (agents: Cast, leavesReady: boolean): CarriesOut => ({
  carriesOut: ({ kind, targetAgent, document, checkpoint }) => {
    const isReady = document !== undefined || checkpoint !== undefined
    if (kind !== 'agent_transfer') return kind === 'context_restart'
    return Object.hasOwn(agents, targetAgent) && !(leavesReady && isReady)
  },
})

const AT_ONCE = 4
const LOOK_AGAIN_MS = 250

/** Recovers orphaned sessions, `atOnce` of them at the same time. */
export const recoverAll = async (
  deps: RunnerDeps,
  request: RecoverRequest,
  resume: Resume,
  gate?: RecoveryGate,
): Promise<readonly Recovered[]> => {
  const { atOnce = AT_ONCE, wait = false } = request
  if (!Number.isSafeInteger(atOnce) || atOnce < 1) throw new TypeError('atOnce is a whole number from 1 up.')
  const recovered: Recovered[] = []
  const expected = wait ? await waitingSessions(deps) : []
  for (const lease of expected) request.onWaiting?.(lease)
  const seen = new Set<AgentSessionId>()
  for (let waited = new Map(expected.map((lease) => [lease.sessionId, lease.until])); ; ) {
    const orphans: OrphanedSession[] = []
    for await (const lease of everyPage((page) => deps.store.leases.listExpired(page))) orphans.push(lease)
    orphans.push(...(await runningLeases(deps)).gone)
    // A session that could not be resumed, or that another process is to resume, is tried once while leases are waited for.
    const queue = orphans.filter(({ sessionId }) => !seen.has(sessionId)).values()
    for (const { sessionId } of orphans) seen.add(sessionId)
    let isAborted = false
    const worker = async (): Promise<void> => {
      for (const lease of queue) {
        isAborted = request.signal?.aborted === true
        if (isAborted || request.stop?.aborted === true) return
        using place = await gate?.enter()
        if (gate !== undefined && place === undefined) return
        const outcome = await recoverOne(deps, request, lease, resume)
        if (outcome.type === 'resumed') gate?.ended(outcome.summary)
        logRecovered(deps, outcome)
        recovered.push(outcome)
      }
    }
    const results = await Promise.allSettled(Array.from({ length: atOnce }, worker))
    // Thrown only after all have ended: otherwise nobody would wait for the others.
    for (const result of results) if (result.status === 'rejected') throw result.reason
    if (isAborted) request.signal?.throwIfAborted()
    if (waited.size === 0 || request.stop?.aborted === true) return recovered
    await pauseFor(LOOK_AGAIN_MS, request.signal)
    waited = stillWaited(waited, await waitingSessions(deps))
    // A lease that is no longer waited for may have expired since the list was read, so the loop looks once more.
  }
}

/** Sessions whose holders may be gone, but whose leases have not expired. The first to expire comes first. */
export const waitingSessions = async (deps: Pick<RunnerDeps, 'store' | 'processes'>): Promise<readonly HeldLease[]> =>
  (await runningLeases(deps)).waiting

/** The leases that were neither renewed, so that the holder lives, nor have expired since. */
const stillWaited = (
  waited: ReadonlyMap<AgentSessionId, Instant>,
  now: readonly HeldLease[],
): Map<AgentSessionId, Instant> =>
  new Map(now.flatMap(({ sessionId, until }) => (waited.get(sessionId) === until ? [[sessionId, until] as const] : [])))

const LEVEL_OF = {
  resumed: 'info',
  failed: 'warn',
  left: 'info',
  unfinished: 'warn',
  taken: 'debug',
  handed_over: 'debug',
} as const satisfies Record<Recovered['type'], LogLevel>

const logRecovered = ({ logger }: RunnerDeps, recovered: Recovered): void =>
  logger?.[LEVEL_OF[recovered.type]]({ ...recovered }, `an orphaned session: ${recovered.type.replace('_', ' ')}`)

/** An orphaned session. */
type OrphanedSession = Pick<HeldLease, 'conversationId' | 'sessionId'>

const recoverOne = async (
  deps: RunnerDeps,
  { runtimes = [], agents = {}, leaveOthers = false, signal }: RecoverRequest,
  { conversationId, sessionId }: OrphanedSession,
  resume: Resume,
): Promise<Recovered> => {
  const about = { conversationId, sessionId }
  try {
    const session = await deps.history.session(sessionId)
    const backend = session?.backend
    const isCast = session !== undefined && Object.hasOwn(agents, session.agentName)
    const runtime = isCast ? agents : runtimes.find((candidate) => candidate.backend === backend)
    if (session !== undefined && (await isForAnother(deps, session, isCast ? castOf(agents, leaveOthers) : undefined)))
      return { ...about, type: 'handed_over' }
    // A single agent would finish the session without its threads, and their outcomes would be lost.
    if (runtime !== undefined && backend !== undefined && !isCast && (await hasDelegatedThreads(deps, conversationId)))
      return { ...about, type: 'left', backend, waitsForThreads: true }
    if (runtime !== undefined) return { ...about, ...resumption(await resume(sessionId, runtime)) }
    if (leaveOthers && backend !== undefined) return { ...about, type: 'left', backend }
    const reason = `The process that worked it is gone, and nobody resumed it (it runs on ${backend}).`
    await giveUp(deps, sessionId, { reason, ...(signal && { signal }) })
    return { ...about, type: 'failed', reason }
  } catch (error) {
    // In a store that was set back nothing can be recovered, because it lacks facts.
    if (isSetBack(error)) throw error
    if (error instanceof RefusedError && isOvertaken(error.refusal)) return { ...about, type: 'taken' }
    // A session that could not be recovered does not stop the others. It is found again when its lease has expired.
    const problem = messageOf(error)
    return { ...about, type: 'unfinished', problem: deps.redact?.(problem) ?? problem }
  }
}

const hasDelegatedThreads = async (
  { store }: Pick<RunnerDeps, 'store'>,
  conversation: ConversationId,
): Promise<boolean> => (await store.conversations.listDelegated(conversation)).length > 0

/** A run that ended before it held the session has left the session as it was. */
const resumption = (summary: RunSummary) =>
  summary.lastSessionId === undefined
    ? ({ type: 'unfinished', problem: summary.reason ?? summary.outcome } as const)
    : ({ type: 'resumed', summary } as const)

/** Whether a session is held by a handoff to an agent that takes no part here. */
export const isForAnother = async (
  { history }: Pick<RunnerDeps, 'history'>,
  session: AgentSession,
  carrier?: CarriesOut,
): Promise<boolean> => {
  const handoffId = heldBy(session)
  const handoff = handoffId === undefined ? undefined : await history.handoff(handoffId)
  return handoff !== undefined && !(carrier?.carriesOut(handoff) ?? handoff.kind === 'context_restart')
}
