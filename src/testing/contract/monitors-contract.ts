import assert from 'node:assert/strict'
import type { Change } from '../../domain/decision.ts'
import { agentSessionId, signalId } from '../../domain/kernel/ids.ts'
import { type Instant, instant, later } from '../../domain/kernel/instant.ts'
import type { ContextSignal } from '../../domain/session/context-signal.ts'
import { unwrap } from '../../domain/unwrap.ts'
import type { ContextMonitor } from '../../domain/window/context-monitor.ts'
import { StoreFailure } from '../../ports/store/store-failure.ts'
import type { Scene } from '../scene.ts'
import type { ContractPart } from '../store-contract.ts'
import { rawUnit } from './raw-unit.ts'

const rawSignal = (scene: Scene, monitor: ContextMonitor, over: Partial<ContextSignal> = {}): ContextSignal => ({
  id: signalId(scene.ids.next()),
  conversationId: monitor.conversationId,
  recipientId: monitor.sessionId,
  aboutId: monitor.sessionId,
  kind: 'milestone',
  milestone: 'warning',
  text: 'Half full',
  delivery: 'sequential',
  status: 'queued',
  queuedAt: scene.clock.now(),
  ...over,
})

/** Everything a monitor can hold, so that nothing of it is lost on the way. */
const fullMonitor = (monitor: ContextMonitor): ContextMonitor => ({
  ...monitor,
  version: monitor.version + 1,
  isEnabled: false,
  policy: 'auto',
  milestones: [{ name: 'restart', at: 0.7 }],
  window: {
    hardLimit: { tokens: 200_000, source: 'runtime' },
    ...{ configuredLimit: 150_000, autoCompactAt: 167_000, compactedAt: 141_000 },
  },
  reading: {
    state: 'metered',
    promptTokens: 120_000,
    outputTokens: 900,
    pendingTokens: 40,
    provenance: { runtime: 'claude-code', source: 'assistant.message.usage', semantics: 'exact' },
  },
  isCompacting: true,
  awaitsReading: true,
  cycle: 3,
  latchedAt: 0.65,
  boundaryAt: instant('2000-01-01T00:00:11.000Z'),
  sampledAt: instant('2000-01-01T00:00:12.345Z'),
})

const queue = async (scene: Scene, ...signals: readonly ContextSignal[]): Promise<void> => {
  const changes = signals.map((signal): Change => ({ type: 'add_signal', signal }))
  assert.deepEqual(await scene.store.unitOfWork.commit(rawUnit(scene, changes)), { outcome: 'kept' })
}

export const monitorsContract: ContractPart = {
  about: 'monitors and signals',
  cases: {
    'gives every new session a monitor, and reads it back': async (scene) => {
      const { session, monitor } = await scene.session()
      assert.deepEqual(await scene.store.monitors.find(session.id), monitor)
      assert.equal(await scene.store.monitors.find(agentSessionId(scene.ids.next())), undefined)
    },
    'keeps everything a monitor holds': async (scene) => {
      const { session, monitor } = await scene.session()
      const moved = fullMonitor(monitor)
      const unit = rawUnit(scene, [{ type: 'move_monitor', monitor: moved, expected: monitor.version }])
      assert.deepEqual(await scene.store.unitOfWork.commit(unit), { outcome: 'kept' })
      assert.deepEqual(await scene.store.monitors.find(session.id), moved)
      const loaded = await scene.store.unitOfWork.load({ about: 'session', sessionId: session.id }, unit.command)
      assert.ok('repeated' in loaded)
    },
    'keeps a reading that is only a percentage, of a turn, its session and its monitor': async (scene) => {
      const working = await scene.session()
      const provenance = { runtime: 'claude-code', source: 'status-line', semantics: 'lower_bound' as const }
      const usage = { state: 'percentage' as const, usedPercent: 61.5, provenance }
      const recorded = unwrap(await scene.service.recordTurn({ ...working, ...scene.turn('read_file'), usage }))
      const { id, conversationId } = working.session
      assert.deepEqual((await scene.store.monitors.find(id))?.reading, usage)
      assert.deepEqual((await scene.store.sessions.find(id))?.progress.window.usage, usage)
      assert.deepEqual(
        (await scene.history.turns(id)).items.map((turn) => turn.usage),
        [usage],
      )
      assert.deepEqual(recorded.pressure, { state: 'known', ratio: 0.615 })
      const { items } = await scene.store.signals.listFor(id, {})
      assert.deepEqual(
        items.map(({ milestone, text }) => [milestone, text.includes('61 % full.')]),
        [['warning', true]],
      )
      const trail = await scene.history.auditTrail(conversationId)
      const reached = trail.items.find(({ event }) => event.type === 'context.milestone_reached')?.event
      assert.ok(reached !== undefined && !('usedTokens' in reached))
    },
    'refuses a monitor write made from a version that has moved on': async (scene) => {
      const { session, monitor } = await scene.session()
      const moved = fullMonitor(monitor)
      const signal = rawSignal(scene, monitor)
      const unit = rawUnit(scene, [
        { type: 'move_monitor', monitor: moved, expected: 99 },
        { type: 'add_signal', signal },
      ])
      assert.equal((await scene.store.unitOfWork.commit(unit)).outcome, 'conflict')
      assert.deepEqual(await scene.store.monitors.find(session.id), monitor)
      assert.deepEqual(await scene.store.signals.waiting(session.id), [])
    },
    'lets exactly one of two racing monitor writes win': async (scene) => {
      const { monitor } = await scene.session()
      const change: Change = { type: 'move_monitor', monitor: fullMonitor(monitor), expected: monitor.version }
      const units = [1, 2].map(() => rawUnit(scene, [change]))
      const outcomes = await Promise.all(units.map((unit) => scene.store.unitOfWork.commit(unit)))
      assert.deepEqual(outcomes.map(({ outcome }) => outcome).sort(), ['conflict', 'kept'])
    },
    'does not let a sample from outside stand in the way of a turn': async (scene) => {
      const worked = await scene.worked('read_file')
      const reading = { state: 'metered' as const, promptTokens: 5_000, outputTokens: 1 }
      unwrap(await scene.context.report({ session: worked.session.id, report: { type: 'sample', reading } }))
      const stored = await scene.store.sessions.find(worked.session.id)
      assert.deepEqual(stored, worked.session)
      const next = unwrap(await scene.service.recordTurn({ ...worked, ...scene.turn('run_tests') }))
      assert.deepEqual(await scene.store.monitors.find(worked.session.id), next.monitor)
    },
    'does not remember a unit that is not to be remembered': async (scene) => {
      const { session, monitor } = await scene.session()
      const moved = { ...monitor, version: monitor.version + 1 }
      const changes = [{ type: 'move_monitor', monitor: moved, expected: 1 }] as const
      const unit = { ...rawUnit(scene, changes), isRemembered: false }
      assert.deepEqual(await scene.store.unitOfWork.commit(unit), { outcome: 'kept' })
      const loaded = await scene.store.unitOfWork.load({ about: 'session', sessionId: session.id }, unit.command)
      assert.equal(loaded.repeated, undefined)
      assert.equal((await scene.store.unitOfWork.commit(unit)).outcome, 'conflict')
    },
    'refuses a signal about a session of another conversation': async (scene) => {
      const [mine, other] = [await scene.session(), await scene.session()]
      const signal = rawSignal(scene, mine.monitor, { conversationId: other.monitor.conversationId })
      const unit = rawUnit(scene, [{ type: 'add_signal', signal }])
      await assert.rejects(
        scene.store.unitOfWork.commit(unit),
        (error: unknown) => error instanceof StoreFailure && error.code === 'store.integrity',
      )
    },
    'gives everything urgent, then the oldest sequential one': async (scene) => {
      const { session, monitor } = await scene.session()
      const at = (seconds: number): Instant => later(scene.clock.now(), seconds * 1_000)
      const first = rawSignal(scene, monitor, { queuedAt: at(1) })
      const second = rawSignal(scene, monitor, { queuedAt: at(2) })
      const urgent = [3, 4].map((seconds) => rawSignal(scene, monitor, { queuedAt: at(seconds), delivery: 'urgent' }))
      await queue(scene, second, ...urgent, first)
      const { signals } = scene.store
      assert.deepEqual(await signals.waiting(session.id), [...urgent, first])
      assert.equal(await signals.acknowledge(session.id, [first.id], at(5)), 1)
      assert.deepEqual(await signals.waiting(session.id), [...urgent, second])
      const { items } = await signals.listFor(session.id, {})
      assert.deepEqual(items, [{ ...first, status: 'delivered', settledAt: at(5) }, second, ...urgent])
    },
    'settles a signal once, and only for its recipient': async (scene) => {
      const [mine, other] = [await scene.session(), await scene.session()]
      const signal = rawSignal(scene, mine.monitor)
      await queue(scene, signal)
      const { signals } = scene.store
      assert.equal(await signals.acknowledge(other.session.id, [signal.id], scene.clock.now()), 0)
      const twice = [1, 2].map(() => signals.acknowledge(mine.session.id, [signal.id], scene.clock.now()))
      assert.deepEqual((await Promise.all(twice)).sort(), [0, 1])
    },
    'withdraws what is still to be said about one window, and nothing else': async (scene) => {
      const [mine, other] = [await scene.session(), await scene.session()]
      const delivered = rawSignal(scene, mine.monitor)
      const { milestone: _, ...plain } = rawSignal(scene, mine.monitor, { kind: 'message', text: 'The build is red' })
      const theirs = rawSignal(scene, other.monitor, { recipientId: mine.session.id })
      const stale = rawSignal(scene, mine.monitor)
      await queue(scene, delivered, plain, theirs, stale)
      const { signals } = scene.store
      await signals.acknowledge(mine.session.id, [delivered.id], scene.clock.now())
      const at = later(scene.clock.now(), 1_000)
      const { conversationId, id: aboutId } = mine.session
      const unit = rawUnit(scene, [{ type: 'withdraw_signals', conversationId, aboutId, at }])
      assert.deepEqual(await scene.store.unitOfWork.commit(unit), { outcome: 'kept' })
      const { items } = await signals.listFor(mine.session.id, {})
      const statuses = new Map(items.map(({ id, status }) => [id, status]))
      assert.deepEqual(
        [delivered, plain, theirs, stale].map(({ id }) => statuses.get(id)),
        ['delivered', 'queued', 'queued', 'withdrawn'],
      )
      assert.equal(await signals.acknowledge(mine.session.id, [stale.id], at), 0)
    },
    'lists signals page by page, oldest first': async (scene) => {
      const { session, monitor } = await scene.session()
      const all = [1, 2, 3, 4, 5].map((seconds) =>
        rawSignal(scene, monitor, { queuedAt: later(scene.clock.now(), seconds * 1_000) }),
      )
      await queue(scene, ...all)
      const first = await scene.store.signals.listFor(session.id, { limit: 2 })
      assert.ok(first.next)
      const rest = await scene.store.signals.listFor(session.id, { after: first.next })
      assert.deepEqual([...first.items, ...rest.items], all)
    },
  },
}
