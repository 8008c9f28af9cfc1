import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { agentSessionId } from '../../src/domain/kernel/ids.ts'
import type { WorkingSession } from '../../src/domain/session/agent-session.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { FaultInjector } from '../../src/entry/testing.ts'
import type { Store } from '../../src/ports/store/store.ts'
import { Scene } from '../../src/testing/scene.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'
import { cloneDatabase, withDatabase } from '../support/test-databases.ts'

const { TEST_DATABASE_URL: SERVER = '', TEST_POOLER_URL: POOLER } = process.env

const WAYS = [
  { way: 'direct', url: SERVER, pooled: false },
  ...(POOLER === undefined ? [] : [{ way: 'through the pooler', url: POOLER, pooled: true }]),
]

describe.each(WAYS)('$way', ({ url, pooled }) => {
  let proxy: TcpProxy
  let store: Store
  let scene: Scene

  beforeAll(async () => {
    proxy = await TcpProxy.before(withDatabase(url, await cloneDatabase()))
    store = await openPostgres({ connectionString: proxy.url, pooled })
    scene = new Scene({ store, passTime: async () => {} })
  })
  afterAll(async () => {
    await store[Symbol.asyncDispose]()
    await proxy[Symbol.asyncDispose]()
  })

  /** A session that has worked so many turns. */
  const worked = async (turns: number): Promise<WorkingSession> => {
    let working: WorkingSession = await scene.session(scene.name('claude-code'))
    for (let left = turns; left > 0; left -= 500) {
      const batch = Array.from({ length: Math.min(left, 500) }, () => scene.turn('read_file'))
      working = { ...working, ...unwrap(await scene.service.recordTurns({ ...working, turns: batch })) }
    }
    return working
  }

  /** What something gives, and how often the wire was crossed for it. */
  const trips = async <T>(work: () => Promise<T>): Promise<readonly [T, number]> => {
    const { value, roundTrips } = await proxy.counting(work)
    return [value, roundTrips]
  }

  describe.each([1, 10_000])('at %i turns', (turns) => {
    it('each command and question crosses the wire once or twice', async () => {
      const { service, history } = scene
      const working = await worked(turns)
      const { conversationId } = working.session
      const to = { targetAgent: scene.name('opus'), reason: 'The window is nearly full' }

      const [recorded, record] = await trips(() => service.recordTurn({ ...working, ...scene.turn('a', 'b', 'c') }))
      const batch = { ...working, ...unwrap(recorded), turns: [scene.turn('a'), scene.turn(), scene.turn('b')] }
      const [several, recordSeveral] = await trips(() => service.recordTurns(batch))
      const held = { ...working, ...unwrap(several) }
      const [, snapshot] = await trips(() => service.captureSnapshot(held))
      const [active, activeSession] = await trips(() => history.activeSession(conversationId))
      expect(active?.id).toBe(held.session.id)
      expect(active?.progress.turns).toBe(turns + 4)

      const [first, initiate] = await trips(() => service.initiateHandoff({ ...held, ...to }))
      const [, accept] = await trips(() => service.acceptHandoff({ ...unwrap(first), claimant: 'worker' }))
      const [, cancel] = await trips(() =>
        service.cancelHandoff({ handoff: unwrap(first).handoff.id, by: 'worker', reason: 'No' }),
      )
      const second = unwrap(await service.initiateHandoff({ session: held.session.id, byHand: true, ...to }))
      const [, fail] = await trips(() => service.failHandoff({ ...second, reason: 'It broke' }))
      const third = unwrap(await service.initiateHandoff({ session: held.session.id, byHand: true, ...to }))
      const [, claimNext] = await trips(() => service.claimNext({ targetAgent: to.targetAgent, claimant: 'worker' }))
      const [next, complete] = await trips(() => service.completeHandoff({ ...third, claimant: 'worker' }))
      expect(unwrap(next).session.epoch).toBe(2)
      const [, thread] = await trips(() => service.openThread({ session: held.session.id, byHand: true, ...to }))
      const delegated = {
        session: held.session.id,
        holder: held.holder,
        ...to,
        flags: ['delegated'] as const,
        leaseMs: 60_000,
      }
      const opened = unwrap(await service.openThread(delegated))
      const [waiting, listDelegated] = await trips(() => store.conversations.listDelegated(conversationId))
      const [tree, findTree] = await trips(() => store.conversations.findTree(conversationId))
      expect([waiting.length, tree?.threads]).toEqual([1, 1])
      const messages = [{ role: 'user', origin: 'batonpass', text: 'It is done', reports: opened.handoff.id }] as const
      const [reported, report] = await trips(() => service.recordTurn({ ...unwrap(next), messages }))
      expect(unwrap(reported).turns).toHaveLength(1)
      expect({ listDelegated, findTree, report }).toEqual({ listDelegated: 1, findTree: 1, report: 2 })
      const [, byCall] = await trips(() => history.lookBack(conversationId, { question: { by: 'call', callId: 'c' } }))
      const [, byTurn] = await trips(() =>
        history.lookBack(conversationId, { question: { by: 'turn', epoch: 1, turn: 1 } }),
      )
      const [, byWords] = await trips(() =>
        history.lookBack(conversationId, { question: { by: 'words', words: 'nowhere' } }),
      )
      const question = { by: 'words', text: 'nowhere', found: 0 } as const
      const [, lookBack] = await trips(() => service.recordLookBack({ session: held.session.id, ...question }))
      expect({ byCall, byTurn, byWords }).toEqual({ byCall: 1, byTurn: 1, byWords: 1 })
      const [line, lineage] = await trips(() => history.lineage(conversationId))
      expect(line?.conversation.id).toBe(conversationId)

      expect({ record, recordSeveral, activeSession, lineage }).toEqual({
        record: 1,
        recordSeveral: 1,
        activeSession: 1,
        lineage: 1,
      })
      for (const [name, count] of Object.entries({
        snapshot,
        initiate,
        accept,
        claimNext,
        complete,
        cancel,
        fail,
        thread,
        lookBack,
      })) {
        expect(count, name).toBeGreaterThanOrEqual(1)
        expect(count, name).toBeLessThanOrEqual(2)
      }
    })

    it('a stale copy costs one read and one more write, a bare id one read', async () => {
      const { service } = scene
      const stale = await worked(turns)
      // Another process: this one is not told.
      const elsewhere = scene.serviceOver(new FaultInjector(store).store)
      const fresh = unwrap(await elsewhere.recordTurn({ ...stale, ...scene.turn('a') }))
      // A write that does not fit, the read, the write that does.
      const [late, lateTrips] = await trips(() => service.recordTurn({ ...stale, ...scene.turn('b') }))
      expect(unwrap(late).session.progress.turns).toBe(fresh.session.progress.turns + 1)
      expect(lateTrips).toBe(3)
      // One that this process was answered past is known to be stale.
      const [, knownTrips] = await trips(() => service.recordTurn({ ...stale, ...scene.turn('c') }))
      expect(knownTrips).toBe(2)
      const { holder } = stale
      const [, byId] = await trips(() => service.recordTurn({ session: stale.session.id, holder, ...scene.turn() }))
      expect(byId).toBe(2)
    })
  })

  it('each step of a restart is one when the caller passes back what the step before answered', async () => {
    const { service } = scene
    const conversation = await scene.conversation()
    const working = await scene.session(scene.name('claude-code'), conversation, { leaseMs: 60_000 })
    const [attached, attach] = await trips(() => service.attachSession({ ...working, providerSessionId: 'provider' }))
    const totals = { inputTokens: 900, outputTokens: 80, costUsd: 0.25 }
    const [accounted, account] = await trips(() => service.accountSession({ ...working, ...unwrap(attached), totals }))
    const turned = await scene.work({ ...working, ...unwrap(accounted) }, 'read_file')
    const [, renew] = await trips(() => store.leases.renew(turned.session.id, turned.holder, 60_000))
    const [begun, restart] = await trips(() => service.restartSession({ ...turned, reason: 'Full' }))
    const { handoff, session, monitor } = unwrap(begun)
    if (handoff === undefined || monitor === undefined) throw new Error('It was not restarted')
    const checkpoint = { outcome: 'kept', characters: 9 } as const
    const { holder } = working
    const held = { handoff, session, monitor, conversation, holder }
    const [kept, keep] = await trips(() => service.keepCheckpoint({ ...held, document: 'Half done', checkpoint }))
    const claimant = 'worker'
    const [accepted, accept] = await trips(() => service.acceptHandoff({ ...unwrap(kept), claimant }))
    const wanted = { claimant, holder, continuation: 'Go on', targetSessionId: agentSessionId(scene.ids.next()) }
    const [prepared, prepare] = await trips(() => service.prepareHandoff({ ...unwrap(accepted), ...wanted }))
    const [done, complete] = await trips(() =>
      service.completeHandoff({ ...unwrap(prepared), claimant, leaseMs: 60_000 }),
    )
    expect(unwrap(done).session.id).toBe(wanted.targetSessionId)
    const results = [{ name: 'n', type: 'shell', ok: true, output: '', durationMs: 1 }] as const
    const { conversationId, id: sessionId } = unwrap(done).session
    const [, hooks] = await trips(() =>
      service.recordHooks({ conversationId, sessionId, moment: 'after_handoff', results }),
    )
    const [, expired] = await trips(() => store.leases.listExpired({}))
    const one = { attach: 1, account: 1, renew: 1, keep: 1, accept: 1, prepare: 1, complete: 1, expired: 1 }
    expect({ attach, account, renew, keep, accept, prepare, complete, expired }).toEqual(one)
    expect(restart).toBeLessThanOrEqual(2)
    expect(hooks).toBeLessThanOrEqual(2)
    const takeOver = { session: sessionId, leaseMs: 60_000 }
    const [, take] = await trips(() => service.takeOverSession(takeOver))
    const [, late] = await trips(() => service.takeOverSession({ ...takeOver, ifAbandoned: true }))
    expect({ take, late }).toEqual({ take: 2, late: 1 })
  })

  it.each([
    ['restarts', { maxRestarts: 3, whenExhausted: 'stop' }],
    ['is stopped', { maxRestarts: 0, whenExhausted: 'stop' }],
    ['carries on', { maxRestarts: 0, whenExhausted: 'carry_on' }],
  ] as const)('a turn under "auto" that crosses and %s is two at most, others one', async (_, restartBudget) => {
    const { service } = scene
    const { conversation } = unwrap(await service.openConversation({ originalTask: 'Fix it', restartBudget }))
    const monitor = { contextLimit: 100_000, policy: 'auto' } as const
    const started = await scene.session(scene.name('claude-code'), conversation, { monitor, leaseMs: 60_000 })
    const [first, calm] = await trips(() => service.recordTurn({ ...started, ...scene.turn('read_file') }))
    const usage = { state: 'metered', promptTokens: 90_000, outputTokens: 500 } as const
    const [full, crossing] = await trips(() =>
      service.recordTurn({ ...started, ...unwrap(first), ...scene.turn('run_tests'), usage }),
    )
    const { handoff, refusedBy } = unwrap(full)
    expect([handoff === undefined, refusedBy]).toEqual(
      restartBudget.maxRestarts > 0 ? [false, undefined] : [true, 'restarts'],
    )
    expect(calm).toBe(1)
    expect(crossing).toBeLessThanOrEqual(2)
  })

  it('opening a conversation is one, with a key or without, and one more for each way the key is found taken', async () => {
    const { service } = scene
    const externalKey = scene.name('job')
    const task = { originalTask: 'Fix the flaky test' }
    const [, plain] = await trips(() => service.openConversation(task))
    const [first, keyed] = await trips(() => service.openConversation({ ...task, externalKey }))
    const [again, taken] = await trips(() => service.openConversation({ ...task, externalKey }))
    expect(unwrap(again)).toEqual(unwrap(first))
    // This process was answered with it; another one finds out with a write that does not fit.
    const elsewhere = scene.serviceOver(new FaultInjector(store).store)
    const [, found] = await trips(() => elsewhere.openConversation({ ...task, externalKey }))
    expect({ plain, keyed, taken, found }).toEqual({ plain: 1, keyed: 1, taken: 1, found: 2 })
    const [, starting] = await trips(() =>
      service.startSession({
        ...unwrap(first),
        conversationId: unwrap(first).conversation.id,
        agentName: 'a',
        backend: 'b',
      }),
    )
    expect(starting).toBe(2)
  })

  it('the whole lineage of fifty handoffs is one', async () => {
    const { service, history } = scene
    let working: WorkingSession = await worked(1)
    const { conversationId } = working.session
    for (let count = 1; count <= 50; count += 1) {
      const to = { targetAgent: scene.name(`agent-${count}`), reason: 'Next' }
      const { handoff } = unwrap(await service.initiateHandoff({ ...working, ...to }))
      working = unwrap(await service.completeHandoff({ handoff }))
      working = await scene.work(working, 'read_file')
    }
    const [line, count] = await trips(() => history.lineage(conversationId))
    expect(JSON.stringify(line).match(/"status":"completed"/g)).toHaveLength(50)
    expect(count).toBe(1)
  })

  it('the count is of the wire: three questions at once are three', async () => {
    const { id } = await scene.conversation()
    const [, count] = await trips(() => Promise.all([1, 2, 3].map(() => scene.history.conversation(id))))
    expect(count).toBe(3)
  })
})
