import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'
import { parseHolder } from '../../src/adapters/postgres/embedded/pglite-holder.ts'
import { type Child, startChild } from './child-process.ts'
import { dump, makeStore } from './made-store.ts'
import type { Opening } from './opener.ts'
import { contentsOf, temporaryFolder } from './temporary-folder.ts'

const holderIn = (folder: string): number => parseHolder(readFileSync(join(folder, 'lock'), 'utf8')).pid

const ask = (opener: Child, key: string): Promise<string> => {
  opener.say(key)
  return opener.hear()
}

const open = async (opener: Child): Promise<Opening> => {
  opener.say('open')
  return JSON.parse(await opener.hear()) as Opening
}

describe('two openers of one folder', () => {
  it('in two processes: the second is let in, and has the store after the first', async () => {
    const dataDir = join(temporaryFolder(), 'store')
    await makeStore(dataDir)
    await using first = await startChild('opener.ts', [dataDir])
    await using second = await startChild('opener.ts', [dataDir])
    expect(await open(first)).toMatchObject({ outcome: 'opened' })
    expect(await open(second)).toMatchObject({ outcome: 'opened' })
    const noted = await ask(first, 'one')
    expect(await ask(second, 'one')).toBe(noted)
    expect(holderIn(dataDir)).toBe(first.pid)
    first.say('close')
    expect(await first.hear()).toBe('closed')
    expect(await ask(second, 'one')).toBe(noted)
    expect(holderIn(dataDir)).toBe(second.pid)
    second.say('close')
    expect(await second.hear()).toBe('closed')
    expect(contentsOf(dataDir)).toEqual(['data'])
  })

  it('in two processes: who is done may end, with or without a word, while others are inside', async () => {
    const dataDir = join(temporaryFolder(), 'store')
    await makeStore(dataDir)
    await using first = await startChild('opener.ts', [dataDir])
    await using second = await startChild('opener.ts', [dataDir])
    await using third = await startChild('opener.ts', [dataDir])
    for (const opener of [first, second, third]) expect(await open(opener)).toMatchObject({ outcome: 'opened' })
    const noted = await ask(third, 'one')
    first.say('exit')
    expect(await first.ended).toBe(0)
    expect(await ask(second, 'one')).toBe(noted)
    expect(holderIn(dataDir)).toBe(second.pid)
    await second.kill('SIGTERM')
    expect(await ask(third, 'one')).toBe(noted)
    expect(holderIn(dataDir)).toBe(third.pid)
  })

  it('in two processes, the first alone: the second is told at once who has it', async () => {
    const dataDir = join(temporaryFolder(), 'store')
    await using _ = await openPglite({ dataDir, loadDataDir: dump(), share: false })
    await using second = await startChild('opener.ts', [dataDir])
    const refused = await open(second)
    expect(refused).toMatchObject({ outcome: 'refused', code: 'store.locked' })
    expect(refused.message).toContain(`held by process ${process.pid} on`)
    expect(refused.message).toContain('does not share the folder')
    // It does not wait for the first one; how long a busy machine takes to say so is not asserted.
    expect(refused.ms).toBeLessThan(60_000)
  })

  it('in one process, by whatever path: a second that does not share is refused until the first is closed', async () => {
    const folder = temporaryFolder()
    const dataDir = join(folder, 'store')
    const first = await openPglite({ dataDir, loadDataDir: dump() })
    symlinkSync(dataDir, join(folder, 'link'))
    symlinkSync(folder, join(folder, 'way'))
    for (const spelling of [dataDir, relative('.', dataDir), join(folder, 'link'), join(folder, 'way', 'store')]) {
      await expect(openPglite({ dataDir: spelling, share: false })).rejects.toMatchObject({
        code: 'store.locked',
        message: expect.stringContaining(`this process (pid ${process.pid}`),
      })
    }
    await Promise.all([first[Symbol.asyncDispose](), first[Symbol.asyncDispose]()])
    await first[Symbol.asyncDispose]()
    expect(contentsOf(dataDir)).toEqual(['data'])
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
  it('everything is kept in .batonpass/ of the home folder, for its owner only', async () => {
    const home = temporaryFolder()
    const cwd = join(home, 'project')
    mkdirSync(cwd)
    await using opener = await startChild('opener.ts', [], { cwd, via: ['env', `HOME=${home}`] })
    expect(await open(opener)).toMatchObject({ outcome: 'opened' })
    expect(readdirSync(cwd)).toEqual([])
    const store = join(home, '.batonpass')
    expect(contentsOf(store)).toEqual(['data', 'lock', 'stores.json'])
    expect(statSync(store).mode & 0o777).toBe(0o700)
    expect(statSync(join(store, 'stores.json')).mode & 0o777).toBe(0o600)
    opener.say('close')
    expect(await opener.hear()).toBe('closed')
    expect(await opener.ended).toBe(0)
  })
})
