import type { BudgetLimit } from '../budget/restart-budget.ts'
import type { DomainEvent } from '../kernel/event.ts'
import type { AgentSessionId, HandoffId, TurnId } from '../kernel/ids.ts'
import type { Metadata } from '../kernel/metadata.ts'
import type { SequenceNumber } from '../kernel/sequence.ts'
import type { Message } from '../turn/message.ts'
import type { Turn, TurnExtension } from '../turn/turn.ts'
import type { UsageTotals } from '../window/usage-reading.ts'
import type { SessionIdentity } from './agent-session.ts'

type Of<Type extends string, Body = unknown> = DomainEvent<Type, { sessionId: AgentSessionId } & Body>

/** How a session begins. */
export type SessionStarted = DomainEvent<
  'session.started',
  { session: SessionIdentity; providerSessionId?: string; opening?: readonly Message[] }
>

/** Events of a session after its start. */
export type SessionMoved =
  | Of<'turn.recorded', { turn: Turn; messages: readonly Message[] }>
  /** Something was said after its last turn, while a handoff held it. */
  | Of<'turn.extended', { turnId: TurnId } & TurnExtension>
  /** Its window was emptied by a compaction; what it held is in the snapshot taken with it. */
  | Of<'session.truncated'>
  | Of<'session.paused' | 'session.completed'>
  /** Somebody else holds it now; `isAbandoned` when its holder was not heard of in time, and not by hand. */
  | Of<'session.taken_over', { isAbandoned?: true }>
  /** Its runtime has launched it, under this name. */
  | Of<'session.attached', { providerSessionId: string }>
  | Of<'session.metadata_set', { metadata?: Metadata }>
  | Of<'session.accounted', { totals: UsageTotals }>
  | Of<'session.resumed', { nextSequence: SequenceNumber }>
  | Of<'session.failed', { endReason: string; endedBy?: BudgetLimit }>
  | Of<'session.held' | 'session.released' | 'session.handed_off', { handoffId: HandoffId }>

/** Everything that happens to a session. */
export type SessionEvent = SessionStarted | SessionMoved
