import type { Conversation } from '../../domain/conversation/conversation.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { describeThrown } from '../../domain/kernel/describe-thrown.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import { err, ok, type Result } from '../../domain/kernel/result.ts'
import { inQuotes } from '../../domain/kernel/safe-text.ts'
import type { Refusal } from '../../domain/refusal.ts'
import type { ThreadDraft } from '../../domain/thread/thread-draft.ts'
import type { AgentMemoryFiles } from '../../ports/agent/vendor.ts'
import type { MemoryBlocks } from './memory-blocks.ts'
import { pathOf } from './thread-cleanup.ts'
import type { ThreadSettings } from './thread-deps.ts'

/** A choice of a memory file. */
interface Choice {
  readonly workspace?: string
  readonly file?: string
  /** The memory files of the agent. */
  readonly usual: AgentMemoryFiles
  readonly settings: ThreadSettings
}

/** The file that a summary goes to: the one that is named, that of the settings, or the usual one of the agent. */
export const targetFor = async (
  blocks: MemoryBlocks,
  conversation: Conversation,
  { usual, settings, ...named }: Choice,
): Promise<Result<ThreadDraft['target'], Refusal>> => {
  const own = conversation.workspace
  const workspace = named.workspace ?? own?.worktreePath ?? own?.workingDirectory
  if (workspace === undefined) return err({ code: 'thread.no_workspace', conversationId: conversation.id })
  const file = named.file ?? settings.file ?? usual.file
  const isTracked = await blocks.file({ workspace, file }).isTracked()
  const instead = isTracked && usual.untracked !== file ? usual.untracked : undefined
  const isSafe = instead !== undefined && !(await blocks.file({ workspace, file: instead }).isTracked())
  return ok(defined({ workspace, file, isTracked, untracked: isSafe ? instead : undefined }))
}

/** Everything about the file that a person should know before accepting. */
export const warningsOn = async (
  blocks: MemoryBlocks,
  target: ThreadDraft['target'],
  now: Instant,
): Promise<readonly string[]> => [
  ...(target.isTracked ? [trackedWarning(target)] : []),
  ...(await blockWarning(blocks, target, now)),
]

const trackedWarning = ({ untracked, ...target }: ThreadDraft['target']): string => {
  const instead =
    untracked === undefined
      ? 'For Claude put CLAUDE.local.md into .gitignore and use that file; Codex reads no file of that kind.'
      : `${untracked} is read as well, and git leaves it alone.`
  return `${pathOf(target)} is tracked by git, or would be with the next "git add": the summary could end in a commit before it is taken out again. ${instead}`
}

const blockWarning = async (
  blocks: MemoryBlocks,
  target: ThreadDraft['target'],
  now: Instant,
): Promise<readonly string[]> => {
  try {
    const block = await blocks.look(target)
    if (block.state !== 'held' || block.held.expiresAt <= now) return []
    const { threadKey, expiresAt } = block.held
    return [
      `${pathOf(target)} has a summary for the thread ${inQuotes(threadKey)} until ${expiresAt}: this one would be refused.`,
    ]
  } catch (error) {
    return [`${pathOf(target)} could not be read: ${describeThrown(error)}`]
  }
}
