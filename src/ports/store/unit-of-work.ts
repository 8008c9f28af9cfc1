import type { AuditEvent } from '../../domain/audit-event.ts'
import type { PersonMessagesWanted } from '../../domain/checkpoint/carried-words.ts'
import type { Change } from '../../domain/decision.ts'
import type { ConversationFacts, HandoffFacts, OpeningFacts, ResumeFacts, SourceFacts } from '../../domain/facts.ts'
import type { AgentSessionId, CommandId, ConversationId, HandoffId, TurnId } from '../../domain/kernel/ids.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import type { Receipt } from './receipt.ts'

/** Names a command and says what it asks, so that the store can tell a repetition from a reuse of the id. */
export interface CommandStamp {
  readonly id: CommandId
  /** The request as canonical text. The store may keep no more than a digest of it. */
  readonly payload: string
  /** The caller named the command, and may repeat it. */
  readonly isNamed?: boolean
}

/** The subject of a decision, with the key it is found by. */
export interface Subjects {
  opening: { asks: { readonly externalKey?: string; readonly parentId?: ConversationId }; facts: OpeningFacts }
  conversation: { asks: ConversationQuestion; facts: ConversationFacts }
  session: { asks: { readonly sessionId: AgentSessionId }; facts: ResumeFacts }
  source: { asks: SourceQuestion; facts: SourceFacts }
  handoff: { asks: HandoffQuestion; facts: HandoffFacts }
  /** The oldest handoff an agent may claim now; or one of the `among` oldest, another for another command. */
  next_handoff: { asks: { readonly targetAgent: string; readonly among?: number }; facts: HandoffFacts }
}

/** The question that starting a session asks. */
export interface ConversationQuestion {
  readonly conversationId: ConversationId
  /** The session a new one is to be the child of. */
  readonly parentSessionId?: AgentSessionId
  /** The id a new session is to have. */
  readonly sessionId?: AgentSessionId
  /** Whether the answer has the used part of the budget. */
  readonly isBudgeted?: boolean
}

/** The question that initiating a handoff asks of the store. */
export interface SourceQuestion {
  readonly sessionId: AgentSessionId
  readonly priorTurn?: TurnId
  /** Call ids to look up in the source's conversation; an id that was used more than once means its latest use. */
  readonly toolCalls?: readonly string[]
  /** How many tool calls at most; beyond that the oldest are left out. */
  readonly maxToolCalls: number
  readonly externalKey?: string
  /** Handoffs that may have opened threads from the source's conversation; the answer has `threads` when given. */
  readonly reports?: readonly HandoffId[]
  /** Whether the answer has the used part of the restart budget. */
  readonly isBudgeted?: boolean
}

/** The question that the next step of a handoff asks. */
export interface HandoffQuestion {
  readonly handoffId: HandoffId
  /** How many of the person's words in its conversation to answer with; none unless given. */
  readonly personMessages?: PersonMessagesWanted
}

/** A question that one read answers. */
export type Question<Subject extends keyof Subjects = keyof Subjects> = {
  [S in Subject]: { readonly about: S } & Subjects[S]['asks']
}[Subject]

/** A command id that was used before: whether the request was the same, and the answer if it was stored. */
export interface Repeated {
  readonly receipt?: Receipt
  readonly samePayload: boolean
}

/** The facts, or the answer that this command was already carried out. */
export type Loaded<Subject extends keyof Subjects> =
  | { readonly repeated: Repeated }
  | { readonly repeated?: never; readonly facts: Subjects[Subject]['facts'] }

/** Everything that one decision wants to store. */
export interface Unit {
  readonly command: CommandStamp
  readonly changes: readonly Change[]
  /** Appended to the audit log of each event's conversation, in order. */
  readonly events: readonly AuditEvent[]
  /** Whether the store remembers the command by its id and digest. If not, repeating it must do no harm. */
  readonly isRemembered: boolean
  /** The answer for a repetition that comes from outside this call; absent when only this call knows the command's id. */
  readonly receipt?: Receipt
}

/** The outcome of a unit. */
export type CommitOutcome =
  | { readonly outcome: 'kept' }
  /**
   * Something that the decision was based on has changed, or another command took a unique place. Read again, decide
   * again. `at` says where, for people: it is shown in logs, and no code depends on it.
   */
  | { readonly outcome: 'conflict'; readonly at: string }
  | { readonly outcome: 'repeated'; readonly repeated: Repeated }

/**
 * Stores each decision completely or not at all. It checks that nothing that a decision was based on has changed; it
 * never decides.
 *
 * Every implementation keeps these promises:
 * - `load` is one read of one moment; `commit` is one write. Either may be called by many callers at once.
 * - `commit` keeps every change, event, receipt and command id of a unit, or nothing at all.
 * - A unit whose id was kept before is never kept again: it is `repeated`, or a `conflict` after which `load` says so.
 * - A moved version, a second session with a conversation's baton, a second open handoff of one source, an epoch,
 *   sequence number or external key used twice, a thread reported twice: `conflict`, and nothing is kept.
 * - A reference to something that does not exist in its conversation (the prior turn and the tool calls of a handoff
 *   above all) rejects with `StoreFailure` `store.integrity`, and nothing is kept.
 * - A claim is kept only if it begins within two seconds of now, by the store's own clock; otherwise `conflict`.
 * - An unreachable or broken store rejects with `StoreFailure`, never with absent facts.
 * - Facts and arguments are never shared: changing one afterwards changes nothing in the store.
 */
export interface UnitOfWork {
  load<Subject extends keyof Subjects>(question: Question<Subject>, command: CommandStamp): Promise<Loaded<Subject>>
  commit(unit: Unit): Promise<CommitOutcome>
  /** The store's clock, as well as it is known without asking; `undefined` until it was asked once. */
  estimateNow(): Instant | undefined
}
