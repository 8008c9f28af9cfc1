import { defined } from '../../domain/kernel/defined.ts'
import type { ConversationId } from '../../domain/kernel/ids.ts'
import { isWaitingThread } from '../../domain/session/agent-session.ts'
import { isPendingThread } from '../../domain/thread/thread-note.ts'
import type { Candidate } from '../../ports/terminal/pending-files.ts'
import type { FollowedSession } from './followed-session.ts'
import type { TerminalDeps } from './terminal-deps.ts'
import type { TerminalSessions } from './terminal-sessions.ts'

/**
 * Makes a terminal the first session of the thread whose summary it began with. The session waits on record since the
 * thread was opened: it is taken over and gets the name of the terminal. Undefined where somebody else has it.
 */
export const beginThread = async (
  deps: TerminalDeps,
  sessions: TerminalSessions,
  { thread, runtime, providerSessionId, cwd, transcriptPath }: Candidate & { readonly thread: ConversationId },
): Promise<FollowedSession | undefined> => {
  const conversation = await deps.store.conversations.find(thread)
  const first = await deps.store.sessions.findBaton(thread)
  if (conversation === undefined || first === undefined || !isPendingThread(conversation)) return undefined
  // One that was interrupted after it had got its name takes it over again.
  const isMine = first.providerSessionId === providerSessionId
  if (!isMine && !isWaitingThread(first)) return undefined
  const how = isMine ? {} : { ifAbandoned: true as const }
  const taken = await deps.handoffs.takeOverSession({ session: first.id, ...how })
  const named = taken.ok ? await deps.handoffs.attachSession({ ...taken.value, providerSessionId }) : taken
  // A person works the session: nobody would carry out a restart that a turn begins by itself.
  const settings = { policy: 'advise' as const }
  const watched = named.ok ? await deps.context.watch({ session: first.id, settings }) : named
  if (!taken.ok || !named.ok || !watched.ok) return undefined
  const session = (await deps.store.sessions.find(first.id)) ?? named.value.session
  const { holder } = taken.value
  const at = await sessions.takeUp({ runtime, providerSessionId, session, holder, monitor: watched.value.monitor })
  at.keep(defined({ cwd, transcriptPath, hasSummary: true }))
  await sessions.keep(at)
  return at
}
