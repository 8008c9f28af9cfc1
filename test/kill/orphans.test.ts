import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { commandRuntime } from '../../src/adapters/runtime/command-runtime.ts'
import type { ProcessIdentity } from '../../src/domain/session/process-identity.ts'
import { createBatonpass, type RunEvent } from '../../src/entry/index.ts'
import { windowReaders } from '../../src/main/runtimes.ts'
import { endLeftProcess, identityOf, newMark } from '../../src/processes/left-process.ts'
import { readProcess } from '../../src/processes/process-table.ts'
import { startChild } from '../embedded/child-process.ts'

const WINDOW_READERS = await windowReaders()

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'batonpass-orphans-'))
})
vi.setConfig({ testTimeout: 300_000 }) // an embedded store is opened several times
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

const INIT = '{"type":"system","subtype":"init","session_id":"s","model":"claude-haiku-4-5"}'
const SAID = '{"type":"assistant","session_id":"s","message":{"id":"m","content":[{"type":"text","text":"Done."}]}}'

/** The first launch writes for ever, whoever asks it to stop; the second says that it begins, and is done. */
const command = (before: string): string =>
  [
    'cat > /dev/null',
    `if [ -e log ]; then echo began >> log; echo '${INIT}'; echo '${SAID}'; exit 0; fi`,
    before,
    `echo '${INIT}'`,
    'echo $$ > pid',
    'while true; do echo old >> log; sleep 0.1; done',
  ].join('; ')

/** Whether the machine has a `setpriv` that knows `--pdeathsig`. */
const canTie = (): boolean => spawnSync('setpriv', ['--pdeathsig', 'TERM', 'true']).status === 0

/** Whether a process is there and has not ended. */
const alive = (pid: number): boolean => readProcess(pid)?.isZombie === false

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await pause(25)
}

const log = (): readonly string[] =>
  existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'utf8').trim().split('\n') : []

/** Kills a runner while its agent works. */
const killWhileItWorks = async (line: string): Promise<number> => {
  const runner = await startChild('./orphan-runner.ts', [join(folder, 'store'), folder, line])
  runner.say('orphaned')
  await until(() => log().length > 3)
  await runner.kill('SIGKILL')
  const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'))
  onTestFinished(() => {
    if (alive(pid)) process.kill(pid, 'SIGKILL')
  })
  return pid
}

const recover = async (line: string) => {
  await using batonpass = await createBatonpass({ dataDir: join(folder, 'store') })
  const events: RunEvent[] = []
  const runtimes = [commandRuntime({ command: line, readers: WINDOW_READERS })]
  for (;;) {
    const recovered = await batonpass.recover({ runtimes, onEvent: (event) => events.push(event) })
    if (recovered.length > 0) return { recovered, events }
    await pause(100) // its lease is not over yet
  }
}

/** What the log says after the new run began, a while after it has ended. */
const writtenAfter = async (): Promise<readonly string[]> => {
  await pause(500)
  return log().slice(log().indexOf('began') + 1)
}

describe('an agent whose runner was killed', () => {
  it('is ended before another begins, though it ignores requests to stop', async () => {
    const line = command('trap "" TERM')
    const pid = await killWhileItWorks(line)
    const before = log().length
    await until(() => log().length > before) // it works on, with nobody to record it
    const { recovered, events } = await recover(line)
    expect(recovered).toMatchObject([{ type: 'resumed', summary: { outcome: 'completed' } }])
    expect(alive(pid)).toBe(false)
    expect(await writtenAfter()).toEqual([])
    expect(events.filter(({ type }) => type === 'process:left')).toMatchObject([{ fate: 'ended' }])
  })

  it('and the processes it started are ended, though it is gone itself', async () => {
    // What writes is a child of the shell, with a session and a group of its own.
    const line = `cat > /dev/null; if [ -e log ]; then echo began >> log; echo '${INIT}'; echo '${SAID}'; exit 0; fi
      echo '${INIT}'
      setsid sh -c 'trap "" TERM; echo $$ > pid; while true; do echo old >> log; sleep 0.1; done' & wait`
    const pid = await killWhileItWorks(line)
    await recover(line)
    expect(alive(pid)).toBe(false)
    expect(await writtenAfter()).toEqual([])
  })

  it.skipIf(!canTie())('ends by itself where the machine can tie it to its runner', async () => {
    const pid = await killWhileItWorks(command(':'))
    await until(() => !alive(pid))
  })

  it('is failed with nobody to take its place, and is ended then too', async () => {
    const pid = await killWhileItWorks(command('trap "" TERM'))
    await using batonpass = await createBatonpass({ dataDir: join(folder, 'store') })
    for (let left = 0; left === 0; await pause(100)) left = (await batonpass.recover()).length
    expect(alive(pid)).toBe(false)
  })
})

describe('a process that is recorded', () => {
  /** A process of somebody else, which must live. */
  const bystander = (environment: Readonly<Record<string, string>> = {}): ChildProcess & { readonly pid: number } => {
    const env = { ...process.env, ...environment }
    const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore', env })
    onTestFinished(() => void child.kill('SIGKILL'))
    return child as ChildProcess & { readonly pid: number }
  }

  const recorded = (pid: number, { mark } = newMark()): ProcessIdentity & Required<Pick<ProcessIdentity, 'leader'>> => {
    const identity = identityOf(mark, pid)
    if (identity?.leader === undefined) throw new Error('There is no /proc')
    return { ...identity, leader: identity.leader }
  }

  it('is ended when everything agrees', async () => {
    const launch = newMark()
    const { pid } = bystander(launch.environment)
    const identity = recorded(pid, launch)
    expect(await endLeftProcess(identity)).toBe('ended')
    expect(alive(pid)).toBe(false)
    expect(await endLeftProcess(identity)).toBe('gone')
  })

  it('is ended by its mark, where nobody knows its pid', async () => {
    const { mark, environment } = newMark()
    const child = bystander(environment)
    const other = bystander(newMark().environment)
    expect(await endLeftProcess(identityOf(mark) as ProcessIdentity)).toBe('ended')
    expect([alive(child.pid), alive(other.pid)]).toEqual([false, true])
  })

  it.each<readonly [string, (identity: ReturnType<typeof recorded>) => ProcessIdentity, string]>([
    ['does not carry the mark, though a row names it with its start time', (it) => it, 'gone'],
    ['began at another time', (it) => ({ ...it, leader: { ...it.leader, startTime: '1' } }), 'gone'],
    ['was of another start of the machine', (it) => ({ ...it, bootId: 'another' }), 'gone'],
    ['was of another machine', (it) => ({ ...it, bootId: 'another', host: 'another' }), 'elsewhere'],
    ['was of another container', (it) => ({ ...it, pidNamespace: 'pid:[1]' }), 'elsewhere'],
    ['was of another user', (it) => ({ ...it, userId: it.userId + 1 }), 'elsewhere'],
  ])('is left alone under the same pid when it %s', async (_, forged, fate) => {
    const { pid } = bystander()
    expect(await endLeftProcess(forged(recorded(pid)))).toBe(fate)
    expect(alive(pid)).toBe(true)
  })
})
