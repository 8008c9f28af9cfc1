import type { CommandId, ConversationId } from '../../domain/kernel/ids.ts'
import type { TerminalRuntime } from './terminal-files.ts'
import type { PendingDocument } from './wire.ts'

/** A session that began with a pending document, with the summary of a thread or as a fork, and has taken no turn yet: whose conversation it is in is not decided. */
export interface Candidate {
  readonly v: 1
  readonly runtime: TerminalRuntime
  readonly providerSessionId: string
  /** The document that it began with, or the thread; of a fork an id of its own. */
  readonly pendingId: string
  /** The conversation of that document: it branches off from there if another session takes the document. */
  readonly branchOf?: ConversationId
  /** Whether its runtime made it as a copy of another session. */
  readonly isFork?: boolean
  /** The thread whose summary was in the memory file when it began; absent where it began with a document. */
  readonly thread?: ConversationId
  readonly workspace: string
  readonly cwd?: string
  readonly model?: string
  readonly transcriptPath?: string
  /** The prompts of its person so far. */
  readonly prompts: readonly { readonly commandId: CommandId; readonly prompt: string }[]
  readonly hasEnded: boolean
}

/** A document that a candidate has taken for itself, until the handoff is completed. */
export interface TakenPendingDocument {
  readonly pending: PendingDocument
  readonly by: string
}

/**
 * Keeps documents that wait for the next session of a workspace, and the sessions that may become it. The domain decides
 * what happens to a document (`DOCUMENT_TRANSITIONS`). Every implementation keeps these promises:
 * - a document is in one place at a time: it is pending, or taken by one candidate, or over;
 * - a workspace has one pending document, and a written one takes the place of the one before;
 * - a document that waits no longer, or that another one has replaced, is not moved;
 * - what is read is what was written, and forgetting it twice changes nothing.
 */
export interface PendingFiles {
  /** The workspace of a folder. Absent where there is no such folder. */
  workspaceOf(folder: string): string | undefined
  readPending(workspace: string): Promise<PendingDocument | undefined>
  writePending(document: PendingDocument): Promise<void>
  listPending(): Promise<readonly PendingDocument[]>
  /** Moves a pending document to the candidate that has it from now on. False, and nothing moves, unless it waits. */
  takePending(document: PendingDocument, by: string): Promise<boolean>
  listTaken(): Promise<readonly TakenPendingDocument[]>
  forgetTaken(taken: TakenPendingDocument): Promise<void>
  /**
   * Moves a pending document to those that are over: its session is still to be ended, if its terminal has ended. False, and
   * nothing moves, unless it waits.
   */
  closePending(document: PendingDocument): Promise<boolean>
  listClosed(): Promise<readonly PendingDocument[]>
  forgetClosed(document: PendingDocument): Promise<void>
  listCandidates(): Promise<readonly Candidate[]>
  writeCandidate(candidate: Candidate): Promise<void>
  forgetCandidate(providerSessionId: string): Promise<void>
}
