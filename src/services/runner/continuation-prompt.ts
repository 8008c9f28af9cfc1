import { continuationPrompt, minimalContinuation } from '../../domain/continuation.ts'
import type { HandoffMetadata } from '../../domain/handoff.ts'
import { reviewed } from './ask-checkpoint.ts'
import { newPrompt } from './launch.ts'
import type { RunInProgress } from './run-in-progress.ts'

/** A handoff that has a checkpoint. */
type Checkpointed = HandoffMetadata & { readonly document: string }

/** The opening of a successor: the checkpoint of its handoff, or the latest before it, or the task alone. */
export const continuationOf = async (run: RunInProgress, handoff: HandoffMetadata, nonce: string): Promise<string> => {
  if (hasCheckpoint(handoff)) return continuationFrom(run, handoff, nonce)
  return (await fromRecord(run, nonce)) ?? minimalContinuation({ originalTask: run.conversation.originalTask })
}

/**
 * The opening of a session that continues unfinished work: the latest checkpoint on record, or, when the prompt is the
 * same as before, the task alone. A new prompt stands after it.
 */
export const openingAfter = async (
  run: RunInProgress,
  { hasSpoken }: { readonly hasSpoken: boolean },
): Promise<string> => {
  const asked = newPrompt(run)
  const continued = await fromRecord(run, run.deps.ids.next())
  if (continued !== undefined) return asked === undefined ? continued : `${continued}\n\n${asked}`
  const { originalTask } = run.conversation
  return asked === undefined && hasSpoken ? minimalContinuation({ originalTask }) : run.request.prompt
}

const NOT_THE_LATEST =
  'Work went on after that checkpoint was written, and nobody has reported on it. Look at what is there before you ' +
  'repeat a step.'

const fromRecord = async (run: RunInProgress, nonce: string): Promise<string | undefined> => {
  const restarts = { conversationId: run.conversation.id, kind: 'context_restart', order: 'newest_first' } as const
  for await (const handoff of run.deps.handoffs.eachHandoff(restarts))
    if (hasCheckpoint(handoff)) return `${await continuationFrom(run, handoff, nonce)}\n\n${NOT_THE_LATEST}`
  return undefined
}

const hasCheckpoint = (handoff: HandoffMetadata): handoff is Checkpointed => handoff.document !== undefined

/** Made of what is stored, and so redacted already: only then is it fenced. */
const continuationFrom = async (run: RunInProgress, handoff: Checkpointed, nonce: string): Promise<string> => {
  const { originalTask } = run.conversation
  const from = { sessionId: handoff.sourceSessionId, handoffId: handoff.id, at: handoff.initiatedAt }
  const checkpoint = await reviewed(run, handoff.document)
  const parts = { originalTask, checkpoint, from, nonce }
  const template = run.setting('continuation')
  return typeof template === 'function' ? template(parts) : continuationPrompt(parts, template)
}
