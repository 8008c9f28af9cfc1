import { workspaceOf } from '../../command-parts.ts'
import type { Conversation } from '../../domain/conversation/conversation.ts'
import { agentSessionId, type ConversationId, conversationId } from '../../domain/kernel/ids.ts'
import type { HandoffHistory } from '../../services/handoff-history.ts'
import type { Invocation } from './command.ts'
import { idText, notFound, textFlag, understood } from './history-args.ts'
import { findWork } from './which-work.ts'
import { workspaceIn } from './with-threads.ts'

/** As many sessions are looked at for one that worked here. */
const MOST_SESSIONS = 100

/** The conversation that a thread is to continue: named, the one the command was typed in, or the latest one here. */
export const sourceOf = async (invocation: Invocation, history: HandoffHistory): Promise<Conversation> => {
  const id =
    (await named(invocation, history)) ?? (await around(invocation, history)) ?? (await latest(invocation, history))
  const found = id && (await history.conversation(id))
  if (found === undefined) throw notFound('conversation', 'none has worked in this workspace. Name one with --from')
  return found
}

const named = async (invocation: Invocation, history: HandoffHistory): Promise<ConversationId | undefined> => {
  const [from, key] = [textFlag(invocation, 'from'), textFlag(invocation, 'key')]
  if (from === undefined && key === undefined) return undefined
  const wanted = key === undefined ? { id: understood('--from', from ?? '', idText) } : { key }
  const { kind, id } = await findWork(history, wanted)
  return kind === 'conversation' ? conversationId(id) : (await history.session(agentSessionId(id)))?.conversationId
}

/** The conversation of the Claude Code session that the command was typed in. */
const around = async ({ environment }: Invocation, history: HandoffHistory): Promise<ConversationId | undefined> => {
  const session = environment.CLAUDE_CODE_SESSION_ID
  if (session === undefined || session.trim() === '') return undefined
  return (await history.sessionsOfProvider(session)).at(-1)?.conversationId
}

const latest = async (invocation: Invocation, history: HandoffHistory): Promise<ConversationId | undefined> => {
  const workspace = workspaceIn(invocation)
  const seen = new Set<ConversationId>()
  const { items } = await history.listSessions({ order: 'newest_first' }, { limit: MOST_SESSIONS })
  for (const { conversationId: id, progress } of items) {
    if (seen.has(id) || progress.turns === 0) continue
    seen.add(id)
    const place = placeOf(await history.conversation(id))
    if (place !== undefined && workspaceOf(place) === workspace) return id
  }
  return undefined
}

/** The folder of a conversation. */
export const placeOf = (conversation: Conversation | undefined): string | undefined =>
  conversation?.workspace?.worktreePath ?? conversation?.workspace?.workingDirectory
