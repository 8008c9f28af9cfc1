import type { Conversation } from '../../../domain/conversation/conversation.ts'
import type { ConversationId } from '../../../domain/kernel/ids.ts'
import { sessionAround } from '../../../main/runtimes.ts'
import type { HandoffHistory } from '../../../services/history/handoff-history.ts'
import { workspaceOf } from '../../place/workspace.ts'
import type { Invocation } from '../tree/command.ts'
import { notFound } from './history-args.ts'
import { placeOf } from './latest-conversation.ts'
import { conversationOf, namesSubject, subjectIn } from './subject.ts'
import { workspaceIn } from './with-threads.ts'

/** As many sessions are looked at for one that worked here. */
const MOST_SESSIONS = 100

/** The conversation that a thread is to continue. */
export interface ThreadSource {
  readonly parent: Conversation
  /** Whether nobody named it: it is the latest one here. */
  readonly isGuess: boolean
}

/** The conversation that a thread is to continue: named, the one the command was typed in, or the latest one here. */
export const sourceOf = async (invocation: Invocation, history: HandoffHistory): Promise<ThreadSource> => {
  const known = (await named(invocation, history)) ?? (await around(invocation, history))
  const id = known ?? (await latest(invocation, history))
  const parent = id && (await history.conversation(id))
  if (parent === undefined)
    throw notFound('conversation', 'none has worked in this workspace. Name one by its key or id')
  return { parent, isGuess: known === undefined }
}

const named = async (invocation: Invocation, history: HandoffHistory): Promise<ConversationId | undefined> => {
  const subject = subjectIn(invocation, { kinds: ['conversation', 'session'], flag: 'from', isChange: true })
  const isNamed = namesSubject(invocation) || invocation.values.from !== undefined
  return isNamed ? conversationOf(history, await subject(history)) : undefined
}

/** The conversation of the agent's session that the command was typed in. */
const around = async ({ environment }: Invocation, history: HandoffHistory): Promise<ConversationId | undefined> => {
  const session = sessionAround(environment)
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
