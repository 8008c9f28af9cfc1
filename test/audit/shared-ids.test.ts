import { afterAll, describe, expect, it } from 'vitest'
import { arrangeLineage } from '../../src/domain/history/lineage.ts'
import type { AgentSessionId, ConversationId } from '../../src/entry/index.ts'
import { closeStores } from '../support/stores.ts'
import { ownDatabase, ownStage, Stage } from './stage.ts'

afterAll(closeStores)

/** What is wrong with each conversation when all are verified. */
const broken = async (stage: Stage): Promise<ReadonlyMap<ConversationId, string>> => {
  const found = new Map<ConversationId, string>()
  for await (const verdict of stage.audit.verifyAll()) {
    if (!verdict.intact) found.set(verdict.conversationId, `${verdict.problem.class}: ${verdict.problem.detail}`)
  }
  return found
}

describe('one session id in two conversations', () => {
  it('is no reason to throw, and is found when all are verified', async () => {
    await using store = (await ownStage(await ownDatabase())).store
    const stage = new Stage(store)
    const [one, two] = [await stage.scene.worked('read_file'), await stage.scene.conversation()]
    const alone = await stage.conversation()
    const request = { conversationId: two.id, sessionId: one.session.id, agentName: 'opus', backend: 'scripted' }
    await stage.scene.service.startSession(request)
    const [{ conversationId: first }, id] = [one.session, one.session.id]
    expect([await stage.found(first), await stage.found(two.id)]).toEqual(['intact 4', 'intact 3'])
    const where = [first, two.id].sort().join(' and ')
    const shared = `id_shared: The session ${id} stands in ${where}.`
    expect(await broken(stage)).toEqual(new Map([first, two.id].map((each) => [each, shared])))
    expect(await stage.found(alone)).toBe('intact 12')
    await readable(stage, id)
  })
})

/** What is asked for by the id alone answers for one of the two, and does not fail. */
const readable = async ({ store }: Stage, id: AgentSessionId): Promise<void> => {
  expect((await store.sessions.find(id))?.id).toBe(id)
  expect((await store.messages.listTurns(id, {})).items.length).toBeLessThan(2)
  expect(await store.handoffs.findOpenFor(id)).toBeUndefined()
  expect((await store.conversations.lineage({ sessionId: id }))?.conversations).toHaveLength(1)
}

describe.each([
  ['turns', 'turn'],
  ['context_snapshots', 'snapshot'],
  ['handoffs', 'handoff'],
  ['messages', 'message'],
] as const)('one id in two rows of %s', (table, kind) => {
  it('is found when all are verified', async () => {
    await using store = (await ownStage(await ownDatabase())).store
    const stage = new Stage(store)
    const [one, two] = [await stage.conversation(), await stage.conversation()]
    const first = `(select id from batonpass.${table} where conversation_id = '${one}' order by id limit 1)`
    await stage.tamper([
      `update batonpass.${table} set id = ${first} where ctid =
       (select ctid from batonpass.${table} where conversation_id = '${two}' limit 1)`,
    ])
    const found = await broken(stage)
    expect(found.get(one)).toMatch(new RegExp(`^id_shared: The ${kind} .* stands in `))
    expect(found.get(two)).toMatch(/^state_differs/)
  })
})

describe('parents that were written into a ring', () => {
  it.each(['postgres', 'pglite'] as const)('come to an end on %s', async (kind) => {
    const stage = await Stage.on(kind)
    const { handoff } = await stage.scene.initiated()
    const { conversationId: root } = handoff
    const open = { session: handoff.sourceSessionId, byHand: true as const, targetAgent: 'haiku', reason: 'Aside' }
    const thread = await stage.scene.service.openThread(open)
    if (!thread.ok) throw new Error('no thread')
    const { id: child } = thread.value.conversation
    await stage.tamper([`update batonpass.conversations set parent_id = $1 where id = $2`, child, root])
    for (const [id, other] of [
      [root, child],
      [child, root],
    ] as const) {
      const record = await stage.store.conversations.lineage({ conversationId: id })
      expect(record?.conversations.map((each) => each.id).sort()).toEqual([root, child].sort())
      expect(new Set(record?.handoffs.map((each) => each.id)).size).toBe(record?.handoffs.length)
      const lineage = record && arrangeLineage(record, id)
      expect([lineage?.ancestors[0]?.id, lineage?.threads[0]?.conversation.id]).toEqual([other, other])
    }
    expect(await stage.found(root)).toBe('state_differs 1')
  })
})
