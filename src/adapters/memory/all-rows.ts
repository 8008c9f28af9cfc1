import type { Conversation } from '../../domain/conversation/conversation.ts'
import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import { by } from '../../domain/history/lineage.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import { type ListOrder, type Page, type Paged, pageLimit, strangeCursor } from '../../ports/store/page.ts'
import type { Tables } from './tables.ts'

/** Everything of a kind: lists across conversations go over all of it. */
export const allConversations = (tables: Tables): readonly Conversation[] => tables.conversations.in('all', 'all')

export const allSessions = (tables: Tables): readonly AgentSession[] =>
  allConversations(tables).flatMap(({ id }) => tables.sessions.in('conversation', id).map(({ session }) => session))

export const allHandoffs = (tables: Tables): readonly HandoffMetadata[] =>
  allConversations(tables).flatMap(({ id }) => tables.handoffs.in('conversation', id))

const AGE_KEY = /^\d{4}-\d\d-\d\dT[\d:.]+Z\/[0-9a-f-]{36}$/

/** One page of rows by a time and an id, from either end. The two together are the cursor. */
export const pageByAge = <Row extends { readonly id: string }>(
  rows: readonly Row[],
  timeOf: (row: Row) => string,
  { order = 'oldest_first', ...page }: Page & { readonly order?: ListOrder },
): Paged<Row> => {
  const limit = pageLimit(page)
  const direction = order === 'oldest_first' ? 1 : -1
  const keyOf = (row: Row): string => `${timeOf(row)}/${row.id}`
  const compare = by((key: string) => key)
  const { after } = page
  if (after !== undefined && !AGE_KEY.test(after)) throw strangeCursor()
  const rest = rows
    .map((row) => ({ key: keyOf(row), row }))
    .filter(({ key }) => after === undefined || compare(key, after) * direction > 0)
    .sort((a, b) => compare(a.key, b.key) * direction)
  const items = rest.slice(0, limit)
  return defined({ items: items.map(({ row }) => row), next: rest.length > limit ? items.at(-1)?.key : undefined })
}
