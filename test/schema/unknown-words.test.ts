import { afterAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { lawfulDatabase } from './raw-rows.ts'

const { client, connectionString, open, working } = await lawfulDatabase()
// As a superuser would who means it: with the triggers that keep records switched off.
await client.query('set session_replication_role = replica')
const store = await openPostgres({ connectionString, maxConnections: 1 })
afterAll(async () => {
  await store[Symbol.asyncDispose]()
  await client.end()
})

const { id: handoff, conversationId: conversation } = open.handoff
const { id: session } = working.session
const { id: source } = open.source.session

/** A row the domain could not have written, once the CHECK that forbids it is gone, is an error and never a default. */
describe('a word nobody knows, in a row', () => {
  it.each<[string, string, string, () => Promise<unknown>]>([
    [
      'a state',
      'agent_sessions drop constraint agent_sessions_state_known',
      `agent_sessions set state = 'sleeping' where id = '${session}'`,
      () => store.sessions.find(session),
    ],
    [
      'a status',
      'handoffs drop constraint handoffs_status_known',
      `handoffs set status = 'lost' where id = '${handoff}'`,
      () => store.handoffs.find(handoff),
    ],
    [
      'a kind',
      'handoffs drop constraint handoffs_kind_known',
      `handoffs set kind = 'gossip' where id = '${handoff}'`,
      () => store.handoffs.find(handoff),
    ],
    [
      'a flag',
      'handoffs drop constraint handoffs_flags_known',
      `handoffs set flags = '{nonsense}' where id = '${handoff}'`,
      () => store.handoffs.find(handoff),
    ],
    [
      'an outcome of asking for a checkpoint',
      'handoffs drop constraint handoffs_checkpoint_formed',
      `handoffs set checkpoint = '{"outcome": "lost"}' where id = '${handoff}'`,
      () => store.handoffs.find(handoff),
    ],
    [
      'totals that are none',
      'agent_sessions drop constraint agent_sessions_totals_formed',
      `agent_sessions set totals = '{"inputTokens": "many"}' where id = '${session}'`,
      () => store.sessions.find(session),
    ],
    [
      'a role',
      'messages drop constraint messages_role_known',
      `messages set role = 'narrator' where conversation_id = '${conversation}'`,
      () => store.messages.listMessages(conversation, { limit: 10 }),
    ],
    [
      'a type of snapshot',
      'context_snapshots drop constraint context_snapshots_type_known',
      `context_snapshots set type = 'souvenir' where session_id = '${source}'`,
      () => store.snapshots.findLatest(source),
    ],
    [
      'held, though active',
      'agent_sessions drop constraint agent_sessions_held_only_while_paused',
      `agent_sessions set state = 'active' where id = '${source}'`,
      () => store.sessions.find(source),
    ],
  ])('is an error: %s', async (_, loosen, spoil, read) => {
    expect(await read()).toBeTruthy()
    const spoiled = [`alter table batonpass.${loosen}`, `update batonpass.${spoil}`]
    const unspoiled = await rowsBefore(spoil)
    const tightened = await constraintBefore(loosen)
    for (const statement of spoiled) await client.query(statement)
    await expect(read()).rejects.toMatchObject({ name: 'StoreFailure', code: 'store.integrity', retryable: false })
    await unspoiled()
    await tightened()
    expect(await read()).toBeTruthy()
  })
})

/** Remembers the rows an update is about to spoil, and puts each back as it was. */
const rowsBefore = async (spoil: string): Promise<() => Promise<void>> => {
  const [, table = '', column = '', where = ''] = /^(\w+) set (\w+) = .* where (.*)$/.exec(spoil) ?? []
  const { rows } = await client.query<{ id: string; was: unknown }>(
    `select id, ${column} as was from batonpass.${table} where ${where}`,
  )
  expect(rows).not.toEqual([])
  return async () => {
    for (const { id, was } of rows)
      await client.query(`update batonpass.${table} set ${column} = $1 where id = $2`, [was, id])
  }
}

/** Remembers the constraint a statement is about to drop, and adds it again: it then also checks what was put back. */
const constraintBefore = async (loosen: string): Promise<() => Promise<void>> => {
  const [, table = '', name = ''] = /^(\w+) drop constraint (\w+)$/.exec(loosen) ?? []
  const { rows } = await client.query<{ definition: string }>(
    `select pg_get_constraintdef(oid) as definition from pg_constraint
     where conname = $1 and conrelid = $2::regclass`,
    [name, `batonpass.${table}`],
  )
  const [constraint] = rows
  if (constraint === undefined) throw new Error(`${table} has no constraint ${name}`)
  return async () => {
    await client.query(`alter table batonpass.${table} add constraint ${name} ${constraint.definition}`)
  }
}
