import { describe, expect, it } from 'vitest'
import { ExaminedStore } from '../../src/adapters/postgres/health/examined-store.ts'
import { feedStanding } from '../../src/adapters/postgres/health/feed-check.ts'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { RefusedError, unwrap } from '../../src/entry/index.ts'
import type { FeedEntry } from '../../src/entry/ports.ts'
import { onServer } from '../support/test-databases.ts'
import { MOVES, twoServers } from './moved-server.ts'
import { Stage } from './stage.ts'

const keysOf = (entries: readonly FeedEntry[]): readonly string[] =>
  entries.map(({ conversationId, position, commandId }) => `${conversationId}/${position}/${commandId}`)

/** Everything after a cursor, in pages of three, and the cursor at the end. */
const readOn = async ({ audit }: Stage, after?: string) => {
  const read: FeedEntry[] = []
  for (let next = after; ; ) {
    const page = await audit.changes({ limit: 3, ...(next !== undefined && { after: next }) })
    read.push(...page.entries)
    next = page.next
    if (page.entries.length === 0) return { keys: keysOf(read), next }
  }
}

const stored = async (url: string): Promise<readonly string[]> => {
  const query = `select conversation_id || '/' || position || '/' || command_id as key from batonpass.audit_entries order by key`
  return (await onServer(url, query)).map(({ key }) => String(key))
}

/** The cursor that the refusal of another one names. */
const continueFrom = async ({ audit }: Stage, after: string): Promise<string> => {
  const refused: unknown = await audit.changes({ after }).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'feed.moved', refusal: { generation: 2 } })
  if (!(refused instanceof RefusedError) || refused.refusal.code !== 'feed.moved') throw refused
  expect(refused.message).toContain(refused.refusal.continueFrom)
  return refused.refusal.continueFrom
}

const feedFound = async (connectionString: string) => {
  await using examined = new ExaminedStore({ connectionString })
  examined.isOpen = true
  return await feedStanding(examined)
}

const openAt = async (connectionString: string): Promise<Stage> => new Stage(await openPostgres({ connectionString }))

describe.each(MOVES)('a store that is brought $name to a server that has counted less', (move) => {
  it('feeds every entry once, whatever cursor a consumer has', async (context) => {
    if (move.isMissing !== undefined) {
      console.warn(`NOT TESTED, ${move.name}: ${move.isMissing}`)
      context.skip(move.isMissing)
    }
    await using servers = await twoServers(move)
    await (await openPostgres({ connectionString: servers.from, autoMigrate: true }))[Symbol.asyncDispose]()
    const before = await openAt(servers.from)
    const working = await before.scene.worked('read_file')
    await before.conversation()
    const early = await before.audit.changes({ limit: 4 })
    const all = await readOn(before)
    const restore = await move.take(servers.from)
    // What is written after the dump is lost, though one consumer has read it.
    await before.conversation()
    const beyond = await readOn(before)
    expect(beyond.keys.length).toBeGreaterThan(all.keys.length)
    await before.store[Symbol.asyncDispose]()
    await restore(servers.to)

    const [counted] = await onServer(
      servers.to,
      `select pg_current_xact_id()::text::bigint < (select min(transaction_id::text::bigint) from batonpass.audit_entries) as less`,
    )
    expect(counted).toEqual({ less: true })

    const after = await openAt(servers.to)
    expect(await feedFound(servers.from)).toMatchObject([
      { result: 'ok', text: expect.stringContaining('in generation 1, since 20') },
    ])
    expect(await feedFound(servers.to)).toMatchObject([
      { result: 'warning', text: expect.stringMatching(/came here from another server.*in generation 2/) },
    ])
    const restored = await readOn(after)
    expect(restored.keys).toEqual(all.keys)
    expect(await readOn(after, await continueFrom(after, early.next))).toEqual({
      keys: all.keys.slice(4),
      next: restored.next,
    })
    const untouched = await continueFrom(after, beyond.next)
    expect((await readOn(after, untouched)).keys).toEqual([])

    // The work is carried on: in a conversation that was restored, and in new ones.
    unwrap(await after.scene.service.recordTurn({ ...working, ...after.scene.turn('read_file') }))
    await after.conversation()
    expect(await feedFound(servers.to)).toMatchObject([
      { result: 'ok', text: expect.stringContaining('in generation 2, since 20') },
    ])
    const added = (await stored(servers.to)).filter((key) => !all.keys.includes(key))
    expect(added.length).toBeGreaterThan(12)
    for (const cursor of [
      restored.next,
      untouched,
      await continueFrom(after, beyond.next),
      await continueFrom(after, all.next),
    ])
      expect((await readOn(after, cursor)).keys.toSorted()).toEqual(added)
    const everything = await readOn(after)
    expect(everything.keys.slice(0, all.keys.length)).toEqual(all.keys)
    expect(everything.keys.toSorted()).toEqual(await stored(servers.to))
    expect((await readOn(after, everything.next)).keys).toEqual([])
    expect(await after.audit.endOfChanges()).toBe(everything.next)
    expect(unwrap(await after.audit.verify(working.session.conversationId)).intact).toBe(true)
    await after.store[Symbol.asyncDispose]()
  })
})
