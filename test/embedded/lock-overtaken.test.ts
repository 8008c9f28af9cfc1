import * as fs from 'node:fs'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type PgliteLock, takeLock } from '../../src/adapters/postgres/embedded/pglite-lock.ts'
import { StoreFailure } from '../../src/ports/store/store-failure.ts'
import { plantLock } from './planted-lock.ts'
import { temporaryFolder } from './temporary-folder.ts'

const interruption = vi.hoisted(() => ({ before: (_step: string): void => {} }))

vi.mock('node:fs', async (original) => {
  const real = await original<typeof fs>()
  const watched = ['linkSync', 'renameSync', 'rmSync', 'readFileSync', 'readdirSync', 'openSync'] as const
  const wrapped = watched.map((name) => [
    name,
    (...args: unknown[]): unknown => {
      if (String(args[0]).includes('batonpass-embedded-')) interruption.before(name)
      return (real[name] as (...args: unknown[]) => unknown)(...args)
    },
  ])
  return { ...real, ...Object.fromEntries(wrapped) }
})

afterEach(() => {
  interruption.before = () => {}
  told.length = 0
})

/** What those who did not get a lock were told. */
const told: string[] = []

const attempt = (folder: string): PgliteLock | undefined => {
  try {
    return takeLock(folder)
  } catch (error) {
    if (!(error instanceof StoreFailure && error.code === 'store.locked')) throw error
    told.push(error.message)
    return undefined
  }
}

/** Takes the lock, with something else happening whole before its step number `moment`; `false` if it has fewer. */
const overtaken = (folder: string, moment: number, happening: () => void): [PgliteLock | undefined, boolean] => {
  let steps = 0
  interruption.before = () => {
    steps += 1
    if (steps !== moment) return
    interruption.before = () => {}
    happening()
  }
  const lock = attempt(folder)
  interruption.before = () => {}
  return [lock, steps >= moment]
}

/** Every moment there is, each on a folder of its own. Answers with how many there were. */
const atEveryMoment = (check: (moment: number) => boolean): number => {
  let moment = 1
  while (check(moment)) moment += 1
  return moment - 1
}

describe.each([
  ['a dead one’s lock', (folder: string) => void plantLock(folder)],
  [
    'the lock of one killed while it took over',
    (folder: string) => void plantLock(folder, {}, `lock.after-${plantLock(folder)}`),
  ],
  ['no lock', () => {}],
])('one process overtaken by another, both after %s', (_, plant) => {
  it('at every step: only one of them has it', () => {
    const moments = atEveryMoment((moment) => {
      const folder = temporaryFolder()
      plant(folder)
      let other: PgliteLock | undefined
      const [own, happened] = overtaken(folder, moment, () => {
        other = attempt(folder)
      })
      expect([own, other].filter((lock) => lock !== undefined)).toHaveLength(1)
      expect(fs.readdirSync(folder)).toContain('lock')
      own?.release()
      other?.release()
      expect(fs.readdirSync(folder).filter((name) => name === 'lock')).toEqual([])
      return happened
    })
    expect(moments).toBeGreaterThanOrEqual(4)
  })

  it('at every step, when the other lets go again: it gets the lock and keeps it', () => {
    atEveryMoment((moment) => {
      const folder = temporaryFolder()
      plant(folder)
      const [own, happened] = overtaken(folder, moment, () => attempt(folder)?.release())
      expect(own).toBeDefined()
      expect(attempt(folder)).toBeUndefined()
      own?.release()
      return happened
    })
  })
})

describe('one process overtaken by two, the second too late', () => {
  it('at every step: it is told of the first, who has the lock', () => {
    const late = process.ppid
    atEveryMoment((moment) => {
      const folder = temporaryFolder()
      const dead = plantLock(folder)
      let other: PgliteLock | undefined
      const [own, happened] = overtaken(folder, moment, () => {
        other = attempt(folder)
        if (other !== undefined) plantLock(folder, { pid: late }, `lock.after-${dead}`)
      })
      expect([own, other].filter((lock) => lock !== undefined)).toHaveLength(1)
      own?.release()
      other?.release()
      return happened
    })
    expect(told.length).toBeGreaterThan(4)
    for (const message of told) expect(message).toContain(`this process (pid ${process.pid}`)
  })
})
