import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { livenessOf, parseHolder, thisProcess } from '../../src/adapters/postgres/embedded/pglite-holder.ts'
import { takeProvenLock } from '../../src/adapters/postgres/embedded/pglite-proven-lock.ts'
import { beginPulse, feelPulse } from '../../src/adapters/postgres/embedded/pglite-pulse.ts'
import { type Child, startChild } from './child-process.ts'
import { plantLock } from './planted-lock.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** A program in a pid namespace and under a host name of its own, as in a container. It ends with its container. */
const container = (name: string): readonly string[] => [
  ...['unshare', '--pid', '--uts', '--fork', '--mount-proc', '--kill-child'],
  ...['sh', '-c', `hostname ${name} && exec "$@"`, 'sh'],
]

const [unshare = '', ...flags] = container('probe')
const canContain = spawnSync(unshare, [...flags, 'true']).status === 0
if (!canContain) console.log('No containers here (unshare needs rights): the tests in containers are left out.')

/** Says what became of an attempt to take the lock. */
const take = (taker: Child): Promise<string> => {
  taker.say('0')
  return taker.hear()
}

const holderIn = (folder: string) => parseHolder(readFileSync(join(folder, 'lock'), 'utf8'))

describe.runIf(canContain)('a store that a container has', () => {
  const inContainer = (name: string, folder: string) => startChild('taker.ts', [folder], { via: container(name) })

  it('is refused to others, in other containers and outside, while it lives', async () => {
    const folder = temporaryFolder()
    await using holder = await inContainer('first', folder)
    await using outside = await startChild('taker.ts', [folder])
    await using other = await inContainer('second', folder)
    expect(await take(holder)).toBe('took it')
    for (const taker of [outside, other]) {
      const refused = await take(taker)
      expect(refused).toContain('on first since')
      expect(refused).toContain('Wait until it has ended')
    }
    holder.say('release')
    expect(await holder.hear()).toBe('released')
    expect(readdirSync(folder)).toEqual([])
    expect(await take(other)).toBe('took it')
  })

  it('is taken over when the container is started again, whatever it is called then', async () => {
    const folder = temporaryFolder()
    for (const name of ['first', 'first', 'second']) {
      await using holder = await inContainer(name, folder)
      expect(await take(holder)).toBe('took it')
      expect(holderIn(folder).host).toBe(name)
      await holder.kill()
    }
    await using outside = await startChild('taker.ts', [folder])
    expect(await take(outside)).toBe('took it')
    outside.say('release')
    expect(await outside.hear()).toBe('released')
    expect(readdirSync(folder)).toEqual([])
  })

  it('is refused to a container while a process outside has it, and given to it afterwards', async () => {
    const folder = temporaryFolder()
    await using outside = await startChild('taker.ts', [folder])
    await using inside = await inContainer('inside', folder)
    expect(await take(outside)).toBe('took it')
    expect(await take(inside)).toContain('Wait until it has ended')
    await outside.kill()
    expect(await take(inside)).toBe('took it')
  })

  it('is left alone while its holder is stopped', async () => {
    const folder = temporaryFolder()
    await using holder = await startChild('taker.ts', [folder])
    expect(await take(holder)).toBe('took it')
    process.kill(holder.pid, 'SIGSTOP')
    await using inside = await inContainer('inside', folder)
    expect(await take(inside)).toContain(`held by process ${holder.pid}`)
  })

  it('is left alone when its pulse cannot be found', async () => {
    const folder = temporaryFolder()
    await using holder = await inContainer('first', folder)
    await take(holder)
    rmSync(join(folder, holderIn(folder).pulse ?? ''))
    await using outside = await startChild('taker.ts', [folder])
    expect(await take(outside)).toContain(`delete ${join(folder, 'lock')}`)
  })

  it('is taken over by one of ten containers at once', async () => {
    const folder = temporaryFolder()
    await using first = await inContainer('first', folder)
    await take(first)
    await first.kill()
    const others = await Promise.all(Array.from({ length: 10 }, (_, n) => inContainer(`c${n}`, folder)))
    const answers = await Promise.all(others.map(take))
    expect(answers.filter((answer) => answer === 'took it')).toHaveLength(1)
    await Promise.all(others.map((other) => other.kill()))
  }, 600_000)
})

describe.runIf(process.platform === 'linux')('a pulse', () => {
  it('beats for as long as it is not stopped, in a folder with however long a name', async () => {
    const folder = join(temporaryFolder(), 'a-rather-long-name'.repeat(10))
    mkdirSync(folder)
    const pulse = await beginPulse(folder, 'aaaaaaaa-0000')
    expect(pulse?.name).toBe('pulse-aaaaaaaa')
    expect(readdirSync(folder)).toEqual(['pulse-aaaaaaaa'])
    expect(await Promise.all(Array.from({ length: 50 }, () => feelPulse(folder, 'pulse-aaaaaaaa')))).toEqual(
      Array.from({ length: 50 }, () => 'beats'),
    )
    pulse?.stop()
    expect(readdirSync(folder)).toEqual([])
    expect(await feelPulse(folder, 'pulse-aaaaaaaa')).toBe('unknown')
  })

  it('is unknown where something else has its name', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'pulse-bbbbbbbb'))
    expect(await beginPulse(folder, 'bbbbbbbb')).toBeUndefined()
    const lock = await takeProvenLock(folder)
    lock.release()
    expect(existsSync(join(folder, 'lock'))).toBe(false)
  })
})

describe.runIf(process.platform === 'linux')('a lock of another boot', () => {
  const BOOT = '11111111-2222-3333-4444-555555555555'
  const otherBoot = { processStart: `${BOOT}/4711`, host: 'elsewhere.example', pid: process.ppid }
  const livenessIn = (folder: string, details: Readonly<Record<string, unknown>>) => {
    plantLock(folder, details)
    return livenessOf(holderIn(folder), folder)
  }

  it('is a dead one’s on a disk that only this machine has', () => {
    const folder = temporaryFolder()
    const { fileSystem } = thisProcess(folder, 'token')
    expect(livenessIn(folder, { ...otherBoot, fileSystem })).toBe('dead')
    expect(livenessIn(folder, { ...otherBoot, fileSystem, pidNamespace: 'pid:[1]' })).toBe('dead')
  })

  it.each([
    ['the holder saw as a share, as a virtual machine does', { fileSystem: 0x65735546 }],
    ['nothing is known of', {}],
  ])('is left alone on a folder that %s', (_, details) => {
    expect(livenessIn(temporaryFolder(), { ...otherBoot, ...details })).toBe('elsewhere')
  })
})

it.runIf(process.platform === 'linux')('a pulse named like a path is no lock', async () => {
  const folder = temporaryFolder()
  plantLock(folder, { pulse: '../pulse-aa' })
  await expect(takeProvenLock(folder)).rejects.toMatchObject({ code: 'store.locked' })
  writeFileSync(join(folder, 'lock'), '')
})
