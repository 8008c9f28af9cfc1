import { defined } from '../../../domain/kernel/defined.ts'
import { agentSessionId, type ConversationId, conversationId } from '../../../domain/kernel/ids.ts'
import type { Turn } from '../../../domain/turn/turn.ts'
import type { Page, Paged } from '../../../ports/store/page.ts'
import { pageLimit } from '../../../ports/store/page.ts'
import type { HandoffHistory } from '../../../services/history/handoff-history.ts'
import { subjectIn } from '../choose/subject.ts'
import type { Column } from '../render/text-table.ts'
import { minuteIn, zoneIn } from '../render/times.ts'
import { describeUsage } from '../render/window-facts.ts'
import { asTheyAre, listCommand } from './noun.ts'

const columnsIn = (zone: string): readonly Column<Turn>[] => [
  { title: 'TURN', of: ({ id }) => id, isId: true },
  {
    ...{ title: 'RECORDED', most: 16, isTime: true, importance: 5 },
    of: ({ recordedAt }) => minuteIn(zone)(recordedAt),
  },
  { title: 'NO', of: ({ number }) => String(number), most: 6, importance: 4 },
  { title: 'MESSAGES', of: ({ range }) => `${range.start}–${range.end}`, most: 11, importance: 2 },
  { title: 'USAGE', of: ({ usage }) => describeUsage(usage), most: 20, importance: 3 },
  { title: 'TOOLS', of: ({ toolCalls }) => toolCalls.map(({ toolName }) => toolName).join(', ') },
]

/** Lists the turns of a conversation or a session, with their tool calls. */
export const turns = listCommand<Turn, Turn>({
  things: 'turns',
  list: (invocation) => {
    const subject = subjectIn(invocation, { kinds: ['conversation', 'session'] })
    return {
      look: columnsIn(zoneIn(invocation)),
      rows: asTheyAre,
      read: async (history, page) => {
        const { kind, id } = await subject(history)
        return kind === 'session'
          ? history.turns(agentSessionId(id), page)
          : turnsOfConversation(history, conversationId(id), page)
      },
    }
  },
})

/** Stands between the place among the sessions and the place among the turns of one, in a cursor. */
const SESSION_MARK = '~'

/** The turns of every session, by epoch. A cursor says which session comes next, and after which turn of it. */
const turnsOfConversation = async (
  history: HandoffHistory,
  conversation: ConversationId,
  page: Page,
): Promise<Paged<Turn>> => {
  const limit = pageLimit(page)
  const items: Turn[] = []
  let [before, after] = (page.after ?? '').split(SESSION_MARK).map((part) => part || undefined)
  for (;;) {
    const sessions = await history.sessions(conversation, defined({ after: before, limit: 1 }))
    const [session] = sessions.items
    if (session === undefined) return { items }
    const read = await history.turns(session.id, defined({ after, limit: limit - items.length }))
    items.push(...read.items)
    if (read.next !== undefined) return { items, next: `${before ?? ''}${SESSION_MARK}${read.next}` }
    if (sessions.next === undefined) return { items }
    if (items.length === limit) return { items, next: `${sessions.next}${SESSION_MARK}` }
    before = sessions.next
    after = undefined
  }
}
