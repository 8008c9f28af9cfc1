import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import type { PostgresStore } from '../../src/adapters/postgres/open/postgres-store.ts'
import { storeContract } from '../../src/entry/testing.ts'
import { IS_FULL } from '../support/amounts.ts'
import { onServer, withDatabase } from '../support/test-databases.ts'
import { partitionedSchema } from './partitioned-schema.ts'

const server = process.env.TEST_DATABASE_URL ?? ''
const database = `${process.env.TEST_DATABASE_PREFIX ?? ''}${process.pid}_partitioned`
const url = withDatabase(server, database)
/** Parts of the contract that wait for the clock, or are refused before a table is touched: partitions make no difference. */
const LEFT_TO_THE_NIGHT = /: (wrong input|only its holder|leases of|claims last|processes of|unfinished|restarts have)/
let store: PostgresStore
let tables: readonly string[] = []

beforeAll(async () => {
  await onServer(server, `create database ${database}`)
  const schema = await partitionedSchema()
  tables = schema.tables
  await onServer(url, schema.script)
  store = await openPostgres({ connectionString: url })
})

afterAll(async () => {
  await store?.[Symbol.asyncDispose]()
})

describe('on tables that are partitioned by conversation', () => {
  storeContract(
    async () => ({ store, passTime: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)) }),
    { describe: (about, body) => (IS_FULL || !LEFT_TO_THE_NIGHT.test(about) ? describe(about, body) : undefined), it },
  )

  it('every table of the record was, and its rows are in all of the partitions', async () => {
    expect(tables).toEqual(expect.arrayContaining(['agent_sessions', 'turns', 'messages', 'handoffs', 'audit_entries']))
    const rows = await onServer(
      url,
      `select p.relname as table, count(*)::integer as parts from pg_inherits i join pg_class p on p.oid = i.inhparent
       where p.relkind = 'p' group by 1 order by 1`,
    )
    expect(rows).toEqual([...tables].sort().map((table) => ({ table, parts: 4 })))
    const used = await onServer(url, 'select distinct tableoid::regclass::text as part from batonpass.turns')
    expect(used).toHaveLength(4)
  })
})
