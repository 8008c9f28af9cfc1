import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { LevelTrails, renderStatus } from '../../src/adapters/cli/render/status-lines.ts'
import { widthOf } from '../../src/adapters/cli/render/text.ts'
import { outputsOn } from '../../src/adapters/cli/terminal/outputs.ts'
import { runCli } from '../../src/adapters/cli/tree/run-command.ts'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { nodeProcesses } from '../../src/main/doctor.ts'
import { readWorkStatus } from '../../src/services/history/work-status.ts'
import { Scene } from '../../src/testing/scene.ts'
import { endedPid } from '../embedded/planted-lock.ts'
import { database, spawnBaton } from './spawned.ts'
import { batonWith } from './terminal.ts'

const home = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'batonpass-status-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true, maxRetries: 10 }))
  return made
}

interface Shown {
  readonly sessions: readonly Readonly<Record<string, unknown>>[]
  readonly handoffs: readonly Readonly<Record<string, unknown>>[]
  readonly service: { readonly state: string }
}

/** A store in which one session works, one is held, one is compacting, one was paused, and one lost its process. */
const busyDatabase = async (): Promise<string> => {
  const url = await database()
  await using store = await openPostgres({ connectionString: url })
  const scene = new Scene({ store, passTime: async () => {} })
  const { service, context } = scene
  const opened = unwrap(await service.openConversation({ originalTask: 'Fix it', externalKey: 'issue-7' }))
  const self = nodeProcesses.self?.()
  const lease = { leaseMs: 600_000, ...(self && { runner: self }) }
  const works = await scene.session('worker', opened.conversation, lease)
  const reading = { state: 'metered', promptTokens: 122_000, outputTokens: 0 } as const
  const window = { hardLimit: { tokens: 200_000, source: 'runtime' } } as const
  unwrap(await context.report({ session: works.session.id, report: { type: 'sample', reading, window } }))
  const compacting = await scene.session('compacting')
  unwrap(await context.report({ session: compacting.session.id, report: { type: 'compacting' } }))
  unwrap(await context.send({ session: works.session.id, text: 'Look at this' }))
  const gone = self && { ...self, leader: { pid: endedPid(), startTime: '1' } }
  await scene.session('lost', undefined, { leaseMs: 600_000, ...(gone && { runner: gone }) })
  unwrap(await service.pauseSession(await scene.session('paused')))
  const held = await scene.work(await scene.session('held'), 'read_file')
  const { handoff } = unwrap(await service.initiateHandoff({ ...held, targetAgent: 'opus', reason: 'Full' }))
  unwrap(await service.acceptHandoff({ handoff, claimant: 'worker-1', claimMs: 600_000 }))
  unwrap(await service.completeSession(await scene.session('done')))
  return url
}

let url: string
beforeAll(async () => {
  url = await busyDatabase()
}, 600_000)

describe('baton status', () => {
  it('shows sessions that have not ended, who holds them, and what waits', async () => {
    const { code, out } = await batonWith({ BATONPASS_DATABASE_URL: url, HOME: home() })('status', '--json')
    expect(code).toBe(0)
    const { sessions, handoffs, service } = JSON.parse(out) as Shown
    const byAgent = new Map(sessions.map((session) => [session.agent, session]))
    expect([...byAgent.keys()].sort()).toEqual(['compacting', 'held', 'lost', 'paused', 'worker'])
    expect(byAgent.get('worker')).toMatchObject({
      state: 'active',
      conversationKey: 'issue-7',
      epoch: 1,
      window: { state: 'known', ratio: 0.61, percent: 61, windowTokens: 200_000, end: 'window' },
      holder: { state: 'held', pid: process.pid },
      waitingSignals: { count: 2 },
    })
    expect(byAgent.get('compacting')).toMatchObject({ window: { state: 'compacting' } })
    expect(byAgent.get('lost')).toMatchObject({ state: 'active', holder: { state: 'gone' } })
    expect(byAgent.get('paused')).toMatchObject({ state: 'paused', holder: { state: 'unleased' } })
    expect(byAgent.get('held')).toMatchObject({ state: 'held', heldBy: handoffs[0]?.handoffId })
    expect(handoffs).toMatchObject([
      { from: 'held', to: 'opus', status: 'accepted', claim: { claimant: 'worker-1', isOver: false } },
    ])
    expect(service).toEqual({ state: 'none' })
  })

  it.each([80, 200])('fits %i columns', async (columns) => {
    const { out } = await batonWith({ BATONPASS_DATABASE_URL: url, HOME: home() }, columns)('status')
    for (const line of out.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(columns)
    for (const word of [
      'Sessions: 5',
      '61 %',
      'compacting',
      'Waiting handoffs: 1',
      'Waiting signals: 1',
      'Service: none runs',
      'issue-7',
      'gone',
    ])
      expect(out).toContain(word)
  })

  it('says that nothing runs in an empty store, and that there is no store', async () => {
    const empty = await batonWith({ BATONPASS_DATABASE_URL: await database(), HOME: home() })('status')
    expect(empty).toMatchObject({ code: 0, out: 'Service: none runs\n\nSessions: none\n\nWaiting handoffs: none' })
    const nowhere = home()
    const none = await batonWith({ HOME: nowhere })('status')
    expect({ code: none.code, made: readdirSync(nowhere) }).toEqual({ code: 0, made: [] })
    expect(none.out).toContain('There is no store yet')
  })

  it('says that the service is gone', async () => {
    const folder = home()
    writeFileSync(join(folder, 'service.json'), JSON.stringify({ v: 1, pid: endedPid(), port: 1 }))
    const { out } = await batonWith({})('status', '--database', url, '--data-dir', folder)
    expect(out).toMatch(/^Service: gone \(process \d+ ended and left service\.json\)$/m)
  })

  it.each(['0', 'soon', '99999', '-1'])('does not take "%s" for a time to watch', async (seconds) => {
    const { code } = await batonWith({ BATONPASS_DATABASE_URL: url, HOME: home() })('status', `--watch=${seconds}`)
    expect(code).toBe(2)
  })
})

describe('baton status --watch', () => {
  /** A stream that remembers, and a run that is interrupted once it has drawn so often. */
  const watched = async (isTerminal: boolean, drawings: number, environment: Readonly<Record<string, string>> = {}) => {
    const written: string[] = []
    const controller = new AbortController()
    const mark = isTerminal ? '\u001b[H' : 'Service: '
    const write = (text: string): void => {
      written.push(text)
      if (written.join('').split(mark).length > drawings) controller.abort('Ctrl-C')
    }
    const stream = { write, ...(isTerminal && { isTTY: true, columns: 80, rows: 12 }) }
    const around = { BATONPASS_DATABASE_URL: url, HOME: home(), ...environment }
    const outputs = outputsOn(stream, { write: () => {} }, around)
    const code = await runCli(['status', '--watch', '0.1'], {
      ...outputs,
      version: '0',
      environment: around,
      interruption: () => controller.signal,
    })
    return { code, text: written.join('') }
  }

  it('redraws a terminal in place, no lower than it is, and puts it back', async () => {
    const { code, text } = await watched(true, 3)
    expect(code).toBe(0)
    expect(text.startsWith('\u001b[?1049h\u001b[?25l')).toBe(true)
    expect(text.endsWith('\u001b[?25h\u001b[?1049l')).toBe(true)
    const [, ...frames] = text.split('\u001b[H')
    expect(frames.length).toBeGreaterThanOrEqual(3)
    for (const frame of frames) expect(frame.split('\r\n').length).toBeLessThanOrEqual(12)
    expect(text).toContain('\u001b[31m')
  })

  it('draws the level of each window over time, from look to look', async () => {
    await using store = await openPostgres({ connectionString: await busyDatabase() })
    const scene = new Scene({ store, passTime: async () => {} })
    const { processes, ...frame } = { processes: nodeProcesses, store: 'x', service: { state: 'none' } as const }
    const look = async () => ({ ...frame, work: await readWorkStatus({ store, processes }) })
    const trails = new LevelTrails()
    const worker = (await look()).work.sessions.find(({ session }) => session.agentName === 'worker')?.session
    if (worker === undefined) throw new Error('there is no worker')
    const drawn = async (width?: number) => {
      const seen = await look()
      trails.see(seen.work.sessions)
      const lines = renderStatus(seen, Date.now(), width, trails).map((line) => line.map(({ text }) => text).join(''))
      return {
        header: lines.find((line) => line.startsWith('AGENT')),
        row: lines.find((line) => line.startsWith('worker')),
      }
    }
    const fills = async (promptTokens: number) => {
      const reading = { state: 'metered', promptTokens, outputTokens: 0 } as const
      unwrap(await scene.context.report({ session: worker.id, report: { type: 'sample', reading } }))
    }
    expect((await drawn(120)).row).toMatch(/61 % of 200k {2}▅ /)
    expect((await drawn(120)).row).toMatch(/61 % of 200k {2}▅ /)
    await fills(180_000)
    await drawn(120)
    unwrap(await scene.context.report({ session: worker.id, report: { type: 'compaction', trigger: 'manual' } }))
    await drawn(120)
    await fills(20_000)
    const { header, row } = await drawn(120)
    expect(header).toContain('  LEVEL  ')
    expect(row).toMatch(/10 % of 200k {2}▅█·▁ /)
    for (let step = 1; step <= 30; step += 1) {
      await fills(20_000 + step * 1_000)
      await drawn()
    }
    expect((await drawn(80)).row).toMatch(/ ▂▂▂▂▂▃ /)
    expect((await drawn(60)).header).not.toContain('LEVEL')
    const { row: still = '' } = await drawn(80)
    expect(widthOf(still)).toBeLessThanOrEqual(80)
  })

  it('uses no colour where none is wanted', async () => {
    const { text } = await watched(true, 2, { NO_COLOR: '1' })
    expect(text.split('\u001b[')).not.toContainEqual(expect.stringMatching(/^\d+m/))
  })

  it('writes one block after the other elsewhere', async () => {
    const { code, text } = await watched(false, 2)
    expect(code).toBe(0)
    expect(text.split('----------------------------------------\n').length).toBeGreaterThanOrEqual(2)
    expect(text).not.toContain('\u001b')
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('ends at %s with status 0', async (signal) => {
    const baton = spawnBaton(['status', '--watch', '0.2', '--json'], { BATONPASS_DATABASE_URL: url, HOME: home() })
    await new Promise<void>((resolve) => {
      const look = (): void => void (baton.said.out.split('\n').length > 2 && resolve())
      baton.child.stdout?.on('data', look)
      baton.child.once('close', () => resolve())
    })
    baton.child.kill(signal)
    const { code, out } = await baton.ended
    expect(code).toBe(0)
    for (const line of out.trim().split('\n')) expect((JSON.parse(line) as Shown).sessions).toHaveLength(5)
  })
})
