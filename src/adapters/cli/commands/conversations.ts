import { type Conversation, taskOf } from '../../../domain/conversation/conversation.ts'
import { titleOf } from '../../../domain/conversation/title.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { RefusedError } from '../../../domain/unwrap.ts'
import { textFlag } from '../choose/history-args.ts'
import { conversationOf, subjectIn } from '../choose/subject.ts'
import { withHistory } from '../choose/with-history.ts'
import { folderColumn, stateOf, titleColumn, type WithSession, withSessions } from '../render/conversation-rows.ts'
import { age } from '../render/render-age.ts'
import { renderBlock, renderFacts } from '../render/render-facts.ts'
import { toJson, widthOn } from '../render/render-text.ts'
import { hint } from '../terminal/hint.ts'
import { styleOf } from '../terminal/style.ts'
import type { Run } from '../tree/command.ts'
import { orderOf, printList } from '../tree/list-command.ts'

/** Lists conversations by age. */
export const conversationsList: Run = async (invocation) => {
  const isRoot = invocation.values.roots === true ? (true as const) : undefined
  const filter = defined({ subject: textFlag(invocation, 'subject'), isRoot, order: orderOf(invocation) })
  const now = Date.now()
  await printList<Conversation, WithSession>(invocation, {
    things: 'conversations',
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
  })
}

/** Shows one conversation. */
export const conversationsShow: Run = async (invocation) => {
  const subject = subjectIn(invocation, { kinds: ['conversation'] })
  await withHistory(invocation, async (history) => {
    const id = await conversationOf(history, await subject(history))
    const found = await history.conversation(id)
    if (found === undefined) throw new RefusedError({ code: 'conversation.not_found', conversationId: id })
    const verify = hint(`baton audit verify ${found.id}`, invocation.values)
    invocation.out.line(
      invocation.values.json === true ? toJson(found) : lines(found, verify, widthOn(invocation.out)).join('\n'),
    )
  })
}

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
