import assert from 'node:assert/strict'
import type { ConversationId } from '../../domain/kernel/ids.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import type { WorkingSession } from '../../domain/session/agent-session.ts'
import { unwrap } from '../../domain/unwrap.ts'
import type { StoredJob } from '../../ports/store/job-list.ts'
import { everyPage } from '../../ports/store/page.ts'
import type { Scene, Worked } from '../scene.ts'
import type { ContractPart } from '../store-contract.ts'

const [SHORT_MS, LONG_MS, DAY_MS] = [400, 600_000, 86_400_000]

/** Those of these jobs that are listed, in pages of two; others may be in the store as well. */
const listed = async (
  { store }: Scene,
  since: Instant,
  ...wanted: readonly ConversationId[]
): Promise<readonly StoredJob[]> => {
  const found: StoredJob[] = []
  for await (const job of everyPage((page) => store.conversations.listJobs({ since }, page), { limit: 2 }))
    found.push(job)
  const ids = found.map(({ conversations: [root] }) => root.id)
  assert.equal(new Set(ids).size, ids.length, 'a job is listed once')
  const places = found.map(({ latestAt }) => latestAt)
  assert.deepEqual(places, places.toSorted().reverse(), 'the newest first')
  return found.filter((_, at) => wanted.some((id) => id === ids[at]))
}

const only = async (scene: Scene, since: Instant, wanted: ConversationId): Promise<StoredJob> => {
  const [job] = await listed(scene, since, wanted)
  assert.ok(job)
  return job
}

const thread = async (scene: Scene, source: Worked) =>
  unwrap(await scene.service.openThread({ ...source, targetAgent: scene.name('coder'), reason: 'A part', child: {} }))

const cost = async ({ service }: Scene, { session, holder }: WorkingSession, costUsd: number): Promise<void> => {
  const totals = { inputTokens: 10, outputTokens: 1, costUsd }
  unwrap(await service.accountSession({ session: session.id, holder, totals }))
}

const idOf = ({ session }: Pick<WorkingSession, 'session'>): ConversationId => session.conversationId

export const jobsContract: ContractPart = {
  about: 'jobs',
  cases: {
    'lists what began, ended or was opened since then, and what has not ended, newest first': async (scene) => {
      const { service, clock } = scene
      const [over, left, ends, paused] = [
        await scene.worked('read_file'),
        await scene.worked('read_file'),
        await scene.worked('read_file'),
        await scene.worked('read_file'),
      ]
      unwrap(await service.completeSession(over))
      clock.advance(1_000)
      unwrap(await service.pauseSession(paused))
      clock.advance(DAY_MS)
      const since = clock.now()
      unwrap(await service.failSession({ ...ends, reason: 'It gave up' }))
      clock.advance(1_000)
      const begun = await scene.worked('read_file')
      clock.advance(1_000)
      const opened = await scene.conversation()
      const all = [over, left, ends, paused, begun].map(idOf)
      const jobs = await listed(scene, since, ...all, opened.id)
      const found = jobs.map(({ conversations: [root] }) => root.id)
      assert.deepEqual(found.slice(0, 3), [opened.id, idOf(begun), idOf(ends)])
      assert.deepEqual(new Set(found.slice(3)), new Set([idOf(left), idOf(paused)]))
      assert.equal(jobs[0]?.latestAt, opened.openedAt)
      assert.equal(jobs[2]?.latestAt, since, 'the end counts, not the beginning')
      assert.equal(jobs[3]?.latestAt, left.session.startedAt)
      assert.deepEqual(jobs[0]?.windows, [])
    },
    'tells of a job with its threads, wherever in them something happened': async (scene) => {
      const { service, clock } = scene
      const source = await scene.worked('read_file')
      const child = await thread(scene, source)
      const inChild = await scene.work(child, 'run_tests')
      const grandchild = await thread(scene, inChild)
      const sibling = await thread(scene, source)
      unwrap(await service.completeSession(source))
      for (const each of [inChild, sibling]) unwrap(await service.completeSession(each))
      clock.advance(DAY_MS)
      const since = clock.now()
      const before = await listed(scene, since, idOf(source))
      assert.equal(before.length, 1, 'the grandchild has not ended')
      unwrap(await service.failSession({ ...grandchild, reason: 'Stuck' }))
      const job = await only(scene, since, idOf(source))
      assert.equal(job.latestAt, since)
      const [root, ...threads] = job.conversations
      assert.deepEqual(root, await scene.store.conversations.find(idOf(source)))
      assert.deepEqual(new Set(threads.map(({ id }) => id)), new Set([child, grandchild, sibling].map(idOf)))
      assert.equal(job.windows.length, 4)
      for (const { session } of job.windows) assert.deepEqual(session, await scene.store.sessions.find(session.id))
      assert.deepEqual(await listed(scene, since, ...threads.map(({ id }) => id)), [], 'a thread is no job of its own')
      clock.advance(1_000)
      assert.deepEqual(await listed(scene, clock.now(), idOf(source)), [])
    },
    'tells the restarts, the open handoffs and the costs, of checkpoints too': async (scene) => {
      const { service, clock } = scene
      const since = clock.now()
      const first = await scene.worked('read_file')
      await cost(scene, first, 0.5)
      const restart = { kind: 'context_restart' as const, targetAgent: first.session.agentName, reason: 'Full' }
      const held = { session: first.session.id, holder: first.holder }
      const { handoff } = unwrap(await service.initiateHandoff({ ...held, ...restart }))
      const totals = { inputTokens: 9, outputTokens: 1, costUsd: 0.25 }
      const checkpoint = { outcome: 'missing', totals } as const
      const checkpointed = unwrap(await service.keepCheckpoint({ handoff, holder: first.holder, checkpoint }))
      clock.advance(1_000)
      const target = unwrap(await service.completeHandoff({ handoff: checkpointed.handoff }))
      const worked = await scene.work(target, 'run_tests')
      clock.advance(1_000)
      const request = { ...worked, targetAgent: scene.name('opus'), reason: 'Stuck' }
      const waiting = unwrap(await service.initiateHandoff(request)).handoff
      const job = await only(scene, since, idOf(first))
      assert.equal(job.restarts, 1)
      assert.deepEqual(job.openHandoffs, [await scene.store.handoffs.find(waiting.id)])
      assert.deepEqual(
        job.windows.map(({ session, checkpointUsd }) => [session.epoch, session.totals?.costUsd, checkpointUsd]),
        [
          [1, 0.5, 0.25],
          [2, undefined, undefined],
        ],
      )
    },
    'tells who holds a session, and when it was last heard of': async (scene) => {
      const since = scene.clock.now()
      const more = { leaseMs: SHORT_MS }
      const leased = await scene.session(undefined, undefined, more)
      const lasting = await scene.session(undefined, undefined, { leaseMs: LONG_MS })
      scene.clock.advance(1_000)
      const worked = await scene.work(lasting, 'read_file')
      const turnAt = scene.clock.now()
      await scene.passTime(SHORT_MS + 50)
      const [over] = (await only(scene, since, idOf(leased))).windows
      assert.deepEqual(over?.lease, { ...(await scene.store.leases.find(leased.session.id)), isOver: true })
      assert.equal(over !== undefined && 'lastTurnAt' in over, false)
      const [held] = (await only(scene, since, idOf(worked))).windows
      assert.equal(held?.lease?.isOver, false)
      assert.equal(held?.lastTurnAt, turnAt)
      unwrap(await scene.service.completeSession(worked))
      const [ended] = (await only(scene, since, idOf(worked))).windows
      assert.equal(ended !== undefined && ('lease' in ended || 'lastTurnAt' in ended), false)
    },
    'says the time by the same clock as leases, also where nothing is found': async (scene) => {
      const leased = await scene.session(undefined, undefined, { leaseMs: LONG_MS })
      const { at } = await scene.store.conversations.listJobs({ since: scene.clock.now() }, { limit: 1 })
      const until = (await scene.store.leases.find(leased.session.id))?.until ?? ''
      const rest = Date.parse(until) - Date.parse(at)
      assert.ok(rest > 0 && rest <= LONG_MS)
    },
  },
}
