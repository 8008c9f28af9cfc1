import { closeConversation } from '../../src/domain/conversation/change-conversation.ts'
import { type InitiateHandoff, initiateHandoff } from '../../src/domain/handoff/initiate-handoff.ts'
import {
  type AcceptHandoff,
  acceptHandoff,
  type CompleteHandoff,
  completeHandoff,
  type EndHandoff,
  endHandoff,
} from '../../src/domain/handoff/settle-handoff.ts'
import { defined } from '../../src/domain/kernel/defined.ts'
import {
  agentSessionId,
  conversationId,
  lookBackId,
  messageId,
  signalId,
  snapshotId,
} from '../../src/domain/kernel/ids.ts'
import { type RecordTurns, recordTurns } from '../../src/domain/recording/record-turns.ts'
import { beginRestart } from '../../src/domain/restart/begin-restart.ts'
import { resumeSession, type TakeOver, takeOverSession } from '../../src/domain/session/change-session.ts'
import { type RecordLookBack, recordLookBack } from '../../src/domain/session/looked-back.ts'
import type { LeaseAsked } from '../../src/domain/session/process-identity.ts'
import { type OpenThread, openThread } from '../../src/domain/thread/open-thread.ts'
import { HANDOFF, HOLDER, LATER, proofOf, SNAPSHOT, uuid } from '../domain/samples.ts'
import type { Past } from './past.ts'
import { type Said, turnOf } from './told.ts'

/** The ids that the commands of a story make. */
export const NEW_HANDOFF = HANDOFF
const NEW_PROOF = proofOf(900)
export const NEW_HOLDER = NEW_PROOF.token
/** The digest of {@link NEW_HOLDER}. */
export const NEW_DIGEST = NEW_PROOF.digest
export const NEW_SESSION = agentSessionId(uuid(901))
export const NEW_LOOK_BACK = lookBackId(uuid(905))
export const NEW_CONVERSATION = conversationId(uuid(902))
const handoffIds = { handoffId: NEW_HANDOFF, snapshotId: SNAPSHOT }
const sessionIds = {
  sessionId: NEW_SESSION,
  holder: NEW_PROOF,
  snapshotId: snapshotId(uuid(904)),
  openingId: messageId(uuid(903)),
}

export const initiate = (request: Omit<InitiateHandoff, 'sessionId'>) => (past: Past) =>
  initiateHandoff(
    past.sourceFacts(),
    { sessionId: past.session.id, byHand: true, ...request },
    { ids: handoffIds, at: LATER },
  )

export const accept = (request: Omit<AcceptHandoff, 'handoffId'>) => (past: Past) =>
  acceptHandoff(past.handoffFacts(), { handoffId: past.handoff.id, ...request }, LATER)

/** `isHeld` when all that is known is what accepting answered with: what people said is not among it. */
export const complete =
  ({ isHeld = false, ...request }: Omit<CompleteHandoff, 'handoffId'> & { readonly isHeld?: boolean } = {}) =>
  (past: Past) => {
    const { personMessages, ...held } = past.handoffFacts()
    const facts = isHeld ? held : defined({ personMessages, ...held })
    return completeHandoff(facts, { handoffId: past.handoff.id, ...request }, { ids: sessionIds, at: LATER })
  }

const end = (type: 'cancel' | 'fail', request: Omit<EndHandoff, 'handoffId'>) => (past: Past) =>
  endHandoff(past.handoffFacts(), { handoffId: past.handoff.id, ...request }, { type, at: LATER })

export const cancel = (request: Omit<EndHandoff, 'handoffId'>) => end('cancel', request)

export const fail = (request: Omit<EndHandoff, 'handoffId'>) => end('fail', request)

/** Turns from the holder of the session; `isHeld` when all that is known is what the holder has at hand. */
export const record =
  (said: readonly Said[], { isHeld = false, ...request }: Partial<RecordTurns> & { readonly isHeld?: boolean } = {}) =>
  (past: Past) => {
    let signals = 0
    return recordTurns(
      isHeld ? past.heldFacts() : past.sourceFacts(),
      { sessionId: past.session.id, holder: HOLDER, ...request },
      {
        drafts: said.map((turn, index) => turnOf(past.turns.length + 1 + index, turn)),
        ids: { handoff: handoffIds, signal: () => signalId(uuid(700 + signals++)) },
        at: LATER,
      },
    )
  }

export const restart = () => (past: Past) =>
  beginRestart(past.sourceFacts(), { sessionId: past.session.id, holder: HOLDER }, { ids: handoffIds, at: LATER })

/** Puts on record that the latest session looked back. */
export const lookedBack = (request: RecordLookBack) => (past: Past) =>
  recordLookBack(past.sessionFacts(), { sessionId: past.session.id, ...request }, { id: NEW_LOOK_BACK, at: LATER })

export const takeOver =
  (request: TakeOver = {}) =>
  (past: Past) =>
    takeOverSession(past.sessionFacts(), { sessionId: past.session.id, ...request }, { holder: NEW_PROOF, at: LATER })

/** Resumes the latest session, or the one that is named. */
export const resume =
  (request: LeaseAsked & { readonly sessionId?: Past['session']['id'] } = {}) =>
  (past: Past) => {
    const { sessionId = past.session.id } = request
    return resumeSession(
      past.sessionFacts(sessionId),
      { byHand: true, ...request, sessionId },
      { holder: NEW_PROOF, at: LATER },
    )
  }

export const close = () => (past: Past) =>
  closeConversation(past.conversationFacts(), { conversationId: past.conversation.id, type: 'close' }, LATER)

export const thread = (request: Omit<OpenThread, 'sessionId'>) => (past: Past) =>
  openThread(
    past.sourceFacts(),
    { sessionId: past.session.id, byHand: true, ...request },
    { ids: { ...handoffIds, conversationId: NEW_CONVERSATION, session: sessionIds }, at: LATER },
  )
