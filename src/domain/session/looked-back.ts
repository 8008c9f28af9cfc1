import { type Change, type Decided, newDraft } from '../decision.ts'
import type { SessionFacts } from '../facts.ts'
import { beginningOf } from '../kernel/cut-text.ts'
import type { Aggregate, Begins } from '../kernel/draft.ts'
import type { DomainEvent } from '../kernel/event.ts'
import type { AgentSessionId, ConversationId, HandoffId, LookBackId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { err } from '../kernel/result.ts'
import type { AgentSession } from './agent-session.ts'

/** The ways to ask. */
export const LOOK_BACK_WAYS = ['call', 'turn', 'file', 'words'] as const

/** A way to ask. */
export type LookBackBy = (typeof LOOK_BACK_WAYS)[number]

/** A question of a session that looked back, as it is stored. */
export interface LookBackRecord {
  readonly id: LookBackId
  readonly conversationId: ConversationId
  readonly sessionId: AgentSessionId
  readonly by: LookBackBy
  /** The call id, the turn, the name or the words, cut to a few hundred characters. A text that can be erased. */
  readonly text: string
  /** How many messages the first answer had. */
  readonly found: number
  readonly askedAt: Instant
}

/** A look back as history shows it. */
export interface LookBackInHistory extends LookBackRecord {
  /** The number of the window that asked. */
  readonly epoch: number
  /** The handoff whose successor asked: its checkpoint left out what was asked for. */
  readonly handoffId?: HandoffId
}

/** A session looked back. */
export type LookedBack = DomainEvent<'session.looked_back', { lookBack: LookBackRecord }>

/** Something to put on record about a question that was asked. */
export interface RecordLookBack extends Pick<LookBackRecord, 'by' | 'text' | 'found'> {}

const MOST_KEPT = 300

/** As much of a question as is kept. */
export const keptQuestion = (text: string): string => beginningOf(text, MOST_KEPT)

/** A look back. It never changes. */
const LOOK_BACK: Aggregate<LookBackRecord, LookedBack, Change> & Begins<LookBackRecord, LookedBack> = {
  keyOf: ({ id }) => id,
  begin: ({ lookBack }) => lookBack,
  changesOf: ({ now: lookBack }) => [{ type: 'add_look_back', lookBack }],
}

/**
 * Puts on record what a session asked, whatever its state. It moves nothing and is compared with nothing, so that it
 * never stands in the way of a turn that is recorded at the same time.
 */
export const recordLookBack = (
  { working }: SessionFacts,
  { sessionId, by, text, found }: RecordLookBack & { readonly sessionId: AgentSessionId },
  { id, at }: { readonly id: LookBackId; readonly at: Instant },
): Decided<{ readonly session: AgentSession }> => {
  if (working === undefined) return err({ code: 'session.not_found', sessionId })
  const { session } = working
  const { conversationId } = session
  const lookBack = { id, conversationId, sessionId, by, text, found, askedAt: at }
  const draft = newDraft()
  draft.begin(LOOK_BACK, { type: 'session.looked_back', version: 1, conversationId, at, lookBack })
  return draft.finish({ session })
}
