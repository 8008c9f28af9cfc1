import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ExaminedStore } from '../../src/adapters/postgres/health/examined-store.ts'
import { storeOpens } from '../../src/adapters/postgres/health/server-checks.ts'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { createBatonpass, unwrap } from '../../src/entry/index.ts'
import type { StoreFailure } from '../../src/ports/store/store-failure.ts'
import { Scene } from '../../src/testing/scene.ts'
import { Cluster } from '../failover/cluster.ts'
import type { PostgresNode } from '../failover/node.ts'
import { freePort } from '../support/postgres-server.ts'
import { onServer } from '../support/test-databases.ts'
import { Heard } from '../wake-ups/heard.ts'

let cluster: Cluster
/** Nobody listens there. */
let nobody = 0

const failureOf = (opening: Promise<unknown>): Promise<StoreFailure> =>
  opening.then(
    () => expect.unreachable('it opened'),
    (error: unknown) => error as StoreFailure,
  )

/** Lets a server take writes again that was set read-only. */
const writable = async (server: PostgresNode): Promise<void> => {
  const off = '?options=-c%20default_transaction_read_only%3Doff'
  await onServer(`${server.url()}${off}`, 'alter system reset default_transaction_read_only')
  await onServer(server.url(), 'select pg_reload_conf()')
}

/** Soon enough for a test; what is looked for is there or not. */
const SHORT = { connectTimeoutMs: 2_000 }

beforeAll(async () => {
  nobody = await freePort()
  cluster = await Cluster.start('synchronous')
  await onServer(cluster.primary.url(), 'create database agents')
  const store = await openPostgres({ connectionString: cluster.primary.url('agents'), autoMigrate: true })
  await store[Symbol.asyncDispose]()
  await cluster.caughtUp()
})

afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]()
})

const open = (batonpass: Awaited<ReturnType<typeof createBatonpass>>, externalKey: string) =>
  batonpass.handoffs.openConversation({ originalTask: 'Fix it', externalKey })

describe('several addresses', () => {
  it('lead to the server that takes writes, wherever it stands in the list', async () => {
    const { primary, standby } = cluster
    const addresses = [
      cluster.addressOf('agents'),
      cluster.addressOf('agents', '?target_session_attrs=primary'),
      [standby.url('agents'), primary.url('agents')],
      `postgres://postgres@127.0.0.1:${nobody},127.0.0.1:${primary.port}/agents`,
      `postgres://postgres@no-such-host.invalid,127.0.0.1:${primary.port}/agents?port=${primary.port}`,
      `postgres://postgres@no-such-host.invalid/agents?hostaddr=127.0.0.1&port=${primary.port}&target_session_attrs=read-write`,
    ]
    for (const [index, database] of addresses.entries()) {
      await using batonpass = await createBatonpass({ database })
      expect(await open(batonpass, `first-${index}`)).toMatchObject({ ok: true })
    }
  })

  it('only standbys: it says which, and what to do', async () => {
    const { port } = cluster.standby
    const both = `postgres://postgres:tea4two@127.0.0.1:${port},127.0.0.1:${nobody}/agents`
    const failure = await failureOf(openPostgres({ connectionString: both, ...SHORT }))
    expect(failure).toMatchObject({ code: 'store.unavailable', retryable: true })
    expect(failure.message).toContain(`127.0.0.1:${port} is a standby`)
    expect(failure.message).toContain(`127.0.0.1:${nobody} did not let us in`)
    expect(failure.message).toContain('promote a standby')
    expect(failure.message).not.toContain('tea4two')
    const alone = `${cluster.standby.url('agents')}?target_session_attrs=read-write`
    const single = await failureOf(openPostgres({ connectionString: alone, ...SHORT }))
    expect(single).toMatchObject({ code: 'store.unavailable' })
    expect(single.message).toContain(`The server 127.0.0.1:${port} is a standby.`)
  })

  it('all down, and none that exists', async () => {
    const down = `postgres://postgres@127.0.0.1:${nobody},127.0.0.1:${nobody}/agents`
    const failure = await failureOf(openPostgres({ connectionString: down, ...SHORT }))
    expect(failure).toMatchObject({ code: 'store.unavailable', retryable: true })
    expect(failure.message).toContain('None of the 2 servers takes writes')
    const { primary, standby } = cluster
    const none = `postgres://postgres@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/no_such_database`
    const missing = await failureOf(openPostgres({ connectionString: none, ...SHORT }))
    expect(missing).toMatchObject({ code: 'store.bad_address', retryable: false })
    expect(missing.message).toContain(`127.0.0.1:${standby.port} did not let us in (There is no database`)
    expect(missing.message).toContain(`127.0.0.1:${primary.port} did not let us in (There is no database`)
  })

  it('a primary that is set read-only is waited for, longer than anything is tried again', async () => {
    await using store = await openPostgres({ connectionString: cluster.addressOf('agents'), connectTimeoutMs: 60_000 })
    await using batonpass = await createBatonpass({ store })
    unwrap(await open(batonpass, 'before read-only'))
    await cluster.primary.set('default_transaction_read_only', 'on')
    const waiting = open(batonpass, 'during read-only')
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    await writable(cluster.primary)
    expect(await waiting).toMatchObject({ ok: true })
  })
})

describe('the doctor', () => {
  it('names the part of each server, and the one that is away', async () => {
    const { primary, standby } = cluster
    const hosts = [standby.port, primary.port, nobody].map((port) => `127.0.0.1:${port}`).join(',')
    await using store = new ExaminedStore({ connectionString: `postgres://postgres:tea4two@${hosts}/agents` })
    const findings = await storeOpens(store)
    expect(findings.map(({ result }) => result)).toEqual(['ok', 'ok', 'ok', 'warning'])
    const texts = findings.map(({ text }) => text)
    expect(texts.slice(1, 3)).toEqual([
      `127.0.0.1:${standby.port} is a standby`,
      `127.0.0.1:${primary.port} takes writes`,
    ])
    expect(texts[3]).toContain(`127.0.0.1:${nobody} cannot be used now`)
    expect(texts.join()).not.toContain('tea4two')
  })
})

describe('questions on a standby', () => {
  it('are answered there, also those of the audit log, and everything else is not', async () => {
    const { primary, standby } = cluster
    await using batonpass = await createBatonpass({ database: primary.url('agents'), readFrom: standby.url('agents') })
    await onServer(standby.url(), 'select pg_wal_replay_pause()')
    const { conversation } = unwrap(await open(batonpass, 'asked on a standby'))
    expect(await batonpass.history.conversation(conversation.id)).toBeUndefined()
    await onServer(standby.url(), 'select pg_wal_replay_resume()')
    await cluster.caughtUp()
    expect(await batonpass.history.conversation(conversation.id)).toMatchObject({ id: conversation.id })
    expect(unwrap(await batonpass.audit.verify(conversation.id)).intact).toBe(true)
    const { next } = await batonpass.audit.changes({ limit: 500 })
    const later = unwrap(await open(batonpass, 'after the feed')).conversation
    await cluster.caughtUp()
    const { entries } = await batonpass.audit.changes({ after: next })
    expect(entries.map((entry) => entry.conversationId)).toEqual([later.id])
  })

  it('say where they failed, and writing does not mind', async () => {
    const readFrom = `postgres://postgres@127.0.0.1:${nobody},127.0.0.1:${cluster.primary.port}/agents?target_session_attrs=standby`
    await using store = await openPostgres({ connectionString: cluster.primary.url('agents'), readFrom, ...SHORT })
    await using batonpass = await createBatonpass({ store })
    const { conversation } = unwrap(await open(batonpass, 'no standby'))
    const failure = await failureOf(batonpass.history.conversation(conversation.id))
    expect(failure.message).toContain(`127.0.0.1:${cluster.primary.port} is no standby`)
  })

  it('take the primary where a standby is only preferred', async () => {
    const readFrom = `postgres://postgres@127.0.0.1:${nobody},127.0.0.1:${cluster.primary.port}/agents?target_session_attrs=prefer-standby`
    await using batonpass = await createBatonpass({ database: cluster.primary.url('agents'), readFrom })
    const { conversation } = unwrap(await open(batonpass, 'preferred'))
    expect(await batonpass.history.conversation(conversation.id)).toMatchObject({ id: conversation.id })
  })

  it('need a store on a server', async () => {
    const failure = await failureOf(createBatonpass({ readFrom: 'postgres://a/x' }))
    expect(failure).toMatchObject({ code: 'store.bad_address', message: expect.stringContaining('"database"') })
  })
})

describe('a failover', () => {
  it('a command that is given meanwhile is stored once, everybody follows, and wake-ups come again', async () => {
    await using store = await openPostgres({ connectionString: cluster.addressOf('agents'), connectTimeoutMs: 60_000 })
    await using batonpass = await createBatonpass({ store })
    const scene = new Scene({ store, passTime: async () => {} })
    using heard = new Heard(store.wakeUps)
    await heard.told()
    const before = unwrap(await open(batonpass, 'before the failover'))
    const over = cluster.failOver()
    const during = await Promise.all([1, 2, 3].map((number) => open(batonpass, `during ${number}`)))
    await over
    for (const answer of during) expect(answer).toMatchObject({ ok: true })
    expect(await batonpass.history.conversation(before.conversation.id)).toMatchObject({ id: before.conversation.id })
    expect(await heard.told(3)).toEqual({ isHeard: true })
    const { handoff } = await scene.initiated({ targetAgent: 'after the failover' })
    await heard.woken(handoff.targetAgent)
  })

  it('a server that lost its part though its connections live is left, by the pool and by the listener', async () => {
    await cluster.addStandby()
    const { primary: old, standby: next } = cluster
    const addresses = [old.url('agents'), next.url('agents')]
    await using store = await openPostgres({ connectionString: addresses, connectTimeoutMs: 60_000, maxConnections: 4 })
    await using batonpass = await createBatonpass({ store })
    const scene = new Scene({ store, passTime: async () => {} })
    using heard = new Heard(store.wakeUps)
    await heard.told()
    // Now the pool has connections to the old one.
    await Promise.all([1, 2, 3, 4].map((number) => open(batonpass, `on the old one ${number}`)))
    await next.promote()
    await old.set('default_transaction_read_only', 'on')
    unwrap(await open(batonpass, 'moved 0'))
    expect(await heard.told(3)).toEqual({ isHeard: true })
    // Both take writes now, and nobody may go back.
    await writable(old)
    await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((number) => open(batonpass, `moved ${number}`)))
    const count = `select count(*)::integer as found from batonpass.conversations where external_key like 'moved %'`
    expect(await onServer(next.url('agents'), count)).toEqual([{ found: 9 }])
    expect(await onServer(old.url('agents'), count)).toEqual([{ found: 0 }])
    const { handoff } = await scene.initiated({ targetAgent: 'on the next one' })
    await heard.woken(handoff.targetAgent)
  })
})
