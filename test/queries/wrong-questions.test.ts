import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../../src/adapters/memory/memory-store.ts'
import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { systemClock } from '../../src/adapters/system/system-clock.ts'
import { createBatonpass, readConfiguration } from '../../src/entry/index.ts'
import { refusal, ScriptedRuntime } from '../../src/entry/testing.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { HandoffHistory } from '../../src/services/history/handoff-history.ts'
import { Scene } from '../../src/testing/scene.ts'
import { dump } from '../embedded/made-store.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'

const STORES: Readonly<Record<string, () => Promise<Store>>> = {
  memory: async () => new MemoryStore({ clock: systemClock }),
  pglite: () => openPglite({ loadDataDir: dump() }),
  postgres: async () =>
    openPostgres({ connectionString: withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase()) }),
}

const INVALID = { name: 'RefusedError', code: 'input.invalid' }

describe.each(Object.entries(STORES))('on %s', (_, open) => {
  it('a cursor belongs to the list that gave it out: its kind, what it is of, its filter and its order', async () => {
    await using store = await open()
    const scene = new Scene({ store, passTime: async () => {} })
    const history = new HandoffHistory({ store })
    const one = await scene.work(await scene.work(await scene.session('one'), 'a'), 'b')
    const other = await scene.work(await scene.work(await scene.session('other'), 'a'), 'b')
    const [mine, theirs] = [one.session.conversationId, other.session.conversationId]
    const limit = 1
    const first = await history.messages(mine, { limit })
    const after = first.next ?? ''
    const second = await history.messages(mine, { limit, after })
    expect(second.items.map(({ sequenceNumber }) => sequenceNumber)).toEqual([2])
    const conversations = (await history.listConversations({}, { limit })).next ?? ''
    expect((await history.listConversations({}, { limit: 5, after: conversations })).items).toHaveLength(1)
    const foreign = [
      () => history.messages(theirs, { after }),
      () => history.messagesOf(one.session.id, { after }),
      () => history.turns(one.session.id, { after }),
      () => history.auditTrail(mine, { after }),
      () => history.sessions(mine, { after }),
      () => history.listSessions({}, { after: conversations }),
      () => history.listHandoffs({}, { after: conversations }),
      () => history.listConversations({ order: 'newest_first' }, { after: conversations }),
      () => history.listConversations({ state: 'open' }, { after: conversations }),
      () => history.messages(mine, { after: 'nonsense' }),
      () => history.messages(mine, { after: `${after.split('.')[0]}.` }),
    ]
    for (const ask of foreign) {
      const refused = expect(ask(), ask.toString()).rejects
      await refused.toMatchObject({ ...INVALID, refusal: { fields: [{ field: 'page.after' }] } })
    }
  })

  it('a closed store says that it is closed, and neither reads nor writes', async () => {
    const store = await open()
    const scene = new Scene({ store, passTime: async () => {} })
    const { session } = await scene.session('one')
    await store[Symbol.asyncDispose]()
    const closed = { name: 'StoreFailure', code: 'store.failed', retryable: false, message: 'The store is closed' }
    const asked = [
      () => scene.service.openConversation({ originalTask: 'Too late' }),
      () => store.sessions.find(session.id),
      () => store.conversations.list({}, {}),
      () => store.audit.list(session.conversationId, {}),
      () => store.leases.renew(session.id, 'x' as never, 1_000),
    ]
    for (const ask of asked) await expect(ask(), ask.toString()).rejects.toMatchObject(closed)
  })

  it('a question that makes no sense is refused, whatever is wrong with it', async () => {
    await using store = await open()
    const history = new HandoffHistory({ store })
    const page = 5 as never
    const each = async (all: AsyncIterable<unknown>): Promise<void> => {
      for await (const _ of all);
    }
    const asked = [
      ...[null, undefined, 5, {}, [5], 'x'].map((value) => () => history.lookBackCounts(value as never)),
      ...[null, undefined, 5, {}].map((value) => () => history.idsEnding('handoff', value as never)),
      ...[null, undefined, 5, 'odd', 'ids'].map((value) => () => history.idsEnding(value as never, 'abcdef')),
      ...[null, 0, -1, 1.5, 'x'].map((value) => () => history.idsEnding('handoff', 'abcdef', value as never)),
      ...[null, 5, 'x'].flatMap((value) => [
        () => each(history.eachHandoff({}, value as never)),
        () => each(history.eachSession({}, value as never)),
        () => each(history.eachConversation({}, value as never)),
      ]),
      () => history.openHandoffs(page),
      () => history.overdueHandoffs({}, page),
    ]
    for (const ask of asked) await expect(ask(), ask.toString()).rejects.toMatchObject(INVALID)
  })
})

it('a feed is not followed from something that is no request', async () => {
  await using batonpass = await createBatonpass({ store: 'memory' })
  for (const wrong of [null, 5, 'x', { after: 5 }, { limit: 0 }])
    await expect(batonpass.audit.follow(wrong as never).next()).rejects.toMatchObject(INVALID)
})

it('a run without a prompt is told that it lacks one', async () => {
  await using batonpass = await createBatonpass({ store: 'memory' })
  for (const prompt of [undefined, '', ' ', 5]) {
    const runtime = new ScriptedRuntime({ windows: [{ turns: [{ text: 'Done.', promptTokens: 9 }] }] })
    const run = batonpass.run({ runtime, agent: 'claude-code', prompt: prompt as never })
    const ended = async (): Promise<void> => {
      for await (const _ of run);
    }
    const failure = expect(ended(), String(prompt)).rejects
    await failure.toMatchObject({ ...INVALID, refusal: { fields: [{ field: 'prompt' }] } })
  }
})

it('a turn of a session that a handoff holds is told which handoff', async () => {
  await using store = new MemoryStore({ clock: systemClock })
  const scene = new Scene({ store, passTime: async () => {} })
  const { handoff, source } = await scene.initiated()
  const turned = await scene.service.recordTurn({ ...source, messages: [{ role: 'user', text: 'Go on' }] } as never)
  expect(refusal(turned)).toMatchObject({ code: 'session.not_active', heldBy: handoff.id })
})

it('a configuration that cannot be read is named', async () => {
  await expect(readConfiguration('absent/baton.yaml')).rejects.toThrow(/absent\/baton\.yaml/)
})
