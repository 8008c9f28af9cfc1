import { defined } from '../kernel/defined.ts'
import type { AgentSessionId, ConversationId, SignalId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { inQuotes } from '../kernel/safe-text.ts'
import type { MilestoneReached, MonitorEvent } from '../window/context-monitor.ts'
import type { WindowParts } from '../window/context-pressure.ts'
import { describeFigures, windowEndOf } from '../window/window-level.ts'
import type { AgentSession } from './agent-session.ts'

/** The possible subjects of a signal. */
export const SIGNAL_KINDS = ['milestone', 'compaction', 'message'] as const

/** The subject of a signal: the window of a session, or a message of the caller. */
export type SignalKind = (typeof SIGNAL_KINDS)[number]

/** How a signal may reach its session. */
export const SIGNAL_DELIVERIES = ['sequential', 'urgent'] as const

/** `sequential` waits until the one before it was acknowledged; `urgent` does not. */
export type SignalDelivery = (typeof SIGNAL_DELIVERIES)[number]

/** Where a signal may be in its life. */
export const SIGNAL_STATUSES = ['queued', 'delivered', 'withdrawn'] as const

/** Where a signal is in its life. It is delivered when its session has acknowledged it. */
export type SignalStatus = (typeof SIGNAL_STATUSES)[number]

/** A message that a session must get once. */
export interface ContextSignal {
  readonly id: SignalId
  /** The conversation of the session it is about. */
  readonly conversationId: ConversationId
  /** Who is told. */
  readonly recipientId: AgentSessionId
  /** Whose window it is about. */
  readonly aboutId: AgentSessionId
  readonly kind: SignalKind
  /** Which milestone was reached. */
  readonly milestone?: string
  readonly text: string
  readonly delivery: SignalDelivery
  readonly status: SignalStatus
  readonly queuedAt: Instant
  /** When it was acknowledged or withdrawn. */
  readonly settledAt?: Instant
}

/** Makes the ids of new signals. */
export type NextSignalId = () => SignalId

/** The signals of a reached milestone: to the session itself, and to the session that started it. */
export const milestoneSignals = (
  session: AgentSession,
  reached: MilestoneReached,
  window: WindowParts,
  nextId: NextSignalId,
): readonly ContextSignal[] => {
  const { name } = reached.milestone
  const about = { kind: 'milestone', milestone: name, ...addressed(session, reached.at) } as const
  const full = describeReached(reached, window)
  const own: ContextSignal = {
    ...about,
    id: nextId(),
    recipientId: session.id,
    text: `Your context window is ${full}. ${ADVICE[name] ?? ''}`.trim(),
    delivery: name === 'warning' ? 'sequential' : 'urgent',
  }
  return [own, ...toParent(session, { ...about, text: `The context window of ${named(session)} is ${full}.` }, nextId)]
}

/** How full the window was when a milestone was reached, in words. */
export const describeReached = (reached: MilestoneReached, window: WindowParts): string =>
  describeFigures({
    ...reached,
    ...(reached.windowTokens === undefined ? {} : windowEndOf(reached.windowTokens, window)),
  })

/**
 * The signals of a compaction: to the session that started this one. If no session started it, a person runs it:
 * then the signal goes to its own queue, where that person's program finds it, so that somebody is told.
 */
export const compactionSignals = (
  session: AgentSession,
  { at, trigger }: Extract<MonitorEvent, { type: 'context.compacted' }>,
  nextId: NextSignalId,
): readonly ContextSignal[] => {
  const text = `The context window of ${named(session)} was compacted (${trigger}).`
  const about = { kind: 'compaction', ...addressed(session, at), text } as const
  const recipientId = session.parentSessionId ?? session.id
  return [{ ...about, id: nextId(), recipientId, delivery: 'sequential' }]
}

/** Text for another session names the one it is about and gives no orders. */
const toParent = (
  { parentSessionId }: AgentSession,
  about: Omit<ContextSignal, 'id' | 'recipientId' | 'delivery'>,
  nextId: NextSignalId,
): readonly ContextSignal[] =>
  parentSessionId === undefined
    ? []
    : [{ ...about, id: nextId(), recipientId: parentSessionId, delivery: 'sequential' }]

const addressed = ({ id, conversationId }: AgentSession, at: Instant) =>
  ({ conversationId, aboutId: id, status: 'queued', queuedAt: at }) as const

/** Advice for the agent itself. */
const ADVICE: Readonly<Record<string, string>> = {
  warning: 'Keep what you read short.',
  critical: 'Finish the step you are on, and write down what a successor needs.',
  restart: 'A fresh window is due: stop at the next good point.',
}

const named = ({ agentName, id }: AgentSession): string => `agent ${inQuotes(agentName)} (session ${id})`

/** A signal once it was acknowledged or withdrawn. */
export const settledSignal = (signal: ContextSignal, status: SignalStatus, settledAt: Instant): ContextSignal =>
  defined({ ...signal, status, settledAt })
