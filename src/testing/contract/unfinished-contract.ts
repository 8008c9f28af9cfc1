import assert from 'node:assert/strict'
import type { AgentSession, WorkingSession } from '../../domain/session/agent-session.ts'
import type { ProcessIdentity } from '../../domain/session/process-identity.ts'
import { unwrap } from '../../domain/unwrap.ts'
import { everyPage } from '../../ports/store/page.ts'
import { MOST_SIGNALS_COUNTED, type UnfinishedSession } from '../../ports/store/unfinished-session.ts'
import type { Scene } from '../scene.ts'
import type { ContractPart } from '../store-contract.ts'

const SHORT_MS = 400
const LONG_MS = 600_000

const RUNNER: ProcessIdentity = {
  host: 'one',
  bootId: 'b1',
  pidNamespace: 'pid:[1]',
  userId: 0,
  mark: 'm1',
  leader: { pid: 4_711, startTime: '987654' },
}

type Named = Pick<WorkingSession, 'session'>

/** Those of these sessions that are unfinished, as they are listed; others may be in the store as well. */
const unfinished = async ({ store }: Scene, ...wanted: readonly Named[]): Promise<readonly UnfinishedSession[]> => {
  const found: UnfinishedSession[] = []
  for await (const item of everyPage((page) => store.sessions.listUnfinished(page), { limit: 3 })) found.push(item)
  assert.equal(new Set(found.map(({ session }) => session.id)).size, found.length)
  return found.filter(({ session }) => wanted.some(({ session: { id } }) => id === session.id))
}

const only = async (scene: Scene, wanted: Named): Promise<UnfinishedSession> => {
  const [item, ...more] = await unfinished(scene, wanted)
  assert.ok(item && more.length === 0)
  return item
}

const say = async (scene: Scene, to: AgentSession, times: number): Promise<void> => {
  for (let time = 0; time < times; time += 1)
    unwrap(await scene.context.send({ session: to.id, text: `Look at this (${time})` }))
}

export const unfinishedContract: ContractPart = {
  about: 'unfinished sessions',
  cases: {
    'lists what is active, paused or held, newest first, and nothing that has ended': async (scene) => {
      const { service } = scene
      const made: WorkingSession[] = []
      for (let number = 0; number < 6; number += 1) {
        made.push(await scene.worked('read_file'))
        scene.clock.advance(1_000)
      }
      const [completed, failed, paused, held, source, active] = made
      assert.ok(completed && failed && paused && held && source && active)
      unwrap(await service.completeSession(completed))
      unwrap(await service.failSession({ ...failed, reason: 'It gave up' }))
      unwrap(await service.pauseSession(paused))
      const to = { targetAgent: scene.name('opus'), reason: 'Full' }
      unwrap(await service.initiateHandoff({ ...held, ...to }))
      const { handoff } = unwrap(await service.initiateHandoff({ ...source, ...to }))
      const target = unwrap(await service.completeHandoff({ handoff }))
      const listed = await unfinished(scene, ...made, target)
      assert.deepEqual(
        listed.map(({ session }) => session.id),
        [target, active, held, paused].map(({ session }) => session.id),
      )
      for (const { session } of listed) assert.deepEqual(session, await scene.store.sessions.find(session.id))
    },
    'says whose conversation it is and how full its window is': async (scene) => {
      const externalKey = scene.name('issue-7')
      const opened = unwrap(await scene.service.openConversation({ originalTask: 'Fix it', externalKey }))
      const keyed = await scene.session(scene.name('claude-code'), opened.conversation)
      await scene.work(keyed, 'read_file')
      const item = await only(scene, keyed)
      assert.equal(item.conversationKey, externalKey)
      assert.deepEqual(item.monitor, await scene.store.monitors.find(keyed.session.id))
      assert.ok(item.monitor)
      assert.equal('conversationKey' in (await only(scene, await scene.session())), false)
    },
    'says who holds it and whether that is over': async (scene) => {
      const more = { leaseMs: SHORT_MS, runner: RUNNER }
      const leased = await scene.session(scene.name('claude-code'), undefined, more)
      const [lasting, none] = [await scene.session(undefined, undefined, { leaseMs: LONG_MS }), await scene.session()]
      await scene.store.leases.keepProcesses(leased.session.id, leased.holder, [RUNNER])
      await scene.passTime(SHORT_MS + 50)
      const lease = await scene.store.leases.find(leased.session.id)
      assert.ok(lease)
      assert.deepEqual((await only(scene, leased)).lease, { ...lease, isOver: true })
      assert.deepEqual(lease.runner, RUNNER)
      assert.equal((await only(scene, lasting)).lease?.isOver, false)
      assert.equal('lease' in (await only(scene, none)), false)
    },
    'counts what it is still to be told, of its predecessors too, up to a bound': async (scene) => {
      const source = await scene.worked('read_file')
      assert.deepEqual((await only(scene, source)).waitingSignals, { count: 0 })
      const queuedAt = scene.clock.now()
      await say(scene, source.session, 2)
      scene.clock.advance(1_000)
      const to = { targetAgent: scene.name('opus'), reason: 'Full' }
      const { handoff } = unwrap(await scene.service.initiateHandoff({ ...source, ...to }))
      const target = unwrap(await scene.service.completeHandoff({ handoff }))
      await say(scene, target.session, 1)
      assert.deepEqual((await only(scene, target)).waitingSignals, { count: 3, oldest: queuedAt })
      const [first] = await scene.store.signals.waiting(target.session.id)
      assert.ok(first)
      await scene.store.signals.acknowledge(target.session.id, [first.id], scene.clock.now())
      assert.equal((await only(scene, target)).waitingSignals.count, 2)
      await say(scene, target.session, MOST_SIGNALS_COUNTED)
      assert.equal((await only(scene, target)).waitingSignals.count, MOST_SIGNALS_COUNTED)
    },
    'says the time by the same clock as leases, also where nothing is found': async (scene) => {
      const leased = await scene.session(scene.name('claude-code'), undefined, { leaseMs: LONG_MS })
      const { at } = await scene.store.sessions.listUnfinished({ limit: 1 })
      const until = (await scene.store.leases.find(leased.session.id))?.until ?? ''
      const left = Date.parse(until) - Date.parse(at)
      assert.ok(left > 0 && left <= LONG_MS)
      const oldest = (await unfinished(scene, leased)).at(-1)
      assert.ok(oldest)
      let page = await scene.store.sessions.listUnfinished({ limit: 1_000 })
      while (page.next !== undefined)
        page = await scene.store.sessions.listUnfinished({ limit: 1_000, after: page.next })
      assert.ok(page.at >= at)
    },
  },
}
