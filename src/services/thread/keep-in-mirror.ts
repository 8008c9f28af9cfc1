import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import { describeThrown } from '../../domain/kernel/describe-thrown.ts'
import type { ThreadDraft } from '../../domain/thread/thread-draft.ts'
import type { ThreadDeps } from './thread-deps.ts'

/** Mirrors an accepted summary, for later questions. The record is whole without it, so this may fail. @returns warnings */
export const keepInMirror = async (
  { mirror, logger, redact }: ThreadDeps,
  { source, summary, refinements, isEdited }: ThreadDraft,
  handoff: HandoffMetadata,
): Promise<readonly string[]> => {
  if (handoff.status !== 'completed' || handoff.targetConversationId === undefined) return []
  try {
    const { text, plainText, tokens, modelUsed } = summary
    await mirror?.keep({
      handoffId: handoff.id,
      sourceThreadId: source.conversationId,
      targetThreadId: handoff.targetConversationId,
      agentName: source.agentName,
      summary: text,
      ...{ plainText, tokens, modelUsed, refinements, isEdited },
      timestamp: handoff.initiatedAt,
    })
    return []
  } catch (error) {
    const cause = redact(describeThrown(error))
    logger.warn({ handoffId: handoff.id, cause }, 'a summary was not mirrored; the thread is open all the same')
    return [`The thread is open, but its summary is missing from "baton thread history" (${cause}).`]
  }
}
