import { sep } from 'node:path'
import { type Conversation, conversationState } from '../../../domain/conversation/conversation.ts'
import { titleOf } from '../../../domain/conversation/title.ts'
import type { ConversationId } from '../../../domain/kernel/ids.ts'
import { type AgentSession, heldBy } from '../../../domain/session/agent-session.ts'
import type { HandoffHistory } from '../../../services/history/handoff-history.ts'
import { homeOf } from '../../place/home-folder.ts'
import type { Column } from './text-table.ts'

/** A row of a list, and the conversation it belongs to. */
export interface InConversation<Item> {
  readonly item: Item
  readonly conversation?: Conversation
}

/** Items with the conversations they belong to; each conversation is read once for a page. */
export const withConversations = async <Item extends { readonly conversationId: ConversationId }>(
  history: HandoffHistory,
  items: readonly Item[],
): Promise<readonly InConversation<Item>[]> => {
  const ids = [...new Set(items.map(({ conversationId }) => conversationId))]
  const found = new Map(await Promise.all(ids.map(async (id) => [id, await history.conversation(id)] as const)))
  return items.map((item) => {
    const conversation = found.get(item.conversationId)
    return { item, ...(conversation && { conversation }) }
  })
}

/** A conversation and its newest session, if it has one. */
export interface WithSession {
  readonly conversation: Conversation
  readonly session?: AgentSession
}

/** Conversations with their newest sessions. */
export const withSessions = (
  history: HandoffHistory,
  conversations: readonly Conversation[],
): Promise<readonly WithSession[]> =>
  Promise.all(
    conversations.map(async (conversation) => {
      const session = await newestSession(history, conversation.id)
      return { conversation, ...(session && { session }) }
    }),
  )

/** The newest session of a conversation. */
export const newestSession = async (
  history: HandoffHistory,
  conversationId: ConversationId,
): Promise<AgentSession | undefined> =>
  (await history.listSessions({ conversationId, order: 'newest_first' }, { limit: 1 })).items[0]

/** One word for how a conversation is: closed, or the state of its newest session. */
export const stateOf = ({ conversation, session }: WithSession): string => {
  if (conversation.closedAt !== undefined || session === undefined) return conversationState(conversation)
  return heldBy(session) === undefined ? session.state : 'held'
}

/** The column with the title of a conversation. A row that cannot be read whole is listed all the same, and says so. */
export const titleColumn = <Row>(of: (row: Row) => Conversation | undefined): Column<Row> => ({
  title: 'TITLE',
  of: (row) => {
    const conversation = of(row)
    if (conversation === undefined) return ''
    const { broken } = conversation
    const remark = broken === undefined ? '' : `[broken: ${broken.join(', ')}; see "baton audit verify --all"] `
    return `${remark}${titleOf(conversation)}`
  },
})

/** The column with the folder of a conversation. */
export const folderColumn = <Row>(
  of: (row: Row) => Conversation | undefined,
  home: string | undefined,
): Column<Row> => ({
  ...{ title: 'FOLDER', most: 24, importance: 3, keepsEnd: true },
  of: (row) => inHome(conversationFolder(of(row)) ?? '', home),
})

/** The folder that a conversation works in. */
export const conversationFolder = (conversation: Conversation | undefined): string | undefined =>
  conversation?.workspace?.worktreePath ?? conversation?.workspace?.workingDirectory

/** A folder as people write it: their own home is `~`. */
export const inHome = (folder: string, home = homeOf(process.env)): string => {
  const isInside = home !== '' && (folder === home || folder.startsWith(`${home}${sep}`))
  return isInside ? `~${folder.slice(home.length)}` : folder
}
