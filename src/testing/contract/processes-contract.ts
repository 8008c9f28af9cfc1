import assert from 'node:assert/strict'
import { agentSessionId } from '../../domain/kernel/ids.ts'
import type { ProcessIdentity } from '../../domain/session/process-identity.ts'
import { unwrap } from '../../domain/unwrap.ts'
import { everyPage } from '../../ports/store/page.ts'
import type { HeldLease } from '../../ports/store/session-leases.ts'
import { refusal } from '../expected-refusal.ts'
import type { Scene } from '../scene.ts'
import type { ContractPart } from '../store-contract.ts'

const SHORT_MS = 400
const LONG_MS = 600_000

const FIRST: ProcessIdentity = {
  host: 'höst "one"',
  bootId: 'b1',
  pidNamespace: 'pid:[4026531836]',
  userId: 1_000,
  mark: 'm1',
  leader: { pid: 4_711, startTime: '987654' },
}
const SECOND: ProcessIdentity = { host: 'two', bootId: 'b2', pidNamespace: 'pid:[1]', userId: 0, mark: 'm2' }

const leased = (scene: Scene, leaseMs = LONG_MS) =>
  scene.session(scene.name('claude-code'), undefined, { leaseMs, prompt: 'Go' })

/** The leases of these sessions that are not over, in order; others may be in the store as well. */
const running = async ({ store }: Scene, ...sessions: readonly string[]): Promise<readonly HeldLease[]> => {
  const found: HeldLease[] = []
  for await (const lease of everyPage(({ after }) =>
    store.leases.listRunning(after === undefined ? { limit: 2 } : { limit: 2, after }),
  ))
    found.push(lease)
  assert.equal(new Set(found.map(({ sessionId }) => sessionId)).size, found.length)
  return found.filter(({ sessionId }) => sessions.includes(sessionId))
}

export const processesContract: ContractPart = {
  about: 'processes of sessions',
  cases: {
    'keeps the processes of a session with its lease, the last that were said': async (scene) => {
      const { leases } = scene.store
      const { session, holder } = await leased(scene)
      const lease = await leases.find(session.id)
      const { id: sessionId, conversationId } = session
      assert.deepEqual(lease, { conversationId, sessionId, until: lease?.until, processes: [] })
      assert.equal(await leases.keepProcesses(session.id, holder, [FIRST, SECOND]), true)
      assert.deepEqual((await leases.find(session.id))?.processes, [FIRST, SECOND])
      assert.equal(await leases.keepProcesses(session.id, holder, [SECOND]), true)
      assert.deepEqual((await leases.find(session.id))?.processes, [SECOND])
      assert.deepEqual(await scene.store.sessions.find(session.id), session)
    },
    'lets nobody but the holder say which processes work a session': async (scene) => {
      const { leases } = scene.store
      const [mine, other, none] = [await leased(scene), await leased(scene), await scene.session()]
      assert.equal(await leases.keepProcesses(mine.session.id, mine.holder, [FIRST]), true)
      assert.equal(await leases.keepProcesses(mine.session.id, other.holder, [SECOND]), false)
      assert.equal(await leases.keepProcesses(none.session.id, none.holder, [SECOND]), false)
      assert.equal(await leases.keepProcesses(agentSessionId(scene.ids.next()), mine.holder, [SECOND]), false)
      assert.deepEqual((await leases.find(mine.session.id))?.processes, [FIRST])
      assert.equal(await leases.find(none.session.id), undefined)
    },
    'keeps them for the next holder of the session, until that one says otherwise': async (scene) => {
      const { leases } = scene.store
      const before = await leased(scene, SHORT_MS)
      await leases.keepProcesses(before.session.id, before.holder, [FIRST])
      await leases.renew(before.session.id, before.holder, SHORT_MS)
      await scene.passTime(SHORT_MS + 50)
      const request = { session: before.session.id, leaseMs: LONG_MS, ifAbandoned: true as const }
      const after = unwrap(await scene.service.takeOverSession(request))
      assert.deepEqual((await leases.find(before.session.id))?.processes, [FIRST])
      assert.equal(await leases.keepProcesses(before.session.id, before.holder, [SECOND]), false)
      assert.equal(await leases.keepProcesses(before.session.id, after.holder, []), true)
      assert.deepEqual((await leases.find(before.session.id))?.processes, [])
    },
    'forgets them with the lease, and begins a successor without any': async (scene) => {
      const { leases } = scene.store
      const source = await scene.work(await leased(scene), 'read_file')
      await leases.keepProcesses(source.session.id, source.holder, [FIRST])
      const { handoff } = unwrap(
        await scene.service.initiateHandoff({ ...source, targetAgent: scene.name('opus'), reason: 'It knows more' }),
      )
      assert.deepEqual((await leases.find(source.session.id))?.processes, [FIRST])
      const next = unwrap(await scene.service.completeHandoff({ handoff, leaseMs: LONG_MS }))
      assert.equal(await leases.find(source.session.id), undefined)
      assert.deepEqual((await leases.find(next.session.id))?.processes, [])
    },
    'keeps the process that holds a session with its lease, and no other once somebody else has it': async (scene) => {
      const { leases } = scene.store
      const runnerOf = async (session: string) => (await leases.find(agentSessionId(session)))?.runner
      const name = scene.name('claude-code')
      const held = await scene.session(name, undefined, { leaseMs: LONG_MS, runner: FIRST, prompt: 'Go' })
      const { id } = held.session
      assert.deepEqual(await runnerOf(id), FIRST)
      await leases.renew(id, held.holder, LONG_MS)
      assert.deepEqual((await running(scene, id))[0]?.runner, FIRST)
      const named = unwrap(await scene.service.takeOverSession({ session: id, leaseMs: LONG_MS, runner: SECOND }))
      assert.deepEqual(await runnerOf(id), SECOND)
      unwrap(await scene.service.takeOverSession({ session: named.session.id, leaseMs: LONG_MS }))
      assert.equal(await runnerOf(id), undefined)
      unwrap(await scene.service.pauseSession({ session: id, byHand: true }))
      unwrap(await scene.service.resumeSession({ session: id, byHand: true, leaseMs: LONG_MS, runner: FIRST }))
      assert.deepEqual(await runnerOf(id), FIRST)
      const worked = await scene.work(unwrap(await scene.service.takeOverSession({ session: id })), 'read_file')
      const handed = unwrap(await scene.service.initiateHandoff({ ...worked, targetAgent: scene.name('opus') }))
      const next = { handoff: handed.handoff, leaseMs: LONG_MS, runner: SECOND }
      assert.deepEqual(await runnerOf(unwrap(await scene.service.completeHandoff(next)).session.id), SECOND)
    },
    'gives a session whose runner is known to be gone to exactly one, before its lease is over': async (scene) => {
      const runner = { ...FIRST, mark: 'gone' }
      const held = await scene.session(scene.name('worker'), undefined, { leaseMs: LONG_MS, runner, prompt: 'Go' })
      const { id } = held.session
      const take = (deadRunner: string) =>
        scene.service.takeOverSession({ session: id, ifAbandoned: true, deadRunner, leaseMs: LONG_MS, runner: SECOND })
      assert.equal(refusal(await take('another')).code, 'session.leased')
      const answers = await Promise.all(Array.from({ length: 5 }, () => take('gone')))
      const winners = answers.flatMap((answer) => (answer.ok ? [answer.value] : []))
      assert.equal(winners.length, 1)
      const codes = answers.flatMap((answer) => (answer.ok ? [] : [answer.error.code]))
      assert.deepEqual(codes, Array(4).fill('session.leased'))
      assert.deepEqual(await scene.store.sessions.find(id), winners[0]?.session)
      assert.equal(winners[0]?.session.takeovers, 1)
      assert.equal(await scene.store.leases.renew(id, held.holder, LONG_MS), false)
      // A process that still believes in the earlier runner does not rob the current one.
      assert.equal(refusal(await take('gone')).code, 'session.leased')
    },
    'lists leases that are not over, soonest first, and only those of the baton': async (scene) => {
      const late = await leased(scene, 2 * LONG_MS)
      const soon = await leased(scene, LONG_MS)
      const over = await leased(scene, SHORT_MS)
      const paused = await leased(scene)
      unwrap(await scene.service.pauseSession(paused))
      await scene.store.leases.keepProcesses(soon.session.id, soon.holder, [FIRST])
      await scene.passTime(SHORT_MS + 50)
      const ids = [late, soon, over, paused].map(({ session }) => session.id)
      const listed = await running(scene, ...ids)
      assert.deepEqual(
        listed.map(({ sessionId, processes }) => [sessionId, processes]),
        [
          [soon.session.id, [FIRST]],
          [late.session.id, []],
        ],
      )
      for (const lease of listed) assert.deepEqual(await scene.store.leases.find(lease.sessionId), lease)
    },
  },
}
