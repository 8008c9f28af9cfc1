import { continuationPrompt, minimalContinuation } from '../../domain/continuation.ts'
import type { HandoffMetadata } from '../../domain/handoff.ts'
import { reviewed } from './ask-checkpoint.ts'
import { newPrompt } from './launch.ts'
import type { RunInProgress } from './run-in-progress.ts'

/** A handoff that has a checkpoint. */
type Checkpointed = HandoffMetadata & { readonly document: string }

/** What a successor opens with: the checkpoint of its handoff, or the latest before it, or the task alone. */
export const continuationOf = async (run: RunInProgress, handoff: HandoffMetadata): Promise<string> => {
  if (hasCheckpoint(handoff)) return continuationFrom(run, handoff)
  return (await fromRecord(run)) ?? minimalContinuation({ originalTask: run.conversation.originalTask })
}

/**
 * What a session opens with that goes on with work which was left unfinished: from the latest checkpoint on record, or,
 * asked in the same words, with the task alone. What was newly asked stands after it.
 */
export const openingAfter = async (
  run: RunInProgress,
  { hasSpoken }: { readonly hasSpoken: boolean },
): Promise<string> => {
  const asked = newPrompt(run)
  const continued = await fromRecord(run)
  if (continued !== undefined) return asked === undefined ? continued : `${continued}\n\n${asked}`
  const { originalTask } = run.conversation
  return asked === undefined && hasSpoken ? minimalContinuation({ originalTask }) : run.request.prompt
}

const NOT_THE_LATEST =
  'Work went on after that checkpoint was written, and nobody has reported on it. Look at what is there before you ' +
  'repeat a step.'

const fromRecord = async (run: RunInProgress): Promise<string | undefined> => {
  let latest: Checkpointed | undefined
  const restarts = { conversationId: run.conversation.id, kind: 'context_restart' } as const
  for await (const handoff of run.deps.handoffs.eachHandoff(restarts)) if (hasCheckpoint(handoff)) latest = handoff
  return latest && `${await continuationFrom(run, latest)}\n\n${NOT_THE_LATEST}`
}

const hasCheckpoint = (handoff: HandoffMetadata): handoff is Checkpointed => handoff.document !== undefined

const continuationFrom = async (run: RunInProgress, handoff: Checkpointed): Promise<string> => {
  const { originalTask } = run.conversation
  const from = { sessionId: handoff.sourceSessionId, handoffId: handoff.id, at: handoff.initiatedAt }
  const checkpoint = await reviewed(run, handoff.document)
  const parts = { originalTask, checkpoint, from, nonce: run.deps.ids.next() }
  const template = run.setting('continuation')
  return typeof template === 'function' ? template(parts) : continuationPrompt(parts, template)
}
