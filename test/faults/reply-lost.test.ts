import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { commandId } from '../../src/domain/kernel/ids.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { Scene } from '../../src/testing/scene.ts'
import { givenAgain } from '../support/given-again.ts'
import { type Cut, TcpProxy } from '../support/tcp-proxy.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'
import { ALL_COMMANDS, COMMANDS } from './commands.ts'
import { added, countRows, expectStored } from './whole-record.ts'

const CUTS: readonly Cut[] = ['before', 'half', 'last_byte']
/** For each of ten commands: 210 lost replies in all. */
const ROUNDS = 21

const { TEST_DATABASE_URL: SERVER = '', TEST_POOLER_URL: POOLER } = process.env
const WAYS = [
  { way: 'direct', url: SERVER, pooled: false, rounds: ROUNDS },
  ...(POOLER === undefined ? [] : [{ way: 'through the pooler', url: POOLER, pooled: true, rounds: 3 }]),
]

describe.each(WAYS)('the line is cut after the commit, $way', ({ url, pooled, rounds }) => {
  let calm: pg.Pool
  let proxy: TcpProxy
  let store: Store
  let scene: Scene

  beforeAll(async () => {
    const database = await cloneDatabase()
    calm = new pg.Pool({ connectionString: withDatabase(SERVER, database), max: 2 })
    proxy = await TcpProxy.before(withDatabase(url, database))
    store = await openPostgres({ connectionString: proxy.url, pooled })
    scene = new Scene({ store: await openPostgres({ pool: calm }), passTime: async () => {} })
  })
  afterAll(async () => {
    await store[Symbol.asyncDispose]()
    await proxy[Symbol.asyncDispose]()
    await calm.end()
  })

  it.each(ALL_COMMANDS)(`%s answers all the same, and once, ${rounds} times`, async (_, prepare) => {
    const faulty = scene.serviceOver(store)
    const undisturbed = await prepare(scene)
    const before = await countRows(calm)
    unwrap(await undisturbed.ask(scene.service, commandId(scene.ids.next())))
    const expected = added(before, await countRows(calm))
    expect(expected.commands).toBe(1)

    for (let round = 0; round < rounds; round += 1) {
      const { ask } = await prepare(scene)
      const id = commandId(scene.ids.next())
      const there = await countRows(calm)
      const cuts = proxy.cuts
      proxy.cutAfterCommit(CUTS[round % CUTS.length] ?? 'before')
      const answer = unwrap(await ask(faulty, id))
      expect(proxy.cuts).toBe(cuts + 1)
      expect(added(there, await countRows(calm))).toEqual(expected)
      await expectStored(scene.store, answer)
      expect(unwrap(await ask(scene.service, id))).toStrictEqual(givenAgain(answer))
      expect(added(there, await countRows(calm))).toEqual(expected)
    }
  })

  it('cut four times in a row, the fifth try still finds what the first has kept', async () => {
    const { ask } = await COMMANDS.complete(scene)
    const there = await countRows(calm)
    const cuts = proxy.cuts
    proxy.cutAfterCommit('before', 'half', 'last_byte', 'before')
    const answer = unwrap(await ask(scene.serviceOver(store), commandId(scene.ids.next())))
    expect(proxy.cuts).toBe(cuts + 4)
    expect(added(there, await countRows(calm)).commands).toBe(1)
    await expectStored(scene.store, answer)
  })
})
