import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { takeLock } from '../../src/adapters/postgres/embedded/pglite-lock.ts'
import { StoreFailure } from '../../src/ports/store/store-failure.ts'
import { startChild } from './child-process.ts'
import { plantLock } from './planted-lock.ts'
import { temporaryFolder } from './temporary-folder.ts'

const failureOf = (work: () => unknown): StoreFailure => {
  try {
    work()
  } catch (error) {
    if (error instanceof StoreFailure) return error
    throw error
  }
  throw new Error('It did not fail')
}

const lockIn = (folder: string): Record<string, unknown> => JSON.parse(readFileSync(join(folder, 'lock'), 'utf8'))

describe('a lock', () => {
  it('says who has it, to its owner only, and is gone when released', () => {
    const folder = temporaryFolder()
    const lock = takeLock(folder)
    expect(readdirSync(folder)).toEqual(['lock'])
    expect(lockIn(folder)).toMatchObject({
      pid: process.pid,
      host: hostname(),
      startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      token: expect.stringMatching(/^[\da-f-]{36}$/),
    })
    expect(statSync(join(folder, 'lock')).mode & 0o777).toBe(0o600)
    lock.release()
    lock.release()
    expect(readdirSync(folder)).toEqual([])
  })

  it('is refused to the process that has it, and can be taken again after it', () => {
    const folder = temporaryFolder()
    const lock = takeLock(folder)
    const refused = failureOf(() => takeLock(folder))
    expect(refused.code).toBe('store.locked')
    expect(refused.message).toContain(`this process (pid ${process.pid} on ${hostname()}) since 20`)
    expect(refused.message).toContain('close it first')
    lock.release()
    takeLock(folder).release()
  })

  it('that somebody else has got meanwhile is not released', () => {
    const folder = temporaryFolder()
    const lock = takeLock(folder)
    const token = plantLock(folder)
    lock.release()
    expect(lockIn(folder).token).toBe(token)
  })

  it('leaves no listener behind, however many there were', () => {
    const before = process.listenerCount('exit')
    const locks = Array.from({ length: 20 }, () => takeLock(temporaryFolder()))
    expect(process.listenerCount('exit')).toBe(before + 1)
    for (const lock of locks) lock.release()
    expect(process.listenerCount('exit')).toBe(before)
  })
})

describe('a lock left behind', () => {
  it('by a process that is gone is taken over', () => {
    const folder = temporaryFolder()
    plantLock(folder)
    const lock = takeLock(folder)
    expect(lockIn(folder).pid).toBe(process.pid)
    expect(readdirSync(folder)).toEqual(['lock'])
    lock.release()
  })

  it.runIf(process.platform === 'linux')('by a process whose pid another one has now is taken over', () => {
    const folder = temporaryFolder()
    const own = takeLock(folder)
    const { processStart } = lockIn(folder)
    own.release()
    plantLock(folder, { pid: process.pid, processStart: `${processStart}0` })
    takeLock(folder).release()
    plantLock(folder, { pid: process.pid, processStart })
    expect(failureOf(() => takeLock(folder)).code).toBe('store.locked')
  })

  it('by a process that may still run, for all that is known, is left alone', () => {
    const folder = temporaryFolder()
    const token = plantLock(folder, { pid: process.ppid })
    const refused = failureOf(() => takeLock(folder))
    expect(refused.message).toContain(`held by process ${process.ppid} on ${hostname()} since 2026-11-16T09:00:00.000Z`)
    expect(refused.message).toContain('use a Postgres server')
    expect(lockIn(folder).token).toBe(token)
  })

  it.each([
    ['on another machine', { host: 'elsewhere.example' }, 'on elsewhere.example'],
    ['in another container', { pidNamespace: 'pid:[1]' }, `on ${hostname()}`],
  ])('%s is left alone, and the message says what to do', (_, details, where) => {
    const folder = temporaryFolder()
    const token = plantLock(folder, details)
    const refused = failureOf(() => takeLock(folder))
    expect(refused).toMatchObject({ code: 'store.locked', retryable: false })
    expect(refused.message).toContain(where)
    expect(refused.message).toContain(`delete ${join(folder, 'lock')}`)
    expect(lockIn(folder).token).toBe(token)
    expect(readdirSync(folder)).toEqual(['lock'])
  })

  it.each([
    ['nothing', ''],
    ['half a lock', '{"pid": 12, "ho'],
    ['something else', '{"name": "package"}'],
    ['no lock at all', '12\n'],
  ])('that holds %s is named, not guessed at', (_, text) => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'lock'), text)
    const refused = failureOf(() => takeLock(folder))
    expect(refused.code).toBe('store.locked')
    expect(refused.message).toContain(join(folder, 'lock'))
    expect(refused.message).toContain('delete that file')
    expect(refused.cause).toBeInstanceOf(Error)
    expect(readFileSync(join(folder, 'lock'), 'utf8')).toBe(text)
  })

  it('that is a folder is named too', () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'lock'))
    expect(failureOf(() => takeLock(folder)).message).toContain('delete that file')
  })

  it('by one killed while it took over is taken over, and everything is tidied', () => {
    const folder = temporaryFolder()
    const first = plantLock(folder)
    const second = plantLock(folder, {}, `lock.after-${first}`)
    plantLock(folder, {}, `lock.after-${second}`)
    plantLock(folder, {}, 'lock.new-abandoned')
    utimesSync(join(folder, 'lock.new-abandoned'), 0, 0)
    plantLock(folder, {}, 'lock.new-under-way')
    const lock = takeLock(folder)
    expect(readdirSync(folder).sort()).toEqual(['lock', 'lock.new-under-way'])
    expect(lockIn(folder).pid).toBe(process.pid)
    lock.release()
  })

  it('is not taken from one that is about to move in', () => {
    const folder = temporaryFolder()
    const dead = plantLock(folder)
    plantLock(folder, { pid: process.ppid }, `lock.after-${dead}`)
    expect(failureOf(() => takeLock(folder)).message).toContain(`process ${process.ppid}`)
    expect(lockIn(folder).token).toBe(dead)
  })
})

describe('twenty processes and a dead one’s lock', () => {
  it('twenty-five times: one takes it over, nineteen are told who', async () => {
    const folder = temporaryFolder()
    const takers = await Promise.all(Array.from({ length: 20 }, () => startChild('taker.ts', [folder])))
    for (let round = 0; round < 25; round += 1) {
      plantLock(folder)
      const start = String(Date.now() + 20)
      for (const taker of takers) taker.say(start)
      const answers = await Promise.all(takers.map((taker) => taker.hear()))
      const winners = takers.filter((_, index) => answers[index] === 'took it')
      expect(winners).toHaveLength(1)
      const winner = winners[0]?.pid
      expect(lockIn(folder).pid).toBe(winner)
      for (const answer of answers) if (answer !== 'took it') expect(answer).toContain(`held by process ${winner} on`)
      for (const taker of takers) taker.say('release')
      await Promise.all(takers.map((taker) => taker.hear()))
      expect(readdirSync(folder)).toEqual([])
    }
    await Promise.all(takers.map((taker) => taker.kill()))
  }, 600_000)
})
