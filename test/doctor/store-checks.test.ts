import { chmodSync, chownSync, copyFileSync, mkdirSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nodeVersion } from '../../src/adapters/doctor/surroundings.ts'
import { takeLock } from '../../src/adapters/postgres/embedded/pglite-lock.ts'
import { folderRights, lockState, spaceFinding } from '../../src/adapters/postgres/health/folder-checks.ts'
import { clockFinding } from '../../src/adapters/postgres/health/server-checks.ts'
import { endedPid } from '../embedded/planted-lock.ts'
import { folder, results, write } from './stage.ts'

describe('node', () => {
  it.each([
    ['20.19.0', 'ok'],
    ['20.20.1', 'ok'],
    ['24.0.0', 'ok'],
    ['20.18.9', 'problem'],
    ['18.99.0', 'problem'],
  ])('%s is %s', async (version, result) => {
    expect(results(await nodeVersion(version))).toEqual([result])
  })
})

describe('the folder of an embedded store', () => {
  it('is for its owner alone, or that is said with the chmod', async () => {
    const made = folder()
    mkdirSync(join(made, 'data'), { mode: 0o700 })
    expect(results(await folderRights(made))).toEqual(['ok'])
    chmodSync(made, 0o755)
    expect(await folderRights(made)).toMatchObject([{ result: 'warning', repair: `chmod 700 ${made}` }])
    chmodSync(join(made, 'data'), 0o777)
    expect(results(await folderRights(made))).toEqual(['problem'])
    expect(await folderRights(join(made, 'nowhere'))).toEqual([])
  })

  it.runIf(process.getuid?.() === 0)('of another user is a problem', async () => {
    const made = folder()
    mkdirSync(join(made, 'data'), { mode: 0o700 })
    chownSync(join(made, 'data'), 4_711, 4_711)
    expect(await folderRights(made)).toMatchObject([{ result: 'problem', text: expect.stringContaining('uid 4711') }])
  })

  it('needs room', () => {
    expect(spaceFinding(2 ** 40).result).toBe('ok')
    expect(spaceFinding(200 * 2 ** 20).result).toBe('warning')
    expect(spaceFinding(10 * 2 ** 20)).toMatchObject({ result: 'problem', text: 'only 10 MB are free' })
  })

  it('is held by a process that lives, or was left by one that has ended', async () => {
    const made = folder()
    const lock = takeLock(made)
    expect(await lockState(made)).toMatchObject([
      { result: 'ok', text: expect.stringContaining(`held by process ${process.pid} on`) },
    ])
    lock.release()
    const planted = { pid: endedPid(), host: hostname(), startedAt: new Date().toISOString() }
    write(join(made, 'lock'), { ...planted, token: '0190a0a0-0000-7000-8000-000000000001' })
    expect(await lockState(made)).toMatchObject([{ result: 'ok', text: expect.stringContaining('which has ended') }])
  })

  it('that is a copy, made while a process had the original, is said', async () => {
    const [original, copy] = [folder(), folder()]
    const lock = takeLock(original)
    copyFileSync(join(original, 'lock'), join(copy, 'lock'))
    expect(await lockState(copy)).toMatchObject([
      { result: 'warning', text: expect.stringContaining('a copy'), repair: expect.stringContaining('rm ') },
    ])
    lock.release()
  })

  it('that is held elsewhere, or by nobody who can be named, is said with what to do', async () => {
    const made = folder()
    const planted = { pid: 1, host: 'another-machine', startedAt: new Date().toISOString(), processStart: 'boot/1' }
    write(join(made, 'lock'), { ...planted, token: '0190a0a0-0000-7000-8000-000000000001' })
    expect(await lockState(made)).toMatchObject([{ result: 'warning', repair: expect.stringContaining('rm ') }])
    write(join(made, 'lock'), 'garbage')
    expect(await lockState(made)).toMatchObject([{ result: 'problem', repair: expect.stringContaining('rm ') }])
  })
})

describe('the clock', () => {
  it.each([
    [100, 10, 'ok'],
    [-5_000, 10, 'warning'],
    [600_000, 10, 'problem'],
    [3_000, 4_000, 'ok'],
  ])('%i ms apart, measured in %i ms, is %s', (apart, wait, result) => {
    expect(clockFinding(apart, wait).result).toBe(result)
  })
})
