import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import type { AgentSessionId, ConversationId } from '../../../domain/kernel/ids.ts'
import type { Instant } from '../../../domain/kernel/instant.ts'
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

/** How to recover. */
export interface RecoverRequest {
  /** Runtimes that resume sessions, each by its backend. A session whose runtime is not among them is failed. */
  readonly runtimes?: readonly AgentRuntime[]
  /** Agents that resume sessions of their name, and to whom handoffs are carried out that were under way. */
  readonly agents?: Cast
  /** Leave what none of them runs to somebody who can, instead of failing it. */
  readonly leaveOthers?: boolean
  /** How a recovered session is run; a part of the budget is the new total of its conversation. */
  readonly run?: RunSettings & Pick<RunRequest, 'budget'>
  /** Wait for leases that are not over yet, until each has ended or its holder was heard of. */
  readonly wait?: boolean
  /** Told of each lease that is waited for, once. */
  readonly onWaiting?: (lease: HeldLease) => void
  /** How many runs to resume at the same time; 4 unless given. */
  readonly atOnce?: number
  /** Told of what happens in all of them. */
  readonly onEvent?: (event: RunEvent) => void
  readonly signal?: AbortSignal
  /** Takes up nothing more once it aborts; what is under way is finished first. */
  readonly stop?: AbortSignal
}

/** The outcome of recovering an orphaned session. */
export type Recovered = {
  readonly conversationId: ConversationId
  readonly sessionId: AgentSessionId
} & (
  | { readonly type: 'resumed'; readonly summary: RunSummary }
  /** Nobody here can run it: it is failed, with the reason. */
  | { readonly type: 'failed'; readonly reason: string }
  /** Nobody here can run it, and it was to be left then; or it waits for threads, and its agents are not here. */
  | { readonly type: 'left'; readonly backend: string; readonly waitsForThreads?: true }
  /** Something went wrong; it is there to be recovered again. */
  | { readonly type: 'unfinished'; readonly problem: string }
  /** Somebody else was first. */
  | { readonly type: 'taken' }
  /** It was handed to another agent, who has not taken it yet: there is nothing to finish. */
  | { readonly type: 'handed_over' }
)

/** Resumes a session with its runtime, or with a cast that its agent is one of. */
type Resume = (session: AgentSessionId, by: AgentRuntime | Cast) => Promise<RunSummary>

/** Decides when a session may be resumed, and is told how that ended. */
export interface RecoveryGate {
  /** Waits for a place; nothing when no more is to be resumed. */
  enter(): Promise<Disposable | undefined>
  ended(summary: RunSummary): void
}

/** Says which handoffs are carried out here. */
interface CarriesOut {
  carriesOut(handoff: HandoffMetadata): boolean
}

/** The handoffs that a cast carries out. A worker claims those that need nothing more of their source. */
const castOf = (agents: Cast, leavesReady: boolean): CarriesOut => ({
  carriesOut: ({ kind, targetAgent, document, checkpoint }) => {
    const isReady = document !== undefined || checkpoint !== undefined
    if (kind !== 'agent_transfer') return kind === 'context_restart'
    return Object.hasOwn(agents, targetAgent) && !(leavesReady && isReady)
  },
})

const AT_ONCE = 4
const LOOK_AGAIN_MS = 250

/** Recovers orphaned sessions, some of them at the same time. */
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
  const looked = new Set<AgentSessionId>()
  for (let waited = new Map(expected.map((lease) => [lease.sessionId, lease.until])); ; ) {
    const left: OrphanedSession[] = []
    for await (const lease of everyPage((page) => deps.store.leases.listExpired(page))) left.push(lease)
    left.push(...(await runningLeases(deps)).gone)
    // One that could not be finished, or is left to others, is not looked at again and again while somebody is waited for.
    const queue = left.filter(({ sessionId }) => !looked.has(sessionId)).values()
    for (const { sessionId } of left) looked.add(sessionId)
    let isCut = false
    const worker = async (): Promise<void> => {
      for (const lease of queue) {
        isCut = request.signal?.aborted === true
        if (isCut || request.stop?.aborted === true) return
        using place = await gate?.enter()
        if (gate !== undefined && place === undefined) return
        const one = await recoverOne(deps, request, lease, resume)
        if (one.type === 'resumed') gate?.ended(one.summary)
        logRecovered(deps, one)
        recovered.push(one)
      }
    }
    const ended = await Promise.allSettled(Array.from({ length: atOnce }, worker))
    // Not before each of them has ended: nobody would wait for the others.
    for (const one of ended) if (one.status === 'rejected') throw one.reason
    if (isCut) request.signal?.throwIfAborted()
    if (waited.size === 0 || request.stop?.aborted === true) return recovered
    await pauseFor(LOOK_AGAIN_MS, request.signal)
    waited = stillWaited(waited, await waitingSessions(deps))
    // What is no longer waited for may have expired since the list was read: it is looked for once more.
  }
}

/** Sessions whose holder may be gone, and is not known to be: their leases are not over. Soonest over first. */
export const waitingSessions = async (deps: Pick<RunnerDeps, 'store' | 'processes'>): Promise<readonly HeldLease[]> =>
  (await runningLeases(deps)).waiting

/** A lease that was renewed has a holder who lives, and one that is over is in the other list. */
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
    // One agent alone would finish it without its threads, and nobody would be told of them.
    if (runtime !== undefined && backend !== undefined && !isCast && (await hasDelegatedThreads(deps, conversationId)))
      return { ...about, type: 'left', backend, waitsForThreads: true }
    if (runtime !== undefined) return { ...about, ...resumption(await resume(sessionId, runtime)) }
    if (leaveOthers && backend !== undefined) return { ...about, type: 'left', backend }
    const reason = `The process that worked it is gone, and nobody went on with it (it runs on ${backend}).`
    await giveUp(deps, sessionId, { reason, ...(signal && { signal }) })
    return { ...about, type: 'failed', reason }
  } catch (error) {
    // In a store that was set back nothing can be recovered: nobody knows what is missing.
    if (isSetBack(error)) throw error
    if (error instanceof RefusedError && OVERTAKEN.includes(error.code)) return { ...about, type: 'taken' }
    // One that could not be finished does not keep the others from it. It is found again when its lease has lapsed.
    const problem = messageOf(error)
    return { ...about, type: 'unfinished', problem: deps.redact?.(problem) ?? problem }
  }
}

const hasDelegatedThreads = async ({ store }: Pick<RunnerDeps, 'store'>, conversation: ConversationId): Promise<boolean> =>
  (await store.conversations.listDelegated(conversation)).length > 0

/** A run that ended before it had the session has left it as it was. */
const resumption = (summary: RunSummary) =>
  summary.lastSessionId === undefined
    ? ({ type: 'unfinished', problem: summary.reason ?? summary.outcome } as const)
    : ({ type: 'resumed', summary } as const)

const OVERTAKEN: readonly RefusedError['code'][] = [
  'session.leased',
  'session.not_leased',
  'session.superseded',
  'session.illegal_transition',
  'session.not_active',
  'handoff.illegal_transition',
]

/** Whether a session is held by a handoff that waits for an agent who takes no part here. */
export const isForAnother = async (
  { history }: Pick<RunnerDeps, 'history'>,
  session: AgentSession,
  carrier?: CarriesOut,
): Promise<boolean> => {
  const handoffId = heldBy(session)
  const handoff = handoffId === undefined ? undefined : await history.handoff(handoffId)
  return handoff !== undefined && !(carrier?.carriesOut(handoff) ?? handoff.kind === 'context_restart')
}
