import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openPglite } from '../../src/adapters/postgres/open-pglite.ts'
import { type Child, startChild } from './child-process.ts'
import { dump, makeStore } from './made-store.ts'
import type { Opening } from './opener.ts'
import { temporaryFolder, withoutPulse } from './temporary-folder.ts'

const open = async (opener: Child): Promise<Opening> => {
  opener.say('open')
  return JSON.parse(await opener.hear()) as Opening
}

describe('two openers of one folder', () => {
  it('in two processes: the second is told at once who has it, and gets it after the first', async () => {
    const dataDir = join(temporaryFolder(), 'store')
    await makeStore(dataDir)
    await using first = await startChild('opener.ts', [dataDir])
    await using second = await startChild('opener.ts', [dataDir])
    await using third = await startChild('opener.ts', [dataDir])
    expect(await open(first)).toMatchObject({ outcome: 'opened' })
    const refused = await open(second)
    expect(refused).toMatchObject({ outcome: 'refused', code: 'store.locked' })
    expect(refused.message).toContain(`held by process ${first.pid} on`)
    // It does not wait for the first one; how long a busy machine takes to say so is not asserted.
    expect(refused.ms).toBeLessThan(10_000)
    first.say('close')
    expect(await first.hear()).toBe('closed')
    expect(existsSync(join(dataDir, 'lock'))).toBe(false)
    expect(await open(third)).toMatchObject({ outcome: 'opened' })
  })

  it('in one process, by whatever path: the second is refused until the first is closed', async () => {
    const folder = temporaryFolder()
    const dataDir = join(folder, 'store')
    const first = await openPglite({ dataDir, loadDataDir: dump() })
    symlinkSync(dataDir, join(folder, 'link'))
    symlinkSync(folder, join(folder, 'way'))
    for (const spelling of [dataDir, relative('.', dataDir), join(folder, 'link'), join(folder, 'way', 'store')]) {
      await expect(openPglite({ dataDir: spelling })).rejects.toMatchObject({
        code: 'store.locked',
        message: expect.stringContaining(`this process (pid ${process.pid}`),
      })
    }
    await Promise.all([first[Symbol.asyncDispose](), first[Symbol.asyncDispose]()])
    await first[Symbol.asyncDispose]()
    expect(readdirSync(dataDir)).toEqual(['data'])
    const again = await openPglite({ dataDir: join(folder, 'link') })
    await again[Symbol.asyncDispose]()
  })

  it('one after the other, when the first ends without closing or is killed', async () => {
    const dataDir = join(temporaryFolder(), 'store')
    await makeStore(dataDir)
    await using leaving = await startChild('opener.ts', [dataDir])
    await using killed = await startChild('opener.ts', [dataDir])
    await using last = await startChild('opener.ts', [dataDir])
    await open(leaving)
    leaving.say('exit')
    expect(await leaving.ended).toBe(0)
    expect(existsSync(join(dataDir, 'lock'))).toBe(false)
    await open(killed)
    await killed.kill('SIGTERM')
    expect(existsSync(join(dataDir, 'lock'))).toBe(true)
    expect(await open(last)).toMatchObject({ outcome: 'opened' })
  })

  it('in memory there is nothing to share', async () => {
    const stores = [await openPglite({ loadDataDir: dump() }), await openPglite({ loadDataDir: dump() })]
    for (const store of stores) await store[Symbol.asyncDispose]()
  })
})

describe('without options', () => {
  it('everything is kept in .batonpass/ of the working directory, for its owner only', async () => {
    const cwd = join(temporaryFolder(), 'project')
    mkdirSync(cwd)
    await using opener = await startChild('opener.ts', [], { cwd })
    expect(await open(opener)).toMatchObject({ outcome: 'opened' })
    expect(readdirSync(cwd)).toEqual(['.batonpass'])
    expect(withoutPulse(join(cwd, '.batonpass'))).toEqual(['data', 'lock'])
    expect(statSync(join(cwd, '.batonpass')).mode & 0o777).toBe(0o700)
    opener.say('close')
    expect(await opener.hear()).toBe('closed')
    expect(await opener.ended).toBe(0)
  })
})
