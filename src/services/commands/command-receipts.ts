import type { Conversation } from '../../domain/conversation/conversation.ts'
import type { Answer } from '../../domain/decision.ts'
import {
  type HandoffMetadata,
  type HandoffStanding,
  handoffStandingOf,
  originOf,
  type PreparedSession,
} from '../../domain/handoff/handoff.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { ConversationId, SignalId, TurnId } from '../../domain/kernel/ids.ts'
import type { SequenceNumber } from '../../domain/kernel/sequence.ts'
import { withholdTexts } from '../../domain/kernel/texts.ts'
import {
  type AgentSession,
  type SessionStanding,
  sessionIdentityOf,
  standingOf,
} from '../../domain/session/agent-session.ts'
import type { ContextSignal } from '../../domain/session/context-signal.ts'
import type { ContextWindowSnapshot } from '../../domain/session/context-snapshot.ts'
import type { Turn } from '../../domain/turn/turn.ts'
import type { Receipt } from '../../ports/store/receipt.ts'
import type { Store } from '../../ports/store/store.ts'
import { StoreFailure } from '../../ports/store/store-failure.ts'

/** The receipt of an answer, so that it can be given again. */
export const receiptFor = (answer: Answer): Receipt => {
  const { conversation, session, handoff, turns, snapshot, monitor, signals, refusedBy } = answer
  return defined({
    conversationId: conversation?.id,
    closedAt: conversation?.closedAt,
    restartBudget: conversation?.restartBudget,
    session: session && { id: session.id, standing: withholdTexts(standingOf(session)) },
    handoff: handoff && { id: handoff.id, standing: withholdTexts(handoffStandingOf(handoff)) },
    turnIds: turns?.map(({ id }) => id),
    snapshotId: snapshot?.id,
    monitor,
    signalIds: signals?.map(({ id }) => id),
    refusedBy,
  })
}

/** The first answer again: what never changes is read, what may have changed comes from the receipt. */
export const answerAgain = async (receipt: Receipt, store: Store): Promise<Answer> => {
  const { conversationId, session, handoff, turnIds, snapshotId, monitor, signalIds, refusedBy } = receipt
  return defined({
    conversation: conversationId && (await conversationAsItStood(conversationId, receipt, store)),
    session: session && asItStood(await mustExist(session.id, store.sessions.find(session.id)), session.standing),
    handoff:
      handoff && handoffAsItStood(await mustExist(handoff.id, store.handoffs.find(handoff.id)), handoff.standing),
    turns: turnIds && (await turnsAsTheyStood(turnIds, session?.standing.progress.lastSequence, store)),
    snapshot: snapshotId && (await findSnapshot(snapshotId, store)),
    monitor,
    signals: signalIds && (await Promise.all(signalIds.map((id) => findSignal(id, store)))),
    refusedBy,
  })
}

/**
 * A conversation, closed or open and with the budget as it was then. Its note and its latest prompt are those it has now:
 * they are texts, which are kept in one place only.
 */
const conversationAsItStood = async (
  id: ConversationId,
  { closedAt, restartBudget }: Receipt,
  store: Store,
): Promise<Conversation> => {
  const { closedAt: _, ...conversation } = await mustExist(id, store.conversations.find(id))
  return { ...conversation, ...defined({ closedAt, restartBudget }) }
}

/** Turns without what was said after them: the last one may have been added to since. */
const turnsAsTheyStood = async (
  ids: readonly TurnId[],
  last: SequenceNumber | undefined,
  store: Store,
): Promise<readonly Turn[]> => {
  const turns = await Promise.all(ids.map((id) => mustExist(id, store.messages.findTurn(id))))
  return turns.map((turn) =>
    last === undefined || turn.range.end <= last
      ? turn
      : {
          ...turn,
          range: { start: turn.range.start, end: last },
          toolCalls: turn.toolCalls.filter(({ sequenceNumber }) => sequenceNumber <= last),
        },
  )
}

/** A snapshot that must be there. */
export const findSnapshot = (id: ContextWindowSnapshot['id'], store: Store): Promise<ContextWindowSnapshot> =>
  mustExist(id, store.snapshots.find(id))

/** A signal as it was queued, without its later state. */
const findSignal = async (id: SignalId, store: Store): Promise<ContextSignal> => {
  const { settledAt: _, ...signal } = await mustExist(id, store.signals.find(id))
  return { ...signal, status: 'queued' }
}

/** How things stood, with the text of an end taken from where it lives: an end never changes. */
const asItStood = (now: AgentSession, standing: SessionStanding): AgentSession => ({
  ...sessionIdentityOf(now),
  ...standing,
  ...(standing.state === 'failed' && now.state === 'failed' && { endReason: now.endReason }),
})

const handoffAsItStood = (now: HandoffMetadata, standing: HandoffStanding): HandoffMetadata => ({
  ...originOf(now),
  ...standing,
  ...('endReason' in standing && 'endReason' in now && { endReason: now.endReason }),
  // What goes with a handoff never changes once it is there.
  ...(standing.document !== undefined && defined({ document: now.document })),
  ...(standing.checkpoint !== undefined && defined({ checkpoint: now.checkpoint })),
  ...(isSamePrepared(standing, now) && { prepared: now.prepared }),
})

/** A later claimant may replace the opening of a successor, and it leaves the handoff when there is a successor. */
const isSamePrepared = (
  standing: HandoffStanding,
  now: HandoffMetadata,
): now is HandoffMetadata & { readonly prepared: PreparedSession } =>
  standing.status === 'accepted' &&
  now.status === 'accepted' &&
  now.prepared !== undefined &&
  standing.prepared?.sessionId === now.prepared.sessionId

const mustExist = async <T>(id: string, found: Promise<T | undefined>): Promise<T> => {
  const value = await found
  if (value === undefined) throw new StoreFailure('store.integrity', `A receipt names ${id}, which the store has lost`)
  return value
}
