import { beforeEach, describe, expect, it } from 'vitest'
import { MemoryStore } from '../../src/adapters/memory/memory-store.ts'
import { type JobWindow, jobOf } from '../../src/domain/history/job.ts'
import { instant, later } from '../../src/domain/kernel/instant.ts'
import type { HolderState } from '../../src/domain/session/holder-state.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { FixedClock } from '../../src/entry/testing.ts'
import type { AgentProcesses } from '../../src/ports/agent/agent-processes.ts'
import { readJobs } from '../../src/services/history/job-report.ts'
import { Scene } from '../../src/testing/scene.ts'

const LONG_MS = 600_000
const RUNNER = {
  host: 'one',
  bootId: 'b1',
  pidNamespace: 'pid:[1]',
  userId: 0,
  mark: 'm1',
  leader: { pid: 7, startTime: '1' },
}

let scene: Scene
let storeClock: FixedClock
beforeEach(() => {
  storeClock = new FixedClock()
  scene = new Scene({ store: new MemoryStore({ clock: storeClock }), passTime: async (ms) => storeClock.advance(ms) })
})

/** The one job there is. */
const told = async (processes?: AgentProcesses) => {
  const { items } = await readJobs(
    { store: scene.store, ...(processes && { processes }) },
    { since: instant('2026-01-01') },
  )
  expect(items).toHaveLength(1)
  return items[0]
}

const gone: AgentProcesses = { end: async () => 'ended' as never, isGone: () => true }

describe('a job is', () => {
  it('running while the lease of its session lasts, and orphaned after', async () => {
    await scene.session('claude-code', undefined, { leaseMs: LONG_MS, runner: RUNNER })
    expect(await told()).toMatchObject({ state: 'running', waits: [], agents: ['claude-code'] })
    expect(await told(gone)).toMatchObject({ state: 'orphaned' })
    await scene.passTime(LONG_MS + 1)
    expect(await told()).toMatchObject({ state: 'orphaned' })
  })

  it('open while nobody says whether somebody works on it', async () => {
    await scene.session()
    expect(await told()).toMatchObject({ state: 'open', waits: [] })
  })

  it('waiting for the agent of a handoff, running while its claim lasts, and waiting again after', async () => {
    const { handoff } = await scene.initiated({ targetAgent: 'opus' })
    const waits = [{ for: { agent: 'opus' }, what: 'handoff', since: handoff.initiatedAt }]
    expect(await told()).toMatchObject({ state: 'waiting', waits })
    unwrap(await scene.service.acceptHandoff({ handoff, claimant: 'worker-1', claimMs: 1_000 }))
    expect(await told()).toMatchObject({ state: 'running', waits: [] })
    await scene.passTime(1_001)
    expect(await told()).toMatchObject({ state: 'waiting', waits })
  })

  it('waiting for whoever begins a thread, and names the thread', async () => {
    const source = await scene.worked('read_file')
    const thread = unwrap(
      await scene.service.openThread({ ...source, targetAgent: 'coder', reason: 'A part', child: {} }),
    )
    unwrap(await scene.service.completeSession(source))
    const { conversationId } = thread.session
    expect(await told()).toMatchObject({
      state: 'waiting',
      waits: [{ for: { agent: 'coder' }, what: 'thread', conversationId }],
    })
  })

  it('finished when it was paused and a later session completed the work', async () => {
    const conversation = await scene.conversation()
    unwrap(await scene.service.pauseSession(await scene.session('claude-code', conversation)))
    const second = await scene.session('claude-code', conversation)
    expect(await told()).toMatchObject({ state: 'open', waits: [] })
    unwrap(await scene.service.completeSession(second))
    expect(await told()).toMatchObject({ state: 'finished', waits: [] })
  })

  it('waiting for the person when it is paused, or was never begun', async () => {
    unwrap(await scene.service.pauseSession(await scene.session()))
    expect(await told()).toMatchObject({ state: 'waiting', waits: [{ for: 'person', what: 'paused' }] })
  })

  it('waiting for the person when nobody has begun it, unless it was closed', async () => {
    const { id } = await scene.conversation()
    expect(await told()).toMatchObject({ state: 'waiting', waits: [{ for: 'person', what: 'not_started' }] })
    unwrap(await scene.service.closeConversation({ conversation: id }))
    expect(await told()).toMatchObject({ state: 'finished', waits: [] })
  })

  it('running while a thread of it runs, although its own session failed', async () => {
    const source = await scene.worked('read_file')
    const request = { ...source, targetAgent: 'coder', reason: 'A part', child: {}, leaseMs: LONG_MS }
    unwrap(await scene.service.openThread(request))
    unwrap(await scene.service.failSession({ ...source, reason: 'Stuck' }))
    expect(await told()).toMatchObject({ state: 'running', failures: [{ reason: 'Stuck' }] })
  })

  it('finished when a later session completed what an earlier one failed at', async () => {
    const failed = await scene.worked('read_file')
    unwrap(await scene.service.failSession({ ...failed, reason: 'Stuck' }))
    const conversation = await scene.store.conversations.find(failed.session.conversationId)
    unwrap(await scene.service.completeSession(await scene.session('claude-code', conversation)))
    expect(await told()).toMatchObject({ state: 'finished', failures: [] })
  })
})

it('a document that waits for the next session is told with the job it came from, and with no other', async () => {
  const { session } = await scene.session()
  unwrap(await scene.service.completeSession(await scene.session()))
  const writtenAt = scene.clock.now()
  const documents = [{ conversationId: session.conversationId, workspace: '/srv/repo', writtenAt }]
  const { items } = await readJobs({ store: scene.store, documents }, { since: instant('2026-01-01') })
  const waits = items.map((job) => [job.conversations[0].id === session.conversationId, job.waits])
  const waiting = {
    for: 'person',
    what: 'document',
    since: writtenAt,
    folder: '/srv/repo',
    ...{ conversationId: session.conversationId },
  }
  expect(waits).toContainEqual([true, [waiting]])
  expect(waits).toContainEqual([false, []])
})

it.each<readonly [HolderState, string]>([
  ['held', 'running'],
  ['over', 'orphaned'],
  ['gone', 'orphaned'],
  ['unleased', 'waiting'],
])('a restart that is not finished, whose holder is %s, is %s', async (holder, state) => {
  const targetAgent = scene.name('claude-code')
  const { source, handoff } = await scene.initiated({ kind: 'context_restart', targetAgent })
  const session = await scene.store.sessions.find(source.session.id)
  const root = await scene.store.conversations.find(source.session.conversationId)
  if (session === undefined || root === undefined) throw new Error('nothing is there')
  const windows: readonly JobWindow[] = [{ session, holder }]
  const at = later(scene.clock.now(), 1)
  const parts = { latestAt: at, conversations: [root] as const, windows, openHandoffs: [handoff], restarts: 1 }
  expect(jobOf(parts, [], at).state).toBe(state)
})
