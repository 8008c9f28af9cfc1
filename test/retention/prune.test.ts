import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { commandId, unwrap } from '../../src/entry/index.ts'
import type { CommandId } from '../../src/entry/ports.ts'
import { FaultInjector } from '../../src/entry/testing.ts'
import { pruneCommands } from '../../src/services/commands/command-pruner.ts'
import { Scene } from '../../src/testing/scene.ts'
import { closeStores, openStore, STORE_KINDS } from '../support/stores.ts'
import { cloneDatabase, onServer, withDatabase } from '../support/test-databases.ts'
import { letAge } from './aged.ts'

const HOUR = 3_600_000
const WEEK = 7 * 24 * HOUR

afterAll(closeStores)

describe.each(STORE_KINDS)('commands that were carried out long ago: %s', (kind) => {
  const stage = async () => {
    const under = await openStore(kind)
    const scene = new Scene(under)
    const open = async (id: CommandId): Promise<string> =>
      unwrap(await scene.service.openConversation({ originalTask: 'Fix it', commandId: id })).conversation.id
    const ids = (count: number): readonly CommandId[] => Array.from({ length: count }, () => commandId(randomUUID()))
    // Those that are made to look old in the store are young in this process, which would miss them: another one asks.
    const elsewhere = scene.serviceOver(new FaultInjector(under.store).store)
    const openAgain = async (id: CommandId): Promise<string> =>
      unwrap(await elsewhere.openConversation({ originalTask: 'Fix it', commandId: id })).conversation.id
    const age = (commands: readonly CommandId[], ms: number): Promise<void> => letAge(under, commands, ms)
    return { scene, open, openAgain, ids, age, commands: under.store.commands }
  }

  it('are forgotten, oldest first and a few at a time; repeated after that they act again', async () => {
    const { open, openAgain, ids, age, commands } = await stage()
    const [oldest = '' as CommandId, old = '' as CommandId] = ids(2)
    const first = await open(oldest)
    await age([oldest], HOUR)
    const second = await open(old)
    await age([oldest, old], WEEK + 1_000)
    const [young = '' as CommandId] = ids(1)
    const third = await open(young)
    expect(await commands.countPrunable(WEEK)).toBe(2)
    expect(await commands.prune(WEEK, 1)).toBe(1)
    expect(await open(old)).toBe(second)
    expect(await openAgain(oldest)).not.toBe(first)
    expect(await commands.prune(WEEK, 500)).toBe(1)
    expect(await commands.prune(WEEK, 500)).toBe(0)
    expect(await commands.countPrunable(WEEK)).toBe(0)
    expect(await open(young)).toBe(third)
    expect(await openAgain(old)).not.toBe(second)
  })

  it('are never forgotten before an hour has passed, however little is to be kept', async () => {
    const { open, ids, age, commands } = await stage()
    const [young = '' as CommandId, old = '' as CommandId] = ids(2)
    await open(old)
    await age([old], HOUR + 1_000)
    const first = await open(young)
    if (kind === 'memory') await age([young], HOUR - 1_000)
    else await age([young], HOUR - 60_000)
    expect(await commands.countPrunable(0)).toBe(1)
    expect(await commands.prune(-WEEK, 500)).toBe(1)
    expect(await open(young)).toBe(first)
  })

  it('are forgotten by several at once, each by one of them', async () => {
    const { open, ids, age, commands } = await stage()
    const many = ids(24)
    for (const id of many) await open(id)
    await age(many, WEEK + 1_000)
    const pruned = await Promise.all(Array.from({ length: 8 }, () => commands.prune(WEEK, 5)))
    expect(pruned.every((count) => count <= 5)).toBe(true)
    let rest = 0
    for await (const soFar of pruneCommands(commands, WEEK)) rest = soFar
    expect(pruned.reduce((sum, count) => sum + count, rest)).toBe(24)
    expect(await commands.countPrunable(WEEK)).toBe(0)
  })
})

it('a program forgets commands without a right to delete them, and no young one', async () => {
  const url = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
  const role = `pruner_${randomUUID().slice(0, 8)}`
  await onServer(url, `create role ${role}`)
  try {
    await onServer(
      url,
      `insert into batonpass.commands (id, conversation_id, digest, receipt, kept_at)
       select gen_random_uuid(), gen_random_uuid(), '', '{}', clock_timestamp() - age
       from unnest(array['2 hours', '90 minutes', '59 minutes', '0']::interval[]) as age`,
    )
    await onServer(url, `grant usage on schema batonpass to ${role}`)
    const asProgram = (statement: string) => onServer(url, `set role ${role}; ${statement}`)
    await expect(asProgram('select batonpass.prune_commands_v1(0, 10)')).rejects.toThrow(/permission denied/)
    await onServer(url, `grant execute on function batonpass.prune_commands_v1 to ${role}`)
    await expect(asProgram('delete from batonpass.commands')).rejects.toThrow(/permission denied/)
    await asProgram('select batonpass.prune_commands_v1(0, 10)')
    expect(await onServer(url, 'select count(*)::int as left from batonpass.commands')).toEqual([{ left: 2 }])
  } finally {
    await onServer(url, `drop owned by ${role}; drop role ${role}`)
  }
})

it('no step reads more than it forgets, however many commands are kept', async () => {
  const url = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
  await onServer(
    url,
    `insert into batonpass.commands (id, conversation_id, digest, receipt, kept_at)
     select gen_random_uuid(), gen_random_uuid(), '', '{}', clock_timestamp() - (5000 - n) * interval '1 minute'
     from generate_series(1, 5000) as n`,
  )
  const read = `(select seq_tup_read + idx_tup_fetch from pg_stat_xact_user_tables where relname = 'commands')`
  const [counted] = await onServer(
    url,
    `with before as materialized (select ${read} as read),
       step as materialized (select batonpass.prune_commands_v1(0, 100) as pruned from before)
     select pruned, (${read} - before.read)::int as read from before, step`,
  )
  expect(counted).toMatchObject({ pruned: 100 })
  expect(counted?.read).toBeLessThan(500)
})
