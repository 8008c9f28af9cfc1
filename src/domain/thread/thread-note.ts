import type { Conversation } from '../conversation/conversation.ts'
import type { ConversationId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import type { Metadata } from '../kernel/metadata.ts'
import type { HeldBlock } from '../memory-block/memory-block.ts'

/** The marks on the conversation of a thread, in its note: beside them the caller may keep marks of its own. */
export interface ThreadNote {
  /** Whether its summary still waits in a memory file for its first exchange. */
  readonly handoff_pending: boolean
  readonly handoff_source_thread_id: ConversationId
  /** The file that the summary was written to, by its name in the workspace. */
  readonly handoff_memory_file: string
  readonly handoff_workspace: string
  readonly handoff_expires_at: Instant
  /** The draft that was accepted. */
  readonly handoff_draft: string
}

const TEXTS = [
  'handoff_source_thread_id',
  'handoff_memory_file',
  'handoff_workspace',
  'handoff_expires_at',
  'handoff_draft',
] as const

/** The marks of a thread on a conversation; undefined where it is none. The note is the caller's: anything may be in it. */
export const threadNoteOf = ({ metadata }: Pick<Conversation, 'metadata'>): ThreadNote | undefined => {
  const note = metadata as Readonly<Record<string, unknown>> | undefined
  if (note === undefined || typeof note.handoff_pending !== 'boolean') return undefined
  return TEXTS.every((name) => typeof note[name] === 'string') ? (note as unknown as ThreadNote) : undefined
}

/** Whether a conversation is the thread that a summary is for. Its key alone does not say so: two stores may have the same. */
export const isThreadOf = (
  { draftId, sourceThreadId }: Pick<HeldBlock, 'draftId' | 'sourceThreadId'>,
  conversation: Pick<Conversation, 'metadata'>,
): boolean => {
  const note = threadNoteOf(conversation)
  return note?.handoff_source_thread_id === sourceThreadId && note.handoff_draft === draftId
}

/** The note of a thread whose first exchange is over. */
export const withoutPending = ({ metadata }: Pick<Conversation, 'metadata'>): Metadata => ({
  ...metadata,
  handoff_pending: false,
})

/** Whether the summary of a thread waits for its first exchange. */
export const isPendingThread = (conversation: Pick<Conversation, 'metadata'>): boolean =>
  threadNoteOf(conversation)?.handoff_pending === true
