import { type Conversation, taskOf } from '../../../domain/conversation/conversation.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { conversationId } from '../../../domain/kernel/ids.ts'
import { RefusedError } from '../../../domain/unwrap.ts'
import type { Run } from '../command.ts'
import { hint } from '../hint.ts'
import { idOrKey, notFound, textFlag } from '../history-args.ts'
import { orderOf, printList } from '../list-command.ts'
import { renderBlock, renderFacts } from '../render-facts.ts'
import { toJson, widthOn } from '../render-text.ts'
import { minute } from '../render-time.ts'
import { wholeId } from '../which-id.ts'
import { withHistory } from '../with-history.ts'

/** Lists conversations by age. */
export const conversationsList: Run = async (invocation) => {
  const isRoot = invocation.values.roots === true ? (true as const) : undefined
  const filter = defined({ subject: textFlag(invocation, 'subject'), isRoot, order: orderOf(invocation) })
  await printList<Conversation>(invocation, {
    things: 'conversations',
    look: [
      { title: 'CONVERSATION', of: ({ id }) => id, isId: true },
      { title: 'OPENED', of: ({ openedAt }) => minute(openedAt), most: 16 },
      { title: 'SUBJECT', of: ({ subject = '' }) => subject, most: 12 },
      { title: 'KEY', of: ({ externalKey = '' }) => externalKey, most: 12 },
      { title: 'TASK', of: ({ originalTask, broken }) => `${brokenWords(broken)}${originalTask}` },
    ],
    read: (history, page) => history.listConversations(filter, page),
  })
}

/** A row that cannot be read whole is listed all the same, and says so. */
const brokenWords = (broken: Conversation['broken']): string =>
  broken === undefined ? '' : `[broken: ${broken.join(', ')}; see "baton audit verify --all"] `

/** Shows one conversation. */
export const conversationsShow: Run = async (invocation) => {
  const wanted = idOrKey(invocation, 'conversation')
  await withHistory(invocation, async (history) => {
    const id = 'id' in wanted ? await wholeId(history, 'conversation', wanted.id, conversationId) : undefined
    const found = await ('key' in wanted ? history.conversationByKey(wanted.key) : id && history.conversation(id))
    if (found === undefined && id !== undefined)
      throw new RefusedError({ code: 'conversation.not_found', conversationId: id })
    if (found === undefined) throw notFound('key', 'no conversation has it')
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
