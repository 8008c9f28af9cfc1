import type pg from 'pg'
import { expect } from 'vitest'
import type { Answer } from '../../src/domain/decision.ts'
import { foldHistory } from '../../src/domain/history/history.ts'
import type { ConversationId } from '../../src/domain/kernel/ids.ts'
import { withholdTexts } from '../../src/domain/kernel/texts.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { ReadBack } from '../cases/read-back.ts'

const TABLES = [
  'conversations',
  'agent_sessions',
  'turns',
  'messages',
  'tool_calls',
  'handoffs',
  'handoff_tool_calls',
  'context_snapshots',
  'look_backs',
  'session_leases',
  'commands',
  'audit_entries',
] as const

/** How many rows there are, table by table. */
export type RowCounts = Readonly<Record<(typeof TABLES)[number], number>>

/** Counts every row of a database. */
export const countRows = async (client: pg.Client | pg.Pool): Promise<RowCounts> => {
  const counts = TABLES.map((table) => `(select count(*)::integer from batonpass.${table}) as ${table}`)
  const { rows } = await client.query<RowCounts>(`select ${counts.join(', ')}`)
  return rows[0] as RowCounts
}

/** How many rows came. */
export const added = (before: RowCounts, after: RowCounts): RowCounts =>
  Object.fromEntries(TABLES.map((table) => [table, after[table] - before[table]])) as RowCounts

/** No row at all. */
export const NOTHING: RowCounts = Object.fromEntries(TABLES.map((table) => [table, 0])) as RowCounts

const byId = <T extends { readonly id: string }>(items: readonly T[]): ReadonlyMap<string, T> =>
  new Map(items.map((item) => [item.id, withholdTexts(item)]))

/** The log of a conversation has no gap, and what is stored is what it adds up to: nothing is half done. */
export const expectWhole = async (store: Store, id: ConversationId): Promise<void> => {
  const kept = new ReadBack(store)
  const entries = await kept.audit(id)
  expect(entries.map(({ position }) => position)).toEqual(entries.map((_, at) => at + 1))
  const folded = foldHistory(entries.map(({ event }) => event))
  const sessions = await kept.sessions(id)
  const snapshots = (await Promise.all(sessions.map((session) => kept.snapshots(session.id)))).flat()
  expect(folded.sessions).toStrictEqual(byId(sessions))
  expect(folded.handoffs).toStrictEqual(byId(await kept.handoffs(id)))
  expect(folded.snapshots).toStrictEqual(byId(snapshots.map(({ visibleToolCalls: _, ...record }) => record)))
}

/** An answer says what is stored. */
export const expectStored = async (store: Store, answer: Answer): Promise<void> => {
  const { conversation, session, handoff, turns = [], snapshot } = answer
  if (conversation) expect(await store.conversations.find(conversation.id)).toStrictEqual(conversation)
  if (session) expect(await store.sessions.find(session.id)).toStrictEqual(session)
  if (handoff) expect(await store.handoffs.find(handoff.id)).toStrictEqual(handoff)
  if (snapshot) expect(await store.snapshots.find(snapshot.id)).toStrictEqual(snapshot)
  for (const turn of turns) expect(await store.messages.findTurn(turn.id)).toStrictEqual(turn)
  const conversations = [conversation?.id, session?.conversationId, handoff?.conversationId]
  for (const id of new Set(conversations)) if (id) await expectWhole(store, id)
}
