import { inspect } from 'node:util'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openPostgres, type PostgresOptions } from '../../src/adapters/postgres/open/open-postgres.ts'
import { commandId } from '../../src/domain/kernel/ids.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { StoreFailure } from '../../src/ports/store/store-failure.ts'
import { Scene } from '../../src/testing/scene.ts'
import { freePort } from '../support/postgres-server.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'
import { cloneDatabase, onServer, withDatabase } from '../support/test-databases.ts'

const PASSWORD = 'hunter2-swordfish'
const SERVER = process.env.TEST_DATABASE_URL ?? ''

/** Short enough to wait for, long enough for a busy machine; the bound below is what one try may take. */
const TIMEOUTS = { connectTimeoutMs: 4_000, statementTimeoutMs: 2_000, queryTimeoutMs: 4_000 }
/** Less than two tries of either kind one after the other, or one of each. */
const BOUND_MS = 7_600

/** The same address with a password in it; the servers of the tests take any. */
const withPassword = (url: string): string => {
  const secret = new URL(url)
  if (secret.password === '') secret.password = PASSWORD
  return secret.href
}

const failureOf = async (running: Promise<unknown>): Promise<StoreFailure> => {
  const failure = await running.then(
    (value) => new Error(`It answered ${JSON.stringify(value)}`),
    (problem: unknown) => problem,
  )
  expect(failure).toBeInstanceOf(StoreFailure)
  return failure as StoreFailure
}

/** A failure that may be tried again, tells no secret at any depth, and came in time. */
const expectUnavailable = async (running: () => Promise<unknown>, boundMs = BOUND_MS): Promise<void> => {
  const began = performance.now()
  const failure = await failureOf(running())
  expect(performance.now() - began).toBeLessThan(boundMs)
  expect(failure).toMatchObject({ code: 'store.unavailable', retryable: true })
  expectNoSecret(failure)
}

const expectNoSecret = (failure: StoreFailure): void => {
  const secret = decodeURIComponent(new URL(withPassword(SERVER)).password)
  expect(inspect(failure, { depth: null, getters: true })).not.toContain(secret)
  expect(failure.stack).not.toContain(secret)
  expect(JSON.stringify([failure.message, failure.cause])).not.toContain(secret)
}

describe('behind a line that goes dead', () => {
  let database: string
  let proxy: TcpProxy
  let store: Store
  let scene: Scene
  const open = (options: PostgresOptions = {}) =>
    openPostgres({ connectionString: withPassword(proxy.url), ...TIMEOUTS, ...options })

  beforeEach(async () => {
    database = withDatabase(SERVER, await cloneDatabase())
    proxy = await TcpProxy.before(database)
    store = await open({ maxConnections: 2 })
    scene = new Scene({ store, passTime: async () => {} })
  })
  afterEach(async () => {
    await store[Symbol.asyncDispose]()
    await proxy[Symbol.asyncDispose]()
  })

  it('a question on an open connection ends in time, and the pool works again when the line does', async () => {
    const { id } = await scene.conversation()
    proxy.mode = 'silent'
    await expectUnavailable(() => store.conversations.find(id))
    proxy.mode = 'forward'
    expect((await store.conversations.find(id))?.id).toBe(id)
  })

  it('a command that never reached the server ends in time, and happens once when tried again', async () => {
    const working = await scene.session()
    const turn = { ...working, ...scene.turn('read_file'), commandId: commandId(scene.ids.next()) }
    proxy.mode = 'silent'
    await expectUnavailable(() => scene.service.recordTurn(turn))
    proxy.mode = 'forward'
    expect(unwrap(await scene.service.recordTurn(turn)).session.progress.turns).toBe(1)
    expect((await store.sessions.find(working.session.id))?.progress.turns).toBe(1)
  })

  it('a new connection that is never answered ends in time, and the pool works again when the line does', async () => {
    proxy.mode = 'silent'
    await expectUnavailable(() => open())
    // The connection from before is given up, then there is none.
    await expectUnavailable(() => store.conversations.findByExternalKey('a'))
    await expectUnavailable(() => store.conversations.findByExternalKey('a'))
    proxy.mode = 'forward'
    expect(await store.conversations.findByExternalKey('a')).toBeUndefined()
  })

  it('ten callers at once on two dead connections all end, and all work afterwards', async () => {
    const { id } = await scene.conversation()
    await Promise.all([store.conversations.find(id), store.conversations.find(id)])
    proxy.mode = 'silent'
    const callers = Array.from({ length: 10 }, () => () => store.conversations.find(id))
    await Promise.all(callers.map((caller) => expectUnavailable(caller, 2 * BOUND_MS)))
    proxy.mode = 'forward'
    for (const found of await Promise.all(callers.map((caller) => caller()))) expect(found?.id).toBe(id)
  })

  it('gives up its sockets: nothing is left open once the store is closed', async () => {
    const { id } = await scene.conversation()
    proxy.mode = 'silent'
    await expectUnavailable(() => store.conversations.find(id))
    await expectUnavailable(() => store.conversations.find(id))
    await store[Symbol.asyncDispose]()
    await expect.poll(() => proxy.connections, { timeout: 600_000 }).toBe(0)
  })

  it('a server that hangs up while the client introduces itself is unavailable, then works', async () => {
    proxy.mode = 'closing'
    await expectUnavailable(() => open(), 40_000)
    proxy.mode = 'forward'
    await using again = await open()
    expect(await again.conversations.findByExternalKey('a')).toBeUndefined()
  })

  it('a statement that a lock holds up ends by the server’s own timeout, and keeps its connection', async () => {
    const working = await scene.session()
    const other = new pg.Client({ connectionString: database })
    await other.connect()
    await other.query('begin')
    await other.query('select from batonpass.audit_heads for update')
    const connections = proxy.connections
    await expectUnavailable(() => scene.service.recordTurn({ ...working, ...scene.turn() }))
    await other.end()
    expect(unwrap(await scene.service.recordTurn({ ...working, ...scene.turn() })).session.progress.turns).toBe(1)
    expect(proxy.connections).toBe(connections)
  })

  it('a closed store says so, and closing it twice is no harm', async () => {
    await store[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
    expect(await failureOf(store.conversations.findByExternalKey('a'))).toMatchObject({
      code: 'store.failed',
      retryable: false,
      message: 'The store is closed',
    })
  })
})

describe('where no server is', () => {
  const at = (host: string) => async () =>
    openPostgres({ connectionString: `postgres://postgres:${PASSWORD}@${host}/postgres`, ...TIMEOUTS })

  it.each(['127.0.0.1', 'localhost'])('a refused connection to %s is unavailable', async (host) => {
    await expectUnavailable(at(`${host}:${await freePort()}`), 40_000)
  })

  it('a host that does not exist is a wrong address, which is not worth trying again', async () => {
    const failure = await failureOf(at('batonpass.invalid:5432')())
    // Without a name server nobody can say whether it exists.
    if (!failure.message.includes('EAI_AGAIN')) {
      expect(failure).toMatchObject({ code: 'store.bad_address', retryable: false })
      expect(failure.message).toContain('There is no host of that name')
    }
    expectNoSecret(failure)
  })

  it.each([`postgres://postgres:${PASSWORD}@[not an address`, `postgres://postgres:${PASSWORD}@host:port/d`])(
    'an address that is none, such as %s, is a failure without the secret in it',
    async (connectionString) => expectNoSecret(await failureOf(openPostgres({ connectionString, ...TIMEOUTS }))),
  )

  it('a database that does not exist is a failure that is not worth trying again', async () => {
    const failure = await failureOf(openPostgres({ connectionString: withPassword(withDatabase(SERVER, 'nowhere')) }))
    expect(failure).toMatchObject({ code: 'store.bad_address', retryable: false })
    expect(failure.message).toMatch(/no database of that name.*"nowhere"/)
    expectNoSecret(failure)
  })

  it('a role that does not exist is a wrong address too', async () => {
    const address = new URL(SERVER)
    address.username = 'nobody_of_that_name'
    const failure = await failureOf(openPostgres({ connectionString: address.href }))
    expect(failure).toMatchObject({ code: 'store.bad_address', retryable: false })
    expect(failure.message).toContain('Check the role')
  })
})

it('a server that became a standby is unavailable, and its connections are given up', async () => {
  const name = await cloneDatabase()
  const url = withDatabase(SERVER, name)
  await onServer(url, `alter database ${name} set default_transaction_read_only = on`)
  await using store = await openPostgres({ connectionString: url, maxConnections: 1 })
  const { service } = new Scene({ store, passTime: async () => {} })
  await expectUnavailable(() => service.openConversation({ originalTask: 'Fix it' }), 20_000)
  const failure = await failureOf(service.openConversation({ originalTask: 'Fix it' }))
  expect(failure.message).toMatch(/^The server takes no writes: it is a standby, or was set read-only/)
  await onServer(SERVER, `alter database ${name} reset default_transaction_read_only`)
  unwrap(await service.openConversation({ originalTask: 'Fix it' }))
})
