import type { CommandId } from '../../domain/kernel/ids.ts'
import { isTerminal } from '../../domain/session/agent-session.ts'
import { derivedCommand } from '../commands/derived-command.ts'
import type { FollowedSession } from './followed-session.ts'
import type { PendingDocuments } from './pending-documents.ts'
import type { TerminalDeps } from './terminal-deps.ts'

/**
 * Ends a session whose terminal has ended. One that a handoff holds is left to that handoff. One whose document waits is
 * ended when that is over: its successor takes the conversation from it.
 */
export const endSession = async (
  { handoffs, sha256 }: Pick<TerminalDeps, 'handoffs' | 'sha256'>,
  documents: PendingDocuments,
  at: FollowedSession,
  commandId?: CommandId,
): Promise<void> => {
  const { holder } = at.kept
  if (holder === undefined || isTerminal(at.session)) return
  if (await documents.isWaiting(at)) return at.keep({ hasEnded: true })
  const named = commandId === undefined ? {} : { commandId: derivedCommand(sha256, commandId, 'end') }
  const ended = await handoffs.completeSession({ session: at.session.id, holder, ...named })
  if (ended.ok) at.update(ended.value)
}
