import { sep } from 'node:path'
import type { Conversation } from '../../../domain/conversation/conversation.ts'
import type { HandoffHistory } from '../../../services/history/handoff-history.ts'
import { workspaceOf } from '../../place/workspace.ts'

/** So many of the newest sessions are looked at for one that worked here. */
const MOST_SESSIONS = 100

/** The folder of a conversation. */
export const placeOf = (conversation: Conversation | undefined): string | undefined =>
  conversation?.workspace?.worktreePath ?? conversation?.workspace?.workingDirectory

/** The conversation whose session was started last; without any session, the one that was opened last. */
export const latestOfAll = async (history: HandoffHistory): Promise<Conversation | undefined> => {
  const [session] = (await history.listSessions({ order: 'newest_first' }, { limit: 1 })).items
  if (session !== undefined) return history.conversation(session.conversationId)
  return (await history.listConversations({ order: 'newest_first' }, { limit: 1 })).items[0]
}

/**
 * The conversation that worked last in the workspace around a folder, or else in a folder above it. One in which something
 * was said goes before one that was only started.
 */
export const latestHere = async (
  history: HandoffHistory,
  folder: string = process.cwd(),
): Promise<Conversation | undefined> => {
  const here = workspaceOf(folder)
  if (here === undefined) return undefined
  const candidates = await newestConversations(history)
  const above = (place: string): boolean => here.startsWith(place.endsWith(sep) ? place : `${place}${sep}`)
  for (const isNear of [(place: string) => place === here, above])
    for (const conversation of candidates) {
      const place = workspaceOf(placeOf(conversation) ?? '')
      if (place !== undefined && isNear(place)) return conversation
    }
  return undefined
}

/** The conversations of the newest sessions; those in which something was said first. */
const newestConversations = async (history: HandoffHistory): Promise<readonly Conversation[]> => {
  const { items } = await history.listSessions({ order: 'newest_first' }, { limit: MOST_SESSIONS })
  const spoken = items.filter(({ progress }) => progress.turns > 0)
  const ids = new Set([...spoken, ...items].map(({ conversationId }) => conversationId))
  const found = await Promise.all([...ids].map((id) => history.conversation(id)))
  return found.filter((conversation) => conversation !== undefined)
}
