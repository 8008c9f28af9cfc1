import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { parseHolder } from '../../src/adapters/postgres/embedded/pglite-holder.ts'
import { type Child, startChild } from './child-process.ts'
import type { Opening } from './opener.ts'
import { temporaryFolder } from './temporary-folder.ts'

const until = async (isSo: () => boolean): Promise<void> => {
  for (const end = performance.now() + 300_000; !isSo() && performance.now() < end; ) await pause(1)
  expect(isSo()).toBe(true)
}

/** How many sockets a process has open; nothing where the system does not say. */
const sockets = ({ pid }: Child): number | undefined => {
  const folder = `/proc/${pid}/fd`
  if (!existsSync(folder)) return undefined
  return readdirSync(folder).filter((name) => {
    try {
      return readlinkSync(join(folder, name)).startsWith('socket:')
    } catch {
      return false // closed meanwhile
    }
  }).length
}

/** Tells a process to open the store, and waits until it stands at the door of the one that makes it. */
const atTheDoor = async (waiter: Child): Promise<void> => {
  const before = sockets(waiter)
  waiter.say('open')
  if (before === undefined) await pause(1_000)
  else await until(() => (sockets(waiter) ?? 0) > before)
}

/** What lies in the folder at the moments when the maker of a store is killed. */
const MOMENTS: readonly (readonly [string, (dataDir: string) => boolean])[] = [
  ['has locked the folder', (dataDir) => existsSync(join(dataDir, 'lock'))],
  ['has begun the database', (dataDir) => existsSync(join(dataDir, 'data.new'))],
  ['has written half of the database', (dataDir) => existsSync(join(dataDir, 'data.new', 'PG_VERSION'))],
  ['has put the database into its place', (dataDir) => existsSync(join(dataDir, 'data'))],
]

const open = async (opener: Child): Promise<Opening> => JSON.parse(await opener.hear()) as Opening

/** The process that the lock names, if it can be read just now. */
const holderIn = (dataDir: string): number | undefined => {
  try {
    return parseHolder(readFileSync(join(dataDir, 'lock'), 'utf8')).pid
  } catch {
    return undefined
  }
}

const ask = (opener: Child, key: string): Promise<string> => {
  opener.say(key)
  return opener.hear()
}

describe('a process that is killed while it makes a store', () => {
  it.each(MOMENTS)('when it %s: one of those who wait makes it, and all are let in', async (_, isReached) => {
    const dataDir = join(temporaryFolder(), 'store')
    await using maker = await startChild('opener.ts', [dataDir])
    await using second = await startChild('opener.ts', [dataDir])
    await using third = await startChild('opener.ts', [dataDir])
    maker.say('open')
    await until(() => isReached(dataDir))
    process.kill(maker.pid, 'SIGSTOP')
    await Promise.all([atTheDoor(second), atTheDoor(third)])
    await maker.kill('SIGKILL')
    const openings = await Promise.all([open(second), open(third)])
    expect(openings).toMatchObject([{ outcome: 'opened' }, { outcome: 'opened' }])
    expect(await ask(second, 'one')).toBe(await ask(third, 'one'))
  })

  it('and then the one that took its place: the next makes it', async () => {
    const dataDir = join(temporaryFolder(), 'store')
    await using maker = await startChild('opener.ts', [dataDir])
    await using second = await startChild('opener.ts', [dataDir])
    await using third = await startChild('opener.ts', [dataDir])
    await using fourth = await startChild('opener.ts', [dataDir])
    maker.say('open')
    await until(() => existsSync(join(dataDir, 'data.new')))
    process.kill(maker.pid, 'SIGSTOP')
    const waiters = [second, third, fourth]
    await Promise.all(waiters.map(atTheDoor))
    await maker.kill('SIGKILL')
    await until(() => waiters.some(({ pid }) => pid === holderIn(dataDir)))
    const next = waiters.find(({ pid }) => pid === holderIn(dataDir))
    await next?.kill('SIGKILL')
    const others = waiters.filter((waiter) => waiter !== next)
    const openings = await Promise.all(others.map(open))
    expect(openings).toMatchObject([{ outcome: 'opened' }, { outcome: 'opened' }])
    const [one, other] = others as [Child, Child]
    expect(await ask(one, 'one')).toBe(await ask(other, 'one'))
  })
})
