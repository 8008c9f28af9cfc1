import { describe, expect, it } from 'vitest'
import type { Conversation } from '../../src/domain/conversation/conversation.ts'
import { arrangeLineage, by } from '../../src/domain/history/lineage.ts'
import { agentSessionId, conversationId, handoffId } from '../../src/domain/kernel/ids.ts'
import { later } from '../../src/domain/kernel/instant.ts'
import { AT, conversationOf, handoffOf, sessionOf, uuid } from './samples.ts'

const conversation = (n: number, parent?: number, minute = n): Conversation =>
  conversationOf({
    id: conversationId(uuid(n)),
    openedAt: later(AT, minute * 60_000),
    ...(parent !== undefined && { parentId: conversationId(uuid(parent)) }),
  })

const session = (n: number, epoch: number, of: number) =>
  sessionOf({ state: 'active' }, { id: agentSessionId(uuid(100 + n)), epoch, conversationId: conversationId(uuid(of)) })

const handoff = (n: number, minute: number, of: number) =>
  handoffOf(
    { status: 'initiated' },
    { id: handoffId(uuid(200 + n)), initiatedAt: later(AT, minute), conversationId: conversationId(uuid(of)) },
  )

/** 1 ─ 2 ─ 3 ─ (6, 4 ─ 5), in no order at all. */
const RECORD = {
  conversations: [
    conversation(4, 3, 9),
    conversation(3, 2),
    conversation(1),
    conversation(6, 3, 8),
    conversation(5, 4),
    conversation(2, 1),
  ],
  sessions: [session(3, 3, 3), session(1, 1, 3), session(9, 1, 5), session(2, 2, 3)],
  handoffs: [handoff(2, 2, 3), handoff(4, 1, 3), handoff(1, 2, 3), handoff(8, 1, 4)],
}

describe('lineage', () => {
  const lineage = arrangeLineage(RECORD, conversationId(uuid(3)))

  it('has the ancestors from the root down', () => {
    expect(lineage?.ancestors.map(({ id }) => id)).toEqual([uuid(1), uuid(2)])
  })

  it('has the sessions of the conversation by epoch and its handoffs by age, then id', () => {
    expect(lineage?.sessions.map(({ epoch }) => epoch)).toEqual([1, 2, 3])
    expect(lineage?.handoffs.map(({ id }) => id)).toEqual([uuid(204), uuid(201), uuid(202)])
  })

  it('has the threads oldest first, each with its own', () => {
    expect(lineage?.threads.map(({ conversation: { id } }) => id)).toEqual([uuid(6), uuid(4)])
    const [leaf, middle] = lineage?.threads ?? []
    expect(leaf).toMatchObject({ sessions: [], handoffs: [], threads: [] })
    expect(middle?.handoffs).toHaveLength(1)
    expect(middle?.threads[0]?.sessions.map(({ id }) => id)).toEqual([uuid(109)])
  })

  it('of a conversation that is not there is nothing', () => {
    expect(arrangeLineage(RECORD, conversationId(uuid(99)))).toBeUndefined()
  })

  it('of one without relatives is just that one', () => {
    const alone = conversation(1)
    expect(arrangeLineage({ conversations: [alone], sessions: [], handoffs: [] }, alone.id)).toStrictEqual({
      conversation: alone,
      sessions: [],
      handoffs: [],
      threads: [],
      ancestors: [],
    })
  })

  it('orders by the first key that differs', () => {
    const items = ['b2', 'a2', 'b1', 'a1']
    const sorted = items.toSorted(
      by(
        (item) => item.slice(1),
        (item) => item,
      ),
    )
    expect(sorted).toEqual(['a1', 'b1', 'a2', 'b2'])
    expect(by<string>(() => 1)('a', 'b')).toBe(0)
  })
})

describe('parents that were written into a ring', () => {
  const ring = { ...RECORD, conversations: [conversation(1, 3), conversation(2, 1), conversation(3, 2)] }
  const namesOf = (conversations: readonly Conversation[]) => conversations.map(({ id }) => id)

  it('come to an end, each taken once, upwards and downwards', () => {
    const lineage = arrangeLineage(ring, conversationId(uuid(3)))
    expect(namesOf(lineage?.ancestors ?? [])).toEqual([uuid(1), uuid(2)])
    expect(lineage?.threads.map((thread) => thread.conversation.id)).toEqual([uuid(1)])
    expect(lineage?.threads[0]?.threads[0]?.threads).toEqual([])
  })

  it('may be one that is its own parent', () => {
    const own = { ...RECORD, conversations: [conversation(3, 3)] }
    const lineage = arrangeLineage(own, conversationId(uuid(3)))
    expect([lineage?.ancestors, lineage?.threads]).toEqual([[], []])
  })
})
