import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { openPglite } from '../../src/adapters/postgres/embedded/open-pglite.ts'
import { readProcess } from '../../src/processes/process-table.ts'
import { type Child, startChild } from './child-process.ts'
import { makeStore } from './made-store.ts'
import { close, saidBy, write } from './replaced-stage.ts'
import { temporaryFolder } from './temporary-folder.ts'

const shelf = mkdtempSync(join(tmpdir(), 'batonpass-waiting-'))
beforeAll(() => makeStore(join(shelf, 'store')), 0)
afterAll(() => rmSync(shelf, { recursive: true, force: true, maxRetries: 10 }))
afterEach(() => void vi.useRealTimers())

const copied = (from: string, to: string): string => {
  cpSync(from, to, { recursive: true, filter: (path) => !path.includes('pulse-') && !path.includes('.s.PGSQL') })
  chmodSync(to, 0o700)
  return to
}

const made = (): string => copied(join(shelf, 'store'), join(temporaryFolder(), 'store'))

/** A copy as an earlier version left it: its lock does not say in which folder it was made. */
const withoutFolder = (dataDir: string): string => {
  const { folder: _, ...rest } = JSON.parse(readFileSync(join(dataDir, 'lock'), 'utf8')) as Record<string, unknown>
  writeFileSync(join(dataDir, 'lock'), JSON.stringify(rest))
  return dataDir
}

const SECOND = 1_000

/** While minutes pass in moments, a busy machine is seconds late. */
const aboutFive = expect.toSatisfy((seconds: number) => seconds >= 5 && seconds < 30)

/** The real ones: what is asked of sockets and files takes its time. */
const { setTimeout: later } = globalThis

/** Lets minutes pass in moments until something has failed; says after how many seconds what was heard. */
const passing = async (work: (onWarning: (message: string) => void) => Promise<unknown>) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  const begun = Date.now()
  const seconds = (): number => Math.round((Date.now() - begun) / SECOND)
  const warnings: { readonly after: number; readonly message: string }[] = []
  const outcome = { isOver: false, failure: undefined as unknown, after: 0 }
  const end = (failure?: unknown): void => void Object.assign(outcome, { isOver: true, failure, after: seconds() })
  work((message) => warnings.push({ after: seconds(), message })).then(() => end(), end)
  while (!outcome.isOver && seconds() < 900) {
    await vi.advanceTimersByTimeAsync(100)
    await new Promise((resolve) => later(resolve, 3))
  }
  vi.useRealTimers()
  return { ...outcome, warnings }
}

const holder = async (dataDir: string): Promise<Child> => {
  const child = await startChild('opener.ts', [dataDir])
  child.say('open')
  expect(JSON.parse(await child.hear())).toMatchObject({ outcome: 'opened' })
  return child
}

const stop = async (child: Child): Promise<void> => {
  process.kill(child.pid, 'SIGSTOP')
  await vi.waitFor(() => expect(readProcess(child.pid)?.isStopped).toBe(true), { timeout: 60_000 })
}

describe.skipIf(process.platform === 'win32')('a copy of a folder that a process has open', { timeout: 0 }, () => {
  it('is refused at once: it is no backup, and its lock is of another folder', async () => {
    const dataDir = made()
    await using _ = await openPglite({ dataDir })
    const copy = copied(dataDir, join(temporaryFolder(), 'copy'))
    await expect(openPglite({ dataDir: copy })).rejects.toMatchObject({
      code: 'store.locked',
      message: expect.stringMatching(/process.*copy that was made while the store was open.*delete .*copy\/lock/),
    })
    rmSync(join(copy, 'lock'))
    await close(await openPglite({ dataDir: copy }))
  })

  it('does not lead to the original, where the door is outside the folder', async () => {
    const dataDir = copied(join(shelf, 'store'), join(temporaryFolder(), 'long-name-'.repeat(12)))
    await using _ = await openPglite({ dataDir })
    const copy = copied(dataDir, join(temporaryFolder(), 'copy'))
    await expect(openPglite({ dataDir: copy })).rejects.toMatchObject({ code: 'store.locked' })
  })

  it('by an earlier version: a warning after 5 seconds, a failure after 2 minutes', async () => {
    const dataDir = made()
    await using _ = await openPglite({ dataDir })
    const copy = withoutFolder(copied(dataDir, join(temporaryFolder(), 'copy')))
    const { failure, after, warnings } = await passing((onWarning) => openPglite({ dataDir: copy, onWarning }))
    expect(failure).toMatchObject({
      code: 'store.unavailable',
      message: expect.stringMatching(new RegExp(`process ${process.pid} .*copy.*delete the file "lock"`)),
    })
    expect(after).toBeGreaterThanOrEqual(120)
    expect(after).toBeLessThan(180)
    expect(warnings).toEqual([{ after: aboutFive, message: expect.stringContaining(`process ${process.pid} `) }])
  })
})

describe.skipIf(process.platform !== 'linux')('a process that has the folder and is stopped', { timeout: 0 }, () => {
  const stopped = (pid: number): RegExp => new RegExp(`process ${pid} on .*, which is stopped .*kill -CONT ${pid}`)

  it('is named to one that opens the folder, after 5 seconds and after 2 minutes', async () => {
    const dataDir = made()
    await using child = await holder(dataDir)
    await stop(child)
    const { failure, after, warnings } = await passing((onWarning) => openPglite({ dataDir, onWarning }))
    expect(failure).toMatchObject({ code: 'store.unavailable', message: expect.stringMatching(stopped(child.pid)) })
    expect(after).toBeGreaterThanOrEqual(120)
    expect(after).toBeLessThan(180)
    expect(warnings).toEqual([{ after: aboutFive, message: expect.stringMatching(stopped(child.pid)) }])
  })

  it('is named to one that it had let in, and that waits for an answer', async () => {
    const dataDir = made()
    await using child = await holder(dataDir)
    const said: string[] = []
    const store = await openPglite({ dataDir, onWarning: (message) => said.push(message) })
    await write(store)
    await stop(child)
    const { failure, after } = await passing(() => write(store))
    expect(failure).toMatchObject({ code: 'store.unavailable', message: expect.stringMatching(stopped(child.pid)) })
    expect(after).toBeGreaterThanOrEqual(120)
    expect(after).toBeLessThan(180)
    expect(said).toEqual([expect.stringMatching(stopped(child.pid))])
    process.kill(child.pid, 'SIGCONT')
    expect(await saidBy(store)).toBe('kept')
    await close(store)
  })
})
