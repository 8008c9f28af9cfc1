import { type Conversation, taskOf } from '../../../domain/conversation/conversation.ts'
import { titleOf } from '../../../domain/conversation/title.ts'
import type { LineageSubject } from '../../../domain/history/lineage.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { agentSessionId, conversationId, handoffId } from '../../../domain/kernel/ids.ts'
import { RefusedError } from '../../../domain/unwrap.ts'
import { notFound, orderOf, textFlag } from '../choose/flag-values.ts'
import { conversationOf, type NamedThing } from '../choose/subject.ts'
import { folderColumn, stateOf, titleColumn, type WithSession, withSessions } from '../render/conversation-rows.ts'
import { renderLineage, sessionIdsIn } from '../render/lineage-tree.ts'
import { renderBlock, renderFacts } from '../render/text.ts'
import { age } from '../render/times.ts'
import { styleOf } from '../terminal/style.ts'
import { listCommand, type Noun, showCommand } from './noun.ts'

/** Conversations: listed by age. */
const CONVERSATIONS: Noun<Conversation, WithSession> = {
  things: 'conversations',
  list: (invocation) => {
    const isRoot = invocation.values.roots === true ? (true as const) : undefined
    const filter = defined({ subject: textFlag(invocation, 'subject'), isRoot, order: orderOf(invocation) })
    const now = Date.now()
    return {
      read: (history, page) => history.listConversations(filter, page),
      rows: withSessions,
      look: [
        { title: 'ID', of: ({ conversation: { id } }) => id, isId: true },
        titleColumn(({ conversation }) => conversation),
        folderColumn(({ conversation }) => conversation, invocation.environment.HOME),
        { title: 'STATE', of: stateOf, most: 10, importance: 4, style: (row) => styleOf(stateOf(row)) },
        { title: 'AGE', of: ({ conversation: { openedAt } }) => age(openedAt, now), most: 5, importance: 5 },
        { title: 'KEY', of: ({ conversation: { externalKey = '' } }) => externalKey, most: 16, importance: 2 },
        { title: 'SUBJECT', of: ({ conversation: { subject = '' } }) => subject, most: 12, importance: 1 },
      ],
    }
  },
  kinds: ['conversation'],
  show: async (history, thing, { hint }) => {
    const id = await conversationOf(history, thing)
    const found = await history.conversation(id)
    if (found === undefined) throw new RefusedError({ code: 'conversation.not_found', conversationId: id })
    return { document: found, lines: (columns) => lines(found, hint(`baton audit verify ${found.id}`), columns) }
  },
}

/** Lists conversations. */
export const conversationsList = listCommand(CONVERSATIONS)

/** Shows one conversation. */
export const conversationsShow = showCommand(CONVERSATIONS)

const lines = (
  { workspace, restartBudget, ...conversation }: Conversation,
  verify: string,
  columns: number,
): readonly string[] => [
  ...renderFacts(
    {
      conversation: conversation.id,
      title: titleOf(conversation),
      key: conversation.externalKey,
      subject: conversation.subject,
      opened: conversation.openedAt,
      'thread of': conversation.parentId,
      directory: workspace?.workingDirectory,
      worktree: workspace?.worktreePath,
      branch: workspace?.branch,
      'base branch': workspace?.baseBranch,
      restarts: `${restartBudget.maxRestarts} at most, then ${restartBudget.whenExhausted}`,
      broken: conversation.broken && `${conversation.broken.join(', ')}: run "${verify}"`,
    },
    columns,
  ),
  ...renderBlock('Task', taskOf(conversation), columns),
  ...(conversation.asked === undefined ? [] : renderBlock('Asked first', conversation.originalTask, columns)),
]

/** Shows where a conversation came from and what happened to it. */
export const lineage = showCommand({
  kinds: ['conversation', 'session', 'handoff'],
  show: async (history, thing) => {
    const found = await history.lineageOf(lineageSubject(thing))
    if (found === undefined) throw notFound('id', 'there is no conversation, session or handoff with it')
    const lookBacks = () => history.lookBackCounts(sessionIdsIn(found))
    return { document: found, lines: async (columns) => [renderLineage(found, columns, await lookBacks())] }
  },
})

const lineageSubject = ({ kind, id }: NamedThing): LineageSubject => {
  if (kind === 'session') return { sessionId: agentSessionId(id) }
  return kind === 'handoff' ? { handoffId: handoffId(id) } : { conversationId: conversationId(id) }
}
