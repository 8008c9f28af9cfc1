import assert from 'node:assert/strict'
import { type AgentSessionId, agentSessionId } from '../../domain/kernel/ids.ts'
import type { WorkingSession } from '../../domain/session/agent-session.ts'
import { unwrap } from '../../domain/unwrap.ts'
import type { ExpiredLease } from '../../ports/store/session-leases.ts'
import type { Store } from '../../ports/store/store.ts'
import { refusal } from '../expected-refusal.ts'
import type { Scene } from '../scene.ts'
import type { ContractPart } from '../store-contract.ts'

/** Long enough for a slow store to answer within it, short enough to wait for. */
const SHORT_MS = 400
const LONG_MS = 600_000

/** Lets a short lease run out. */
const expire = (scene: Scene): Promise<void> => scene.passTime(SHORT_MS + 50)

/** Those of these sessions whose holders were not heard of in time, in order; others may be in the store as well. */
const expired = async (store: Store, ...sessions: readonly WorkingSession[]): Promise<readonly ExpiredLease[]> => {
  const found: ExpiredLease[] = []
  for (let after: string | undefined; ; ) {
    const page = await store.leases.listExpired(after === undefined ? { limit: 2 } : { limit: 2, after })
    found.push(...page.items)
    after = page.next
    if (after === undefined) break
  }
  assert.equal(new Set(found.map(({ sessionId }) => sessionId)).size, found.length)
  return found.filter(({ sessionId }) => sessions.some(({ session }) => session.id === sessionId))
}

const names = (leases: readonly ExpiredLease[]): readonly AgentSessionId[] => leases.map(({ sessionId }) => sessionId)

const leased = (scene: Scene, leaseMs = SHORT_MS) =>
  scene.session(scene.name('claude-code'), undefined, { leaseMs, prompt: 'Go' })

const working = async (scene: Scene, leaseMs = SHORT_MS) => scene.work(await leased(scene, leaseMs), 'read_file')

export const leasesContract: ContractPart = {
  about: 'leases of sessions',
  cases: {
    'lists a session once its lease has run out by the clock of the store, and one without a lease never': async (
      scene,
    ) => {
      const [short, long, none] = [await leased(scene), await leased(scene, LONG_MS), await scene.session()]
      assert.deepEqual(await expired(scene.store, short, long, none), [])
      scene.clock.advance(LONG_MS * 2)
      assert.deepEqual(await expired(scene.store, short, long, none), [])
      await expire(scene)
      const [lease, ...others] = await expired(scene.store, short, long, none)
      assert.deepEqual(others, [])
      const { id: sessionId, conversationId } = short.session
      assert.deepEqual(lease, { conversationId, sessionId, expiredAt: lease?.expiredAt })
    },
    'lists the longest expired first, page by page': async (scene) => {
      const made: WorkingSession[] = []
      for (let count = 0; count < 5; count += 1) {
        made.push(await leased(scene, SHORT_MS / 4))
        await scene.passTime(2)
      }
      await expire(scene)
      const listed = await expired(scene.store, ...made)
      assert.deepEqual(
        names(listed),
        made.map(({ session }) => session.id),
      )
      const times = listed.map(({ expiredAt }) => expiredAt)
      assert.deepEqual(times, times.toSorted())
    },
    'lets the holder renew from now on': async (scene) => {
      const session = await leased(scene)
      assert.equal(await scene.store.leases.renew(session.session.id, session.holder, LONG_MS), true)
      await expire(scene)
      assert.deepEqual(await expired(scene.store, session), [])
      assert.equal(await scene.store.leases.renew(session.session.id, session.holder, 1), true)
      await scene.passTime(10)
      assert.deepEqual(names(await expired(scene.store, session)), [session.session.id])
    },
    'lets the holder of a lease that has run out renew it while nobody took over': async (scene) => {
      const session = await leased(scene)
      await expire(scene)
      assert.equal(await scene.store.leases.renew(session.session.id, session.holder, LONG_MS), true)
      assert.deepEqual(await expired(scene.store, session), [])
    },
    'lets nobody else renew, and changes nothing then': async (scene) => {
      const [session, other, none] = [await leased(scene), await leased(scene, LONG_MS), await scene.session()]
      const { leases } = scene.store
      assert.equal(await leases.renew(session.session.id, other.holder, LONG_MS), false)
      assert.equal(await leases.renew(none.session.id, none.holder, LONG_MS), false)
      assert.equal(await leases.renew(agentSessionId(scene.ids.next()), session.holder, LONG_MS), false)
      await expire(scene)
      assert.deepEqual(names(await expired(scene.store, session, none)), [session.session.id])
    },
    'renews without moving the session: a turn decided before is kept': async (scene) => {
      const session = await leased(scene)
      await scene.store.leases.renew(session.session.id, session.holder, LONG_MS)
      assert.deepEqual(await scene.store.sessions.find(session.session.id), session.session)
      const turned = unwrap(await scene.service.recordTurn({ ...session, ...scene.turn('read_file') }))
      assert.equal(turned.session.version, session.session.version + 1)
    },
    'gives the lease to the new holder; the one before can no longer renew': async (scene) => {
      const before = await leased(scene)
      const request = { session: before.session.id, leaseMs: SHORT_MS }
      const after = unwrap(await scene.service.takeOverSession(request))
      assert.equal(await scene.store.leases.renew(before.session.id, before.holder, LONG_MS), false)
      await expire(scene)
      assert.deepEqual(names(await expired(scene.store, before)), [before.session.id])
      assert.equal(await scene.store.leases.renew(after.session.id, after.holder, LONG_MS), true)
      assert.deepEqual(await expired(scene.store, before), [])
    },
    'has no lease after a take-over that asks for none': async (scene) => {
      const before = await leased(scene)
      const after = unwrap(await scene.service.takeOverSession({ session: before.session.id }))
      for (const { holder } of [before, after])
        assert.equal(await scene.store.leases.renew(before.session.id, holder, LONG_MS), false)
      await expire(scene)
      assert.deepEqual(await expired(scene.store, before), [])
    },
    'leaves a session to a holder who lives, and to one who made no promise': async (scene) => {
      const [lives, none] = [await leased(scene, LONG_MS), await scene.session()]
      const take = (session: AgentSessionId) =>
        scene.service.takeOverSession({ session, ifAbandoned: true, leaseMs: SHORT_MS })
      const refused = refusal(await take(lives.session.id))
      assert.equal(refused.code, 'session.leased')
      assert.equal(refusal(await take(none.session.id)).code, 'session.not_leased')
      for (const { session } of [lives, none]) assert.deepEqual(await scene.store.sessions.find(session.id), session)
      assert.equal(await scene.store.leases.renew(lives.session.id, lives.holder, LONG_MS), true)
    },
    'gives an abandoned session to exactly one of five who ask at once': async (scene) => {
      const before = await working(scene)
      await expire(scene)
      const request = { session: before.session.id, ifAbandoned: true, leaseMs: LONG_MS } as const
      const answers = await Promise.all(Array.from({ length: 5 }, () => scene.service.takeOverSession(request)))
      const winners = answers.flatMap((answer) => (answer.ok ? [answer.value] : []))
      assert.equal(winners.length, 1)
      const codes = answers.flatMap((answer) => (answer.ok ? [] : [answer.error.code]))
      assert.deepEqual(codes, Array(4).fill('session.leased'))
      assert.deepEqual(await scene.store.sessions.find(before.session.id), winners[0]?.session)
      const late = await scene.service.recordTurn({ ...before, ...scene.turn('run_tests') })
      assert.equal(refusal(late).code, 'session.superseded')
      assert.deepEqual(await expired(scene.store, before), [])
    },
    'undoes a take-over when the holder is heard of after the facts were read': async (scene) => {
      for (const more of [{ leaseMs: LONG_MS }, {}]) {
        const before = await leased(scene)
        await expire(scene)
        const { unitOfWork } = scene.store
        const late: Store = {
          ...partsOf(scene.store),
          unitOfWork: {
            load: (question, command) => unitOfWork.load(question, command),
            commit: async (unit) => {
              await scene.store.leases.renew(before.session.id, before.holder, LONG_MS)
              return unitOfWork.commit(unit)
            },
            estimateNow: () => unitOfWork.estimateNow(),
          },
        }
        assert.deepEqual(names(await expired(scene.store, before)), [before.session.id])
        const taking = scene
          .serviceOver(late)
          .takeOverSession({ session: before.session.id, ifAbandoned: true, ...more })
        assert.equal(refusal(await taking).code, 'session.leased')
        assert.deepEqual(await scene.store.sessions.find(before.session.id), before.session)
        assert.equal(await scene.store.leases.renew(before.session.id, before.holder, LONG_MS), true)
      }
    },
    'ends with the session, or when it is paused by hand': async (scene) => {
      const { service } = scene
      const [completed, failed, paused] = [await working(scene), await working(scene), await working(scene)]
      unwrap(await service.completeSession(completed))
      unwrap(await service.failSession({ ...failed, reason: 'It gave up' }))
      unwrap(await service.pauseSession(paused))
      await expire(scene)
      assert.deepEqual(await expired(scene.store, completed, failed, paused), [])
      for (const { session, holder } of [completed, failed, paused])
        assert.equal(await scene.store.leases.renew(session.id, holder, LONG_MS), false)
      const request = { session: paused.session.id, ifAbandoned: true, leaseMs: LONG_MS } as const
      assert.equal(refusal(await service.takeOverSession(request)).code, 'session.not_leased')
    },
    'does not begin with a take-over of a session that is paused by hand': async (scene) => {
      const paused = await working(scene)
      unwrap(await scene.service.pauseSession(paused))
      const taken = unwrap(await scene.service.takeOverSession({ session: paused.session.id, leaseMs: SHORT_MS }))
      await expire(scene)
      assert.deepEqual(await expired(scene.store, paused), [])
      assert.equal(await scene.store.leases.renew(taken.session.id, taken.holder, LONG_MS), false)
    },
    'continues while a handoff holds the session, ends with it, and begins anew with the successor': async (scene) => {
      const { service, store } = scene
      const source = await working(scene)
      const to = { targetAgent: scene.name('opus'), reason: 'Full' }
      const { handoff } = unwrap(await service.initiateHandoff({ ...source, ...to }))
      await expire(scene)
      assert.deepEqual(names(await expired(store, source)), [source.session.id])
      const next = unwrap(await service.completeHandoff({ handoff, leaseMs: SHORT_MS }))
      assert.deepEqual(await expired(store, source, next), [])
      assert.equal(await store.leases.renew(source.session.id, source.holder, LONG_MS), false)
      await expire(scene)
      assert.deepEqual(names(await expired(store, source, next)), [next.session.id])
      assert.equal(await store.leases.renew(next.session.id, next.holder, LONG_MS), true)
      const turned = await scene.work(next, 'run_tests')
      const again = unwrap(await service.initiateHandoff({ ...turned, targetAgent: scene.name('haiku'), reason: 'On' }))
      const last = unwrap(await service.completeHandoff({ handoff: again.handoff }))
      assert.equal(await store.leases.renew(last.session.id, last.holder, LONG_MS), false)
    },
    'stands as it was when a handoff is cancelled': async (scene) => {
      const source = await working(scene)
      const to = { targetAgent: scene.name('opus'), reason: 'Full' }
      const { handoff } = unwrap(await scene.service.initiateHandoff({ ...source, ...to }))
      unwrap(await scene.service.cancelHandoff({ handoff, reason: 'Not needed' }))
      assert.equal(await scene.store.leases.renew(source.session.id, source.holder, SHORT_MS), true)
      await expire(scene)
      assert.deepEqual(names(await expired(scene.store, source)), [source.session.id])
    },
    'is granted with its session or not at all': async (scene) => {
      const conversation = await scene.conversation()
      const first = await scene.session(scene.name('one'), conversation, { leaseMs: SHORT_MS })
      const another = { conversationId: conversation.id, agentName: scene.name('two'), backend: 'scripted' }
      const refused = await scene.service.startSession({ ...another, leaseMs: SHORT_MS })
      assert.equal(refusal(refused).code, 'conversation.session_active')
      for (const leaseMs of [0, -1, 0.5, Number.NaN, 86_400_001]) {
        const taking = await scene.service.takeOverSession({ session: first.session.id, leaseMs })
        const refused = refusal(taking)
        assert.deepEqual(refused.code === 'input.invalid' && refused.fields.map(({ field }) => field), ['leaseMs'])
      }
      await expire(scene)
      assert.deepEqual(names(await expired(scene.store, first)), [first.session.id])
    },
  },
}

/** The parts of a store; those of a class do not spread. */
const partsOf = (store: Store): Store => {
  const { unitOfWork, conversations, sessions, handoffs, snapshots, messages } = store
  const { audit, monitors, signals, leases, commands, ids, lookBacks, threadSummaries } = store
  const mirrors = { lookBacks, threadSummaries }
  const records = { ...mirrors, conversations, sessions, handoffs, snapshots, messages, audit, monitors, signals }
  return { unitOfWork, ...records, leases, commands, ids, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
}
