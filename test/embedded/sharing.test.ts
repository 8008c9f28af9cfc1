import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { CompiledQuery } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'
import { parseHolder } from '../../src/adapters/postgres/embedded/pglite-holder.ts'
import type { SqlStore } from '../../src/adapters/postgres/open/sql-store.ts'
import { openMigratorAt } from '../../src/adapters/postgres/open-migrator.ts'
import { systemClock } from '../../src/adapters/system/system-clock.ts'
import { uuidV7Ids } from '../../src/adapters/system/uuid-v7-ids.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { HandoffService } from '../../src/services/handoff-service.ts'
import { dump, makeStore } from './made-store.ts'
import { contentsOf, temporaryFolder } from './temporary-folder.ts'

const write = async (store: SqlStore, originalTask: string) => {
  const service = new HandoffService({ store, clock: systemClock, ids: uuidV7Ids })
  return unwrap(await service.openConversation({ originalTask })).conversation.id
}

const tasksIn = async (store: SqlStore, ids: readonly Awaited<ReturnType<typeof write>>[]) =>
  Promise.all(ids.map(async (id) => (await store.conversations.find(id))?.originalTask))

const original = mkdtempSync(join(tmpdir(), 'batonpass-sharing-'))
beforeAll(() => makeStore(join(original, 'store')), 0)
afterAll(() => rmSync(original, { recursive: true, force: true, maxRetries: 10 }))

/** A store of the test's own; copying one is quicker than making it. */
const made = async (dataDir = join(temporaryFolder(), 'store')): Promise<string> => {
  cpSync(join(original, 'store'), dataDir, { recursive: true })
  chmodSync(dataDir, 0o700)
  return dataDir
}

const doorIn = (folder: string): string => parseHolder(readFileSync(join(folder, 'lock'), 'utf8')).door ?? ''

const close = (store: SqlStore): Promise<void> => store[Symbol.asyncDispose]()

describe.skipIf(process.platform === 'win32')('a folder that several stores have open', { timeout: 0 }, () => {
  it('is one record, and each takes over when the one before is closed', async () => {
    const dataDir = await made()
    const stores = [await openPglite({ dataDir }), await openPglite({ dataDir }), await openPglite({ dataDir })]
    const ids = await Promise.all(stores.map((store, n) => write(store, `Task ${n}`)))
    const doors: string[] = []
    for (const store of stores) {
      doors.push(doorIn(dataDir))
      await close(store)
      for (const other of stores.slice(stores.indexOf(store) + 1))
        expect(await tasksIn(other, ids)).toEqual(['Task 0', 'Task 1', 'Task 2'])
    }
    expect(new Set(doors).size).toBe(3)
    expect(contentsOf(dataDir)).toEqual(['data'])
    await expect(write(stores[1] as SqlStore, 'Late')).rejects.toMatchObject({ message: 'The store is closed' })
  })

  it('keeps what all of them write at once', async () => {
    const dataDir = await made()
    await using first = await openPglite({ dataDir })
    await using second = await openPglite({ dataDir })
    const stores = [first, second, first, second]
    const ids = await Promise.all(Array.from({ length: 40 }, (_, n) => write(stores[n % 4] as SqlStore, `Task ${n}`)))
    expect(await tasksIn(second, ids)).toEqual(Array.from({ length: 40 }, (_, n) => `Task ${n}`))
  })

  it('answers all that was asked when it changed hands in the middle', async () => {
    const dataDir = await made()
    const first = await openPglite({ dataDir })
    await using second = await openPglite({ dataDir })
    // More than there are connections, so that some wait for one when the first has left.
    const asked = Array.from({ length: 30 }, (_, n) => write(second, `Task ${n}`))
    await Promise.race(asked)
    await close(first)
    const ids = await Promise.all(asked)
    expect(await tasksIn(second, ids)).toEqual(Array.from({ length: 30 }, (_, n) => `Task ${n}`))
  })

  it('is served by one that itself never rests', async () => {
    const dataDir = await made()
    await using first = await openPglite({ dataDir })
    await using second = await openPglite({ dataDir })
    let isRead = false
    const reading = second.conversations.findByExternalKey('none').then(() => {
      isRead = true
    })
    for (let times = 0; times < 500 && !isRead; times += 1) await first.conversations.findByExternalKey('none')
    expect(isRead).toBe(true)
    await reading
  })

  it('is shared in a folder with a long name, and from a runtime folder nothing is left', async () => {
    const dataDir = await made(join(temporaryFolder(), 'long-name-'.repeat(12), 'store'))
    const first = await openPglite({ dataDir })
    const second = await openPglite({ dataDir })
    const door = doorIn(dataDir)
    expect(door).toContain(`batonpass-${process.getuid?.()}`)
    expect(statSync(dirname(door)).mode & 0o777).toBe(0o700)
    const id = await write(second, 'Task')
    await close(first)
    expect(existsSync(dirname(door))).toBe(false)
    expect(await tasksIn(second, [id])).toEqual(['Task'])
    await close(second)
  })

  it('is migrated by way of the one that has it', async () => {
    const dataDir = await made()
    await using first = await openPglite({ dataDir })
    await using second = openMigratorAt({ dataDir, mustExist: true })
    expect((await second.migrator.status()).every(({ state }) => state === 'applied')).toBe(true)
    await using other = await openPglite({ dataDir, schema: 'other' })
    expect(await tasksIn(first, [await write(other, 'Task')])).toEqual([undefined])
  })
})

describe.skipIf(process.platform === 'win32')('a folder that another has is not opened', { timeout: 0 }, () => {
  it('from a dump: there is a store already', async () => {
    const dataDir = await made()
    await using _ = await openPglite({ dataDir })
    await expect(openPglite({ dataDir, loadDataDir: dump() })).rejects.toMatchObject({
      code: 'store.failed',
      message: expect.stringContaining('already'),
    })
  })

  it('by a program that is older than its schema, and whoever has it keeps it', async () => {
    const dataDir = await made()
    await using first = await openPglite({ dataDir })
    const newer = `insert into batonpass.migrations (name, applied_at) values ('9999_later', now())`
    await first.database.kysely.executeQuery(CompiledQuery.raw(newer))
    await expect(openPglite({ dataDir })).rejects.toMatchObject({ code: 'store.newer_schema' })
    await write(first, 'Still here')
  })

  it('by a door that others may enter', async () => {
    const dataDir = await made()
    await using _ = await openPglite({ dataDir })
    chmodSync(join(dataDir, dirname(doorIn(dataDir))), 0o755)
    await expect(openPglite({ dataDir })).rejects.toMatchObject({
      code: 'store.locked',
      message: expect.stringContaining('this process'),
    })
  })

  it('and not made anew, when it is gone after the one that had it', async () => {
    const dataDir = await made()
    const first = await openPglite({ dataDir })
    await using second = await openPglite({ dataDir })
    await close(first)
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 })
    await expect(write(second, 'Where?')).rejects.toMatchObject({ code: 'store.missing' })
    expect(existsSync(dataDir)).toBe(false)
  })
})
