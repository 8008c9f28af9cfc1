import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { Scene } from '../../src/testing/scene.ts'
import { everyItem } from '../cases/read-back.ts'
import { startChild } from './child-process.ts'
import { dump, makeStore } from './made-store.ts'
import { contentsOf, temporaryFolder } from './temporary-folder.ts'

/** What the disk says it has left, if a test says so. */
const disk = vi.hoisted((): { free?: number } => ({}))
vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>()
  const statfsSync = (path: string) => ({
    ...real.statfsSync(path),
    ...(disk.free !== undefined && { bavail: disk.free, bsize: 1 }),
  })
  return { ...real, statfsSync }
})
afterEach(() => {
  delete disk.free
})

const MB = 2 ** 20
const FULL = { name: 'StoreFailure', code: 'store.full', retryable: false }

describe('a disk that is full', () => {
  it('is said before a store is made, and nothing is left there', async () => {
    const dataDir = join(temporaryFolder(), 'store')
    disk.free = 100 * MB
    const failure = await openPglite({ dataDir, loadDataDir: dump() }).catch((problem: unknown) => problem)
    expect(failure).toMatchObject({ ...FULL, message: expect.stringMatching(/100 MB are left, and it needs 112 MB/) })
    expect(contentsOf(dataDir)).toEqual([])
  })

  it('is said before a store is opened, without a word about replacing it; then it opens', async () => {
    const dataDir = join(temporaryFolder(), 'store')
    await makeStore(dataDir)
    disk.free = 63 * MB
    const failure = await openPglite({ dataDir }).catch((problem: unknown) => problem)
    expect(failure).toMatchObject(FULL)
    expect((failure as Error).message).toContain('Free some space')
    expect((failure as Error).message).not.toMatch(/damaged|backup/)
    expect(contentsOf(dataDir)).toEqual(['data'])
    disk.free = 65 * MB
    const store = await openPglite({ dataDir })
    await store[Symbol.asyncDispose]()
  })

  it('is reported to the writer, who may continue when there is space', async () => {
    const dataDir = join(temporaryFolder(), 'store')
    await using store = await openPglite({ dataDir, loadDataDir: dump() })
    const { service } = new Scene({ store, passTime: async () => {} })
    const kept = unwrap(await service.openConversation({ originalTask: 'Kept' })).conversation
    disk.free = 63 * MB
    await expect(service.openConversation({ originalTask: 'Refused' })).rejects.toMatchObject(FULL)
    // Enough for a small one.
    disk.free = 65 * MB
    await expect(service.openConversation({ originalTask: 'x'.repeat(MB) })).rejects.toMatchObject(FULL)
    unwrap(await service.openConversation({ originalTask: 'Kept, too' }))
    delete disk.free
    expect((await store.conversations.list({}, {})).items.map(({ originalTask }) => originalTask)).toEqual([
      kept.originalTask,
      'Kept, too',
    ])
  })

  it('does not keep a store from being closed; what was acknowledged is there afterwards', async () => {
    const dataDir = join(temporaryFolder(), 'store')
    const store = await openPglite({ dataDir, loadDataDir: dump() })
    const { service } = new Scene({ store, passTime: async () => {} })
    const { conversation } = unwrap(await service.openConversation({ originalTask: 'Kept' }))
    disk.free = 0
    await store[Symbol.asyncDispose]()
    expect(contentsOf(dataDir)).toEqual(['data'])
    delete disk.free
    await using again = await openPglite({ dataDir })
    expect(await again.conversations.find(conversation.id)).toStrictEqual(conversation)
  })
})

/** A real disk of a size that can be filled; only root may make one. */
const small = mkdtempSync(join(tmpdir(), 'batonpass-small-disk-'))
const canMount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=300m', 'tmpfs', small]).status === 0
if (!canMount) console.log('No disk can be mounted here: the test on a disk that is really full is left out.')
else spawnSync('umount', [small])

describe.runIf(canMount)('a disk that is really full', () => {
  afterEach(() => {
    spawnSync('umount', ['-l', small])
    rmSync(small, { recursive: true, force: true, maxRetries: 10 })
  })

  it.each([
    ['is seen coming', []],
    ['is met in the middle of a write', ['blind']],
  ])(
    'and %s ends the writing; nothing acknowledged is lost, and the store goes on when there is space',
    async (_, mode) => {
      mkdirSync(small, { recursive: true })
      spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=300m', 'tmpfs', small])
      const [dataDir, ballast] = [join(small, 'store'), join(small, 'ballast')]
      await makeStore(dataDir)
      await using filler = await startChild('filler.ts', [dataDir, ballast, ...mode])
      filler.say('fill')
      const acknowledged: string[] = []
      let line = await filler.hear()
      for (; line.startsWith('kept '); line = await filler.hear()) acknowledged.push(line.slice('kept '.length))
      expect(line).toBe('failed store.full')
      // And again, instead of never.
      expect(await filler.hear()).toBe('failed store.full')
      expect(await filler.hear()).toBe('closed')
      expect(await filler.ended).toBe(0)
      expect(acknowledged.length).toBeGreaterThan(10)
      await expect(openPglite({ dataDir })).rejects.toMatchObject(FULL)
      rmSync(ballast)
      await using store = await openPglite({ dataDir })
      const found = await everyItem((page) => store.conversations.list({}, page))
      expect(found.map(({ id }) => id).toSorted()).toEqual(acknowledged.toSorted())
    },
  )
})
