import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { commandRuntime } from '../../src/adapters/runtime/command-runtime.ts'
import { createBatonpass, type RunEvent } from '../../src/entry/index.ts'
import type { AgentProcesses, ProcessIdentity, Unit } from '../../src/entry/ports.ts'
import { windowReaders } from '../../src/main/runtimes.ts'
import { hasEnded, identityOf, ownIdentity } from '../../src/processes/left-process.ts'
import { startChild } from '../embedded/child-process.ts'
import { ENDS, FILLS, recorded, script, TASK, turn } from '../runner/played.ts'
import { lostProcess } from '../support/lost-process.ts'
import { openStore, RULE_STORES } from '../support/stores.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'

const WINDOW_READERS = await windowReaders()

vi.setConfig({ testTimeout: 600_000 })

/** Nobody waits so long here: whatever is taken over was not waited for. */
const LEASE_MS = 3_600_000

const identity = (mark: string): ProcessIdentity => ({
  ...{ host: 'here', bootId: 'b', pidNamespace: 'pid:[1]', userId: 1, mark },
  leader: { pid: 4_711, startTime: '1' },
})

/** Processes that have this identity, and call these gone. */
const processes = (own: string, ...gone: readonly string[]): AgentProcesses => ({
  end: async () => 'gone',
  self: () => identity(own),
  isGone: ({ mark }) => gone.includes(mark),
})

let keys = 0

describe.each(RULE_STORES)('a runner that is known to be gone, on %s', (kind) => {
  /** Runs until the process is lost with the commit of this entry; its lease lasts on. */
  const lose = async (entry: string) => {
    const { store } = await openStore(kind)
    keys += 1
    const [key, mark] = [`gone-${process.pid}-${keys}`, `runner-${keys}`]
    const isLast = ({ events }: Unit): boolean => events.some(({ type }) => type === entry)
    const { store: last, lost } = lostProcess(store, isLast, { stillReads: true })
    const doomed = await createBatonpass({ store: last, processes: processes(mark) })
    const runtime = script([{ turns: [...FILLS, turn(920, 'edit')], checkpoint: 'Half.' }, { turns: ENDS }])
    const about = { runtime, agent: 'claude', prompt: TASK, conversation: key, leaseMs: LEASE_MS }
    void doomed.run({ ...about, policy: 'auto' }).finish()
    await lost
    const conversation = await store.conversations.findByExternalKey(key)
    if (conversation === undefined) throw new Error('Nothing was run')
    return { store, key, mark, runtime, conversationId: conversation.id }
  }

  it.each([
    ...(['session.started', 'turn.recorded', 'handoff.initiated', 'handoff.checkpointed'] as const),
    ...(['handoff.accepted', 'handoff.prepared', 'handoff.completed'] as const),
  ])('lost after %s, it is not waited for, and that is said', async (entry) => {
    const { store, mark, runtime, conversationId } = await lose(entry)
    const batonpass = await createBatonpass({ store, processes: processes(`after ${mark}`, mark) })
    const events: RunEvent[] = []
    const recovered = await batonpass.recover({ runtimes: [runtime], onEvent: (event) => events.push(event) })
    const mine = recovered.filter((one) => one.conversationId === conversationId)
    expect(mine).toMatchObject([{ type: 'resumed', summary: { outcome: 'completed' } }])
    const said = events.filter((event) => event.conversationId === conversationId && event.type === 'runner:gone')
    expect(said).toMatchObject([{ host: 'here', pid: 4_711 }])
    const { sessions, handoffs } = await recorded(batonpass, { conversationId })
    expect(sessions.map(({ state }) => state)).toEqual(['handed_off', 'completed'])
    expect(handoffs.map(({ status }) => status)).toEqual(['completed'])
  })

  it.each(['turn.recorded', 'handoff.accepted'])('is failed at once by whoever cannot run it (%s)', async (entry) => {
    const { store, mark, conversationId } = await lose(entry)
    const batonpass = await createBatonpass({ store, processes: processes('other', mark) })
    const recovered = await batonpass.recover()
    expect(recovered.filter((one) => one.conversationId === conversationId)).toMatchObject([{ type: 'failed' }])
    expect((await recorded(batonpass, { conversationId })).sessions).toMatchObject([{ state: 'failed' }])
  })

  it('lets a run with the same key go on at once', async () => {
    const { store, key, mark, runtime } = await lose('turn.recorded')
    const batonpass = await createBatonpass({ store, processes: processes('next', mark) })
    const about = { runtime, agent: 'claude', prompt: TASK, conversation: key, policy: 'auto' as const }
    expect(await batonpass.run(about).finish()).toMatchObject({ outcome: 'completed' })
  })

  it('is waited for by a process that cannot know that it has ended', async () => {
    const { store, key, mark, runtime, conversationId } = await lose('turn.recorded')
    const batonpass = await createBatonpass({ store, processes: processes('elsewhere', 'another') })
    const recovered = await batonpass.recover({ runtimes: [runtime] })
    expect(recovered.filter((one) => one.conversationId === conversationId)).toEqual([])
    const waiting = (await batonpass.waiting()).filter((lease) => lease.conversationId === conversationId)
    expect(waiting).toMatchObject([{ runner: { mark } }])
    const run = batonpass.run({ runtime, agent: 'claude', prompt: TASK, conversation: key })
    await expect(run.finish()).rejects.toMatchObject({ code: 'session.leased' })
  })

  it('is succeeded by one of three who look at once, and that one is not robbed', async () => {
    const { store, mark, runtime, conversationId } = await lose('handoff.checkpointed')
    const all = await Promise.all(
      [1, 2, 3].map(async (number) => {
        const batonpass = await createBatonpass({ store, processes: processes(`${mark} ${number}`, mark) })
        return batonpass.recover({ runtimes: [runtime] })
      }),
    )
    const mine = all.flat().filter((one) => one.conversationId === conversationId)
    expect(mine.filter(({ type }) => type === 'resumed')).toMatchObject([{ summary: { outcome: 'completed' } }])
    expect(mine.filter(({ type }) => type !== 'resumed' && type !== 'taken')).toEqual([])
    expect(runtime.launches).toHaveLength(2)
  })
})

const INIT = '{"type":"system","subtype":"init","session_id":"s","model":"claude-haiku-4-5"}'
const SAID = '{"type":"assistant","session_id":"s","message":{"id":"m","content":[{"type":"text","text":"Done."}]}}'

/** The first launch works for ever; the second is done at once. */
const COMMAND = [
  'cat > /dev/null',
  `if [ -e log ]; then echo '${INIT}'; echo '${SAID}'; exit 0; fi`,
  `echo '${INIT}'`,
  'while true; do echo old >> log; sleep 0.1; done',
].join('; ')

describe('a runner in a process of its own', () => {
  it('is succeeded at once when it was killed, and not while it only stands still', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'batonpass-gone-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
    const url = withDatabase(process.env.TEST_DATABASE_URL ?? '', await cloneDatabase())
    const store = await openPostgres({ connectionString: url })
    onTestFinished(() => store[Symbol.asyncDispose]())
    const runner = await startChild('./orphan-runner.ts', [url, folder, COMMAND, String(LEASE_MS)])
    onTestFinished(() => runner.kill('SIGKILL'))
    runner.say('gone')
    while (!existsSync(join(folder, 'log'))) await pause(25)
    const batonpass = await createBatonpass({ store })
    const runtimes = [commandRuntime({ command: COMMAND, readers: WINDOW_READERS })]
    process.kill(runner.pid, 'SIGSTOP')
    expect(await batonpass.recover({ runtimes })).toEqual([])
    process.kill(runner.pid, 'SIGCONT')
    await runner.kill('SIGKILL')
    expect(await batonpass.recover({ runtimes })).toMatchObject([
      { type: 'resumed', summary: { outcome: 'completed' } },
    ])
    const written = readFileSync(join(folder, 'log'), 'utf8')
    await pause(500)
    expect(readFileSync(join(folder, 'log'), 'utf8')).toBe(written)
  })
})

describe('whether a process has ended', () => {
  const bystander = async () => {
    const child = spawn('sleep', ['600'], { stdio: 'ignore' })
    onTestFinished(() => void child.kill('SIGKILL'))
    const known = identityOf('mark', child.pid)
    if (known?.leader === undefined) throw new Error('There is no /proc')
    return { child, known: { ...known, leader: known.leader } }
  }

  it('is known of one that was here', async () => {
    const { child, known } = await bystander()
    expect(hasEnded(known)).toBe(false)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(hasEnded(known)).toBe(true)
  })

  it('is known when another has its pid', async () => {
    const { known } = await bystander()
    expect(hasEnded({ ...known, leader: { ...known.leader, startTime: '1' } })).toBe(true)
  })

  it.each<readonly [string, object]>([
    ['of another start of the machine, or another machine of that name', { bootId: 'another' }],
    ['in another container', { pidNamespace: 'pid:[1]' }],
    ['of another user', { userId: 4_711 }],
    ['that never said which it is', { leader: undefined }],
  ])('is never said of one %s', async (_, but) => {
    const { child, known } = await bystander()
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(hasEnded({ ...known, ...but } as ProcessIdentity)).toBe(false)
  })

  it('is not said of this very process', () => {
    const own = ownIdentity()
    expect(own?.leader?.pid).toBe(process.pid)
    expect(hasEnded(own as ProcessIdentity)).toBe(false)
  })
})
