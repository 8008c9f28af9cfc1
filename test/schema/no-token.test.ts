import pg from 'pg'
import { expect, it } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { createBatonpass, type RunEvent } from '../../src/entry/index.ts'
import { Scene } from '../../src/testing/scene.ts'
import { ENDS, FILLS, script, TASK } from '../runner/played.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'
import { wholeConversation } from '../support/whole-conversation.ts'

/** Every token has this form: whatever made it, it is found. */
const A_TOKEN = /hold_[A-Za-z0-9_-]{43}/

it('has no token in any table, log line or event after every kind of work', async () => {
  const connectionString = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
  await using store = await openPostgres({ connectionString })
  const scene = new Scene({ store, passTime: async () => {} })
  // The form is the one that tokens have.
  expect((await scene.session()).holder).toMatch(A_TOKEN)
  const { id } = await wholeConversation(scene)
  const lines: unknown[] = []
  const note = (...line: unknown[]): void => void lines.push(line)
  const logger = { debug: note, info: note, warn: note, error: note }
  const batonpass = await createBatonpass({ store, logger })
  const run = batonpass.run({
    agent: 'claude-code',
    prompt: TASK,
    runtime: script([{ turns: FILLS }, { turns: ENDS }]),
  })
  const events: RunEvent[] = []
  run.on((event) => events.push(event))
  await run.finish()
  const client = new pg.Client({ connectionString })
  await client.connect()
  const { rows: tables } = await client.query<{ name: string }>(
    `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'batonpass'`,
  )
  const found: string[] = []
  for (const { name } of tables) {
    const { rows } = await client.query(`select to_jsonb(t)::text as json from batonpass.${name} t`)
    if (rows.some(({ json }) => A_TOKEN.test(json))) found.push(name)
  }
  await client.end()
  expect(tables.length).toBeGreaterThan(10)
  expect(found).toEqual([])
  expect(events.length).toBeGreaterThan(3)
  const told = [lines, events, await batonpass.history.conversation(id), (await store.audit.changes({})).entries]
  expect(JSON.stringify(told)).not.toMatch(A_TOKEN)
})
