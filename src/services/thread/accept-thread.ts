import { defined } from '../../domain/kernel/defined.ts'
import { describeThrown } from '../../domain/kernel/describe-thrown.ts'
import { later } from '../../domain/kernel/instant.ts'
import { err, ok, type Result } from '../../domain/kernel/result.ts'
import type { BlockRefusal } from '../../domain/memory-block/block-refusal.ts'
import type { HeldBlock } from '../../domain/memory-block/memory-block.ts'
import type { ThreadOpened } from '../../domain/thread/open-thread.ts'
import { type ThreadDraft, threadKeyOf } from '../../domain/thread/thread-draft.ts'
import { type ThreadNote, threadNoteOf } from '../../domain/thread/thread-note.ts'
import type { ThreadRefusal } from '../../domain/thread/thread-refusal.ts'
import type { MaybeHeld, Reply } from '../commands/answers.ts'
import { derivedCommand } from '../commands/derived-command.ts'
import type { MemoryBlocks } from './memory-blocks.ts'
import { pathOf } from './thread-cleanup.ts'
import { DEFAULT_BLOCK_MS, type ThreadDeps } from './thread-deps.ts'
import type { AcceptOptions, ThreadAccepted } from './thread-requests.ts'

/** The parts of accepting a draft. */
interface Accepting {
  readonly draft: ThreadDraft
  readonly held: HeldBlock
  readonly options: AcceptOptions
}

/**
 * Accepts a draft: the block first, then the thread in one commit. A thread that could not be opened takes its block back
 * with it; the first error is the one that is told, and a failed undo goes to the log beside it.
 */
export const acceptThread = async (
  deps: ThreadDeps,
  blocks: MemoryBlocks,
  accepting: Pick<Accepting, 'draft' | 'options'>,
): Promise<Result<ThreadAccepted, ThreadRefusal>> => {
  const { draft, options } = accepting
  const threadKey = options.key ?? threadKeyOf(draft)
  const existing = await deps.store.conversations.findByExternalKey(threadKey)
  const note = existing && threadNoteOf(existing)
  if (existing !== undefined && note?.handoff_draft !== draft.id)
    return err({ code: 'conversation.key_taken', externalKey: threadKey, conversationId: existing.id })
  const now = deps.clock.now()
  const expiresAt = note?.handoff_expires_at ?? later(now, deps.settings.expiresMs ?? DEFAULT_BLOCK_MS)
  const of = { threadKey, draftId: draft.id, sourceThreadId: draft.source.conversationId }
  const held = { ...of, expiresAt, summary: draft.summary.text }
  // Only what is this draft's, and while no thread has it.
  const undo = (): Promise<void> =>
    existing === undefined ? takeBack(deps, blocks, { draft, held }) : Promise.resolve()
  // Accepted again after its first exchange, it stays as it is.
  const isOver = note?.handoff_pending === false
  const filled = isOver ? ok(false) : await orUndo(undo, () => blocks.fill(draft.target, held))
  if (!filled.ok) return filled
  const opened = await orUndo(undo, () => open(deps, { draft, held, options }))
  if (!opened.ok) {
    await undo()
    return opened
  }
  return ok({ ...opened.value, threadKey, path: pathOf(draft.target), expiresAt, warnings: [] })
}

const orUndo = async <T>(undo: () => Promise<void>, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    await undo()
    throw error
  }
}

const takeBack = async (
  { logger }: ThreadDeps,
  blocks: MemoryBlocks,
  { draft, held: { threadKey, draftId } }: Pick<Accepting, 'draft' | 'held'>,
): Promise<void> => {
  const file = pathOf(draft.target)
  try {
    const reset: Result<boolean, BlockRefusal> = await blocks.reset(draft.target, defined({ threadKey, draftId }))
    if (!reset.ok) logger.warn({ file, refusal: reset.error.code }, NOT_TAKEN_BACK)
  } catch (error) {
    logger.warn({ file, problem: describeThrown(error) }, NOT_TAKEN_BACK)
  }
}

const NOT_TAKEN_BACK =
  'the thread was not opened, and its summary could not be taken out of the file: it ends with its time, or with a cleanup'

/** The summary is in the file alone: told in the opening as well, it would stay in the window for good. */
const open = (deps: ThreadDeps, { draft, held, options }: Accepting): Reply<MaybeHeld<ThreadOpened>> => {
  const { source, target, summary } = draft
  const { agent = source.agentName, backend, model, task } = options
  const note: ThreadNote = {
    handoff_pending: true,
    handoff_source_thread_id: source.conversationId,
    handoff_memory_file: target.file,
    handoff_workspace: target.workspace,
    handoff_expires_at: held.expiresAt,
    handoff_draft: draft.id,
  }
  const child = { ...options.child, externalKey: held.threadKey, originalTask: task ?? source.task }
  return deps.handoffs.openThread(
    defined({
      session: source.sessionId,
      // A person accepts the draft; the session that it comes from may have ended.
      byHand: true as const,
      targetAgent: agent,
      backend,
      model,
      reason: options.reason ?? 'A new thread takes along what matters.',
      document: summary.text,
      continuation: openingOf(draft, task),
      child: defined({ ...child, metadata: { ...options.child?.metadata, ...note } }),
      commandId: derivedCommand(deps.sha256, draft.id, 'open'),
    }),
  )
}

const openingOf = ({ source }: ThreadDraft, task: string | undefined): string =>
  task ??
  `This thread continues earlier work, of which the memory file has a summary. The task there:\n\n${source.task}`
