import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { schemaSnapshot } from '../../scripts/schema-snapshot.ts'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { openMigratorAt } from '../../src/adapters/postgres/open-migrator.ts'
import type { Database } from '../../src/adapters/postgres/statements/database.ts'
import { agentSessionId, conversationId, handoffId, holderToken, snapshotId } from '../../src/domain/kernel/ids.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { tokenDigest } from '../../src/ports/system/holder-tokens.ts'
import { Scene } from '../../src/testing/scene.ts'
import { ask, emptyDatabase, expectedSnapshot } from './empty-database.ts'
import { OLD, ROWS } from './old-data.ts'

const COUNT = readdirSync('migrations').filter((file) => file.endsWith('.down.sql')).length
/** From each change of the tables on; after the last of them only the functions are missing. */
const POINTS = Array.from({ length: COUNT }, (_, index) => index + 1)

/** From this change on sessions have digests, and receipts no tokens. */
const DIGESTS =
  readdirSync('migrations')
    .filter((file) => file.endsWith('.down.sql'))
    .findIndex((file) => file.includes('holder_digests')) + 1

/** A statement as it could be made then. */
const asOf = (point: number, statement: string): string =>
  point < DIGESTS
    ? statement
    : statement.replace(`{"holder": "${OLD.token}"}`, '{}').replaceAll(OLD.token, tokenDigest(holderToken(OLD.token)))

/** Every row of every table, by table; who holds a session is looked at by itself. */
const contents = async (database: Database): Promise<Readonly<Record<string, readonly unknown[]>>> => {
  const named = `select relname::text as name from pg_class
    where relnamespace = to_regnamespace($1) and relkind = 'r' and relname <> 'migrations' order by relname`
  const tables = await ask<{ name: string }>(database, named, database.schema)
  const rows = await Promise.all(
    tables.map(({ name }) =>
      ask<{ row: unknown }>(
        database,
        `select to_jsonb(t) - 'holder' - 'receipt' as row from ${database.schema}.${name} t`,
      ),
    ),
  )
  return Object.fromEntries(tables.map(({ name }, index) => [name, rows[index]?.map(({ row }) => row) ?? []]))
}

const readThrough = async (store: Store, point: number): Promise<void> => {
  expect(await store.conversations.findByExternalKey('job-1')).toMatchObject({ originalTask: 'An old task' })
  const found = await store.sessions.find(agentSessionId(OLD.session))
  expect(found).toMatchObject({ state: 'active', progress: { turns: 1 } })
  const { items } = await store.messages.listMessages(conversationId(OLD.conversation), { limit: 10 })
  expect(items.map(({ text }) => text)).toEqual(['Go on', 'Done'])
  if (point < 2) return
  const handoff = { status: 'cancelled', reason: 'An old reason', endReason: 'Nobody came', priorTurnId: OLD.turn }
  const toolCalls = [{ callId: 'call-1', toolName: 'read_file', sequenceNumber: 2 }]
  const kept = await store.handoffs.find(handoffId(OLD.handoff))
  expect(kept).toMatchObject({ ...handoff, triggeringToolCalls: toolCalls })
  expect(await store.snapshots.find(snapshotId(OLD.snapshot))).toMatchObject({ messages: { user: 1, assistant: 1 } })
}

/** The conversation goes on where it stood: the next turn, and a handoff after it. */
const goOn = async (store: Store): Promise<void> => {
  const scene = new Scene({ store, passTime: async () => {} })
  const { service } = scene
  // The process that held it before the upgrade goes on with the token that it has.
  const held = { session: agentSessionId(OLD.session), holder: holderToken(OLD.token) }
  unwrap(await service.recordTurn({ ...held, ...scene.turn('read_file') }))
  const working = unwrap(await service.takeOverSession({ session: agentSessionId(OLD.session) }))
  const worked = unwrap(await service.recordTurn({ ...working, ...scene.turn('run_tests') }))
  const request = { ...worked, targetAgent: 'opus', reason: 'The window is nearly full' }
  const { handoff } = unwrap(await service.initiateHandoff(request))
  expect(unwrap(await service.completeHandoff({ handoff })).session).toMatchObject({ state: 'active', epoch: 2 })
}

describe('an upgrade with data in the schema', () => {
  const database = emptyDatabase()
  const expected = expectedSnapshot()

  it.each(POINTS)('from change %d on keeps it all, and work goes on', async (point) => {
    const connectionString = await database
    const schema = `from_${point}`
    await using opened = openMigratorAt({ connectionString, schema })
    const { migrator } = opened
    await migrator.up()
    const undone = await migrator.down(COUNT + 1 - point)
    for (const statement of ROWS.filter(([since]) => since <= point).flatMap(([, statements]) => statements)) {
      await ask(opened.database, asOf(point, statement).replaceAll('batonpass.', `${schema}.`))
    }
    const before = await contents(opened.database)
    expect(Object.values(before).flat().length).toBeGreaterThanOrEqual(Math.min(point, 2))

    expect(await migrator.up()).toEqual(undone.toReversed())
    expect(await contents(opened.database)).toMatchObject(before)
    expect(await schemaSnapshot(opened.database)).toBe(await expected)
    await using store = await openPostgres({ connectionString, schema, maxConnections: 1 })
    await readThrough(store, point)
    const receipts = await ask<{ receipt: object }>(opened.database, `select receipt from ${schema}.commands`)
    const isTaken = point >= 3 && point < DIGESTS
    expect(receipts.map(({ receipt }) => receipt)).toEqual(point < 3 ? [] : [isTaken ? { tokenRemoved: true } : {}])
    await goOn(store)
  })
})
