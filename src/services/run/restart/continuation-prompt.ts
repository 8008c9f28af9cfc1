import {
  type ContinuationOpening,
  continuationPrompt,
  LOOK_BACK_NOTE,
  minimalContinuation,
  withRecap,
} from '../../../domain/checkpoint/continuation.ts'
import { type EarlierWork, earlierWork } from '../../../domain/checkpoint/earlier-work.ts'
import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { AgentSession } from '../../../domain/session/agent-session.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import { reviewed } from './ask-checkpoint.ts'
import { recapOfLost, recapOfSession } from './lost-checkpoint.ts'
import { type OpeningParts, personWordsOf } from './run-person-words.ts'

/** A handoff that has a checkpoint. */
type Checkpointed = HandoffMetadata & { readonly document: string }

/**
 * The opening of a successor: the checkpoint of its handoff; or else the latest earlier checkpoint, if there is one,
 * and a recap of the record since then.
 */
export const continuationOf = async (run: OpeningParts, handoff: HandoffMetadata, nonce: string): Promise<string> => {
  if (hasCheckpoint(handoff)) return continuationFrom(run, handoff, nonce)
  const recap = { text: await recapOfLost(run, handoff), nonce }
  const earlier = await fromRecord(run, nonce)
  if (earlier !== undefined) return withRecap(earlier, recap)
  return minimalContinuation({ ...(await openingFor(run, nonce)), recap })
}

/**
 * The note about the tool `look_back`, for an agent that has it. It stands after every continuation, also one of the
 * user's own.
 */
export const lookBackNote = async ({ tools }: Pick<RunInProgress, 'tools'>): Promise<string | undefined> =>
  (await tools.serve()) ? LOOK_BACK_NOTE : undefined

/** The task, and the person's other words. */
const openingFor = async (run: OpeningParts, nonce: string): Promise<ContinuationOpening> => {
  const originalTask = run.conversation.task
  return { originalTask, personWords: { chosen: await personWordsOf(run), nonce } }
}

/** The opening of a session that continues the unfinished work of an earlier one, without a further prompt. */
export const continuationAfter = async (run: OpeningParts, nonce: string): Promise<string> => {
  const worked = await lastWorked(run)
  if (worked === undefined) return run.conversation.task
  const handoff = await latestCheckpoint(run)
  const text = worked.id === handoff?.sourceSessionId ? '' : await recapOfSession(run, worked)
  const recap = { text, nonce }
  if (handoff === undefined) return minimalContinuation({ ...(await openingFor(run, nonce)), recap })
  return withRecap(`${await continuationFrom(run, handoff, nonce)}\n\n${NOT_THE_LATEST}`, recap)
}

/** The newest session of the conversation that has answered at all. */
const lastWorked = async (run: OpeningParts): Promise<AgentSession | undefined> => {
  const { id: conversationId } = run.conversation
  for await (const session of run.deps.history.eachSession({ conversationId, order: 'newest_first' }))
    if (session.progress.turns > 0) return session
  return undefined
}

/** The record of a conversation, for a session that starts in a fresh window with a further prompt. */
export const recordBefore = async (run: OpeningParts, latest: AgentSession, nonce: string): Promise<string> => {
  const handoff = await latestCheckpoint(run)
  const checkpoint = handoff && {
    text: (await reviewed(run, handoff.document)).text,
    sessionId: handoff.sourceSessionId,
    handoffId: handoff.id,
    at: handoff.initiatedAt,
  }
  const chosen = await personWordsOf(run)
  const answer = await lastAnswer(run, latest)
  // The last answer of a completed session says how things stand. Another session may have left them half done.
  const recap = latest.state === 'completed' ? '' : await recapOfSession(run, latest)
  return earlierWork({ ...defined({ checkpoint, answer }), recap, chosen, nonce })
}

/** How many of the latest messages of a session are searched for its last answer. */
const LATEST_MESSAGES = 50

const lastAnswer = async (run: OpeningParts, { id }: AgentSession): Promise<EarlierWork['answer'] | undefined> => {
  const latest = await run.retryThroughOutage(() => run.deps.store.messages.listLatest(id, LATEST_MESSAGES))
  const answer = latest.findLast(({ role, text }) => role === 'assistant' && text.trim() !== '')
  return answer && { text: answer.text, sessionId: answer.sessionId, at: answer.recordedAt }
}

const NOT_THE_LATEST =
  'Work went on after that checkpoint was written, and nobody has reported on it. Look at what is there before you ' +
  'repeat a step.'

const fromRecord = async (run: OpeningParts, nonce: string): Promise<string | undefined> => {
  const handoff = await latestCheckpoint(run)
  return handoff && `${await continuationFrom(run, handoff, nonce)}\n\n${NOT_THE_LATEST}`
}

const latestCheckpoint = async (run: OpeningParts): Promise<Checkpointed | undefined> => {
  const restarts = { conversationId: run.conversation.id, kind: 'context_restart', order: 'newest_first' } as const
  for await (const handoff of run.deps.history.eachHandoff(restarts)) if (hasCheckpoint(handoff)) return handoff
  return undefined
}

const hasCheckpoint = (handoff: HandoffMetadata): handoff is Checkpointed => handoff.document !== undefined

/** Made of stored texts, which are redacted already, so that the fences stand around the redacted text. */
const continuationFrom = async (run: OpeningParts, handoff: Checkpointed, nonce: string): Promise<string> => {
  const from = { sessionId: handoff.sourceSessionId, handoffId: handoff.id, at: handoff.initiatedAt }
  const checkpoint = await reviewed(run, handoff.document)
  const isUnstructured = handoff.flags.includes('checkpoint_unstructured')
  const parts = {
    ...(await openingFor(run, nonce)),
    checkpoint,
    from,
    nonce,
    ...(isUnstructured && { isUnstructured }),
  }
  const template = run.setting('continuation')
  return typeof template === 'function' ? template(parts) : continuationPrompt(parts, template)
}
