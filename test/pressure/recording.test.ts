import { beforeEach, describe, expect, it } from 'vitest'
import { commandId } from '../../src/domain/kernel/ids.ts'
import { instant } from '../../src/domain/kernel/instant.ts'
import type { SessionStartedAnswer } from '../../src/domain/session/start-session.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import type { MonitorSettings } from '../../src/domain/window/context-monitor.ts'
import type { UsageReading, UsageTotals } from '../../src/domain/window/usage-reading.ts'
import type { Store } from '../../src/ports/store/store.ts'
import type { Unit } from '../../src/ports/store/unit-of-work.ts'
import { sha256 } from '../../src/ports/system/sha256.ts'
import { AuditService } from '../../src/services/audit/audit-service.ts'
import { HandoffService } from '../../src/services/handoff-service.ts'
import { refusal } from '../../src/testing/expected-refusal.ts'
import { FaultInjector } from '../../src/testing/fault-injector.ts'
import { Scene } from '../../src/testing/scene.ts'
import { ReadBack } from '../cases/read-back.ts'
import { withUnitOfWork } from '../faulty-stores/wrap.ts'
import { openStore, RULE_STORES } from '../support/stores.ts'

const WINDOW = 100_000

const metered = (percent: number): UsageReading => ({
  state: 'metered',
  promptTokens: percent * 1_000 - 500,
  outputTokens: 500,
})

describe.each(RULE_STORES)('recording a turn evaluates pressure on %s', (kind) => {
  let scene: Scene
  let kept: ReadBack
  beforeEach(async () => {
    scene = new Scene(await openStore(kind))
    kept = new ReadBack(scene.store)
  })

  const started = (monitor: MonitorSettings = {}): Promise<SessionStartedAnswer> =>
    scene.session(scene.name('claude-code'), undefined, { monitor: { contextLimit: WINDOW, ...monitor } })

  const turnAt = (percent: number, ...tools: readonly string[]) => ({
    ...scene.turn(...tools),
    usage: metered(percent),
  })

  /** A turn in the middle of an exchange: the agent goes on without being spoken to. */
  const goesOn = (percent: number, toolName: string) => {
    const [, assistant] = scene.turn(toolName).messages
    return { messages: assistant === undefined ? [] : [assistant], usage: metered(percent) }
  }

  /** A service whose reads and writes are counted. */
  const counted = () => {
    const calls: string[] = []
    const { unitOfWork } = scene.store
    const store = withUnitOfWork(scene.store, {
      load: (question, command) => {
        calls.push(`load ${question.about}`)
        return unitOfWork.load(question, command)
      },
      commit: (unit: Unit) => {
        calls.push('commit')
        return unitOfWork.commit(unit)
      },
    })
    return { calls, service: scene.serviceOver(store) }
  }

  it('answers with how full the window is, and keeps it', async () => {
    const working = await started()
    const { pressure, restart, handoff, session } = unwrap(
      await scene.service.recordTurn({ ...working, ...turnAt(40) }),
    )
    expect(pressure).toMatchObject({ state: 'known', ratio: 0.4, usedTokens: 40_000 })
    expect(pressure).toMatchObject({ window: { tokens: WINDOW, source: 'configured' } })
    expect(restart).toEqual({ isSuggested: false, reasons: ['below_milestone'] })
    expect(handoff).toBeUndefined()
    expect((await kept.session(session.id)).progress.window.usage).toEqual(metered(40))
    expect((await scene.store.monitors.find(session.id))?.reading).toEqual(metered(40))
  })

  it('does not know what it was not told: no reading, or no window', async () => {
    const unread = unwrap(await scene.service.recordTurn({ ...(await started()), messages: scene.turn().messages }))
    expect(unread.pressure).toEqual({ state: 'unknown', why: 'no_reading' })
    const unbounded = await scene.session()
    const { pressure, restart } = unwrap(await scene.service.recordTurn({ ...unbounded, ...turnAt(99) }))
    expect(pressure).toEqual({ state: 'unknown', why: 'no_window' })
    expect(restart.reasons).toEqual(['pressure_unknown'])
  })

  it('takes the window from the runtime, which may be exceeded', async () => {
    const working = await scene.session()
    const window = { hardLimit: { tokens: 200_000, source: 'runtime' as const } }
    const turn = { ...scene.turn(), usage: metered(250), window }
    const { pressure } = unwrap(await scene.service.recordTurn({ ...working, ...turn }))
    expect(pressure).toMatchObject({ ratio: 1.25, window: { tokens: 200_000, source: 'runtime' } })
  })

  it('refuses a sum over requests, and figures that are none', async () => {
    const working = await started()
    const totals: UsageTotals = { inputTokens: 3_200_000, outputTokens: 5_000, requests: 40 }
    // @ts-expect-error a sum is no reading, and does not compile as one
    const summed: UsageReading = totals
    const messages = scene.turn().messages
    const negative = { state: 'metered', promptTokens: -1, outputTokens: 0 } as const
    for (const [usage, field] of [
      [summed, 'usage'],
      [negative, 'usage.promptTokens'],
    ] as const) {
      const refused = refusal(await scene.service.recordTurn({ ...working, messages, usage }))
      expect(refused).toMatchObject({ code: 'input.invalid', fields: [{ field }] })
    }
    expect(await kept.session(working.session.id)).toEqual(working.session)
  })

  it('suggests a restart and leaves it to the caller, unless the policy is auto', async () => {
    for (const policy of ['advise', 'manual'] as const) {
      const working = await started({ policy })
      const { restart, handoff, session } = unwrap(await scene.service.recordTurn({ ...working, ...turnAt(90) }))
      expect(restart.isSuggested).toBe(policy === 'advise')
      expect(handoff).toBeUndefined()
      expect((await kept.session(session.id)).state).toBe('active')
    }
  })

  it.each(['stop', 'carry_on'] as const)(
    'names the limit and the state under auto when no restart is left: %s',
    async (whenExhausted) => {
      const restartBudget = { maxRestarts: 0, whenExhausted }
      const { conversation } = unwrap(await scene.service.openConversation({ originalTask: 'Fix it', restartBudget }))
      const monitor = { policy: 'auto', contextLimit: 100 } as const
      const working = await scene.session(scene.name('claude'), conversation, { monitor })
      const recorded = unwrap(await scene.service.recordTurn({ ...working, ...turnAt(90) }))
      const state = whenExhausted === 'stop' ? 'failed' : 'active'
      expect(recorded.exhausted).toEqual({ limit: 'restarts', state })
      const ended = state === 'failed' ? ['session_ended'] : []
      expect(recorded.restart).toEqual({ isSuggested: false, reasons: [...ended, 'budget_exhausted'] })
      expect((await kept.session(working.session.id)).state).toBe(state)
      const status = unwrap(await scene.context.status(working.session.id))
      expect(status.restart.isSuggested).toBe(state === 'active')
    },
  )

  it('initiates the restart in the commit of the turn that crosses, with its turn and tool calls', async () => {
    const working = await started({ policy: 'auto' })
    const { calls, service } = counted()
    const below = unwrap(await service.recordTurn({ ...working, ...turnAt(80, 'read_file') }))
    const crossed = unwrap(await service.recordTurn({ ...working, ...below, ...turnAt(90, 'edit_file', 'run_tests') }))
    expect(calls).toEqual(['commit', 'load source', 'commit'])
    const handoff = await kept.handoff(crossed.handoff?.id ?? ('' as never))
    expect(handoff).toMatchObject({ kind: 'context_restart', status: 'initiated', priorTurnId: crossed.turns[0]?.id })
    expect(handoff.triggeringToolCalls.map(({ toolName }) => toolName)).toEqual(['edit_file', 'run_tests'])
    expect(handoff.reason).toContain('90 % full: 90k of 100k allowed')
    expect(await kept.session(working.session.id)).toMatchObject({ state: 'paused', heldBy: handoff.id })
    const [snapshot] = (await kept.snapshots(working.session.id)).filter(({ type }) => type === 'handoff_initiated')
    expect(snapshot?.usage).toEqual(metered(90))
    const next = unwrap(await service.completeHandoff({ ...crossed, handoff }))
    expect(next.session).toMatchObject({ agentName: working.session.agentName, epoch: 2, state: 'active' })
  })

  it('finds the tool calls of the exchange where the caller does not hold them, with one read', async () => {
    const working = await started({ policy: 'auto' })
    const { calls, service } = counted()
    const first = unwrap(await service.recordTurn({ ...working, ...turnAt(50, 'read_file') }))
    const second = unwrap(await service.recordTurn({ ...working, ...first, ...goesOn(90, 'run_tests') }))
    expect(calls).toEqual(['commit', 'load source', 'commit'])
    const handoff = await kept.handoff(second.handoff?.id ?? ('' as never))
    expect(handoff.triggeringToolCalls.map(({ toolName }) => toolName)).toEqual(['read_file', 'run_tests'])
  })

  it('leaves the restart to the turn when a sample from outside crosses first', async () => {
    const working = await started({ policy: 'auto' })
    const sample = { type: 'sample' as const, reading: metered(90) }
    const reported = unwrap(await scene.context.report({ session: working.session.id, report: sample }))
    expect(reported.signals.map(({ milestone }) => milestone)).toEqual(['critical'])
    expect((await kept.session(working.session.id)).state).toBe('active')
    // The turn itself says nothing of usage, and the caller holds what was true before the sample.
    const { messages } = scene.turn('read_file')
    const { handoff } = unwrap(await scene.service.recordTurn({ ...working, messages }))
    expect(handoff?.kind).toBe('context_restart')
  })

  it('keeps turn, latch and handoff together or not at all', async () => {
    const working = await started({ policy: 'auto' })
    const faults = new FaultInjector(scene.store)
    const service = scene.serviceOver(faults.store)
    faults.plan('unavailable')
    const id = commandId(scene.ids.next())
    const request = { ...working, ...turnAt(90, 'run_tests'), commandId: id }
    await expect(service.recordTurn(request)).rejects.toThrow()
    expect(await scene.store.monitors.find(working.session.id)).toEqual(working.monitor)
    expect(await kept.handoffs(working.session.conversationId)).toEqual([])
    faults.plan('reply_lost')
    await expect(service.recordTurn(request)).rejects.toThrow()
    const again = unwrap(await service.recordTurn(request))
    const [handoff, ...others] = await kept.handoffs(working.session.conversationId)
    expect(others).toEqual([])
    expect(again).toMatchObject({ handoff: { id: handoff?.id }, pressure: { ratio: 0.9 } })
    const { items } = await scene.store.signals.listFor(working.session.id, {})
    expect(items).not.toEqual([])
    expect(again.signals).toEqual(items)
  })

  it('gives one restart when the crossing turn is recorded twice at once', async () => {
    const working = await started({ policy: 'auto' })
    const request = { ...working, ...turnAt(90, 'run_tests') }
    const results = await Promise.all(Array.from({ length: 4 }, () => scene.service.recordTurn(request)))
    expect(results.filter(({ ok }) => ok)).toHaveLength(1)
    expect(await kept.handoffs(working.session.conversationId)).toHaveLength(1)
  })

  it('leaves a record that verifies', async () => {
    const working = await started({ policy: 'auto' })
    const worked = unwrap(await scene.service.recordTurn({ ...working, ...turnAt(60, 'read_file') }))
    const compaction = { type: 'compaction' as const, trigger: 'auto' as const, preTokens: 61_000 }
    unwrap(await scene.context.report({ session: worked.session.id, report: compaction }))
    unwrap(await scene.service.recordTurn({ ...working, ...worked, ...turnAt(90, 'run_tests') }))
    const audit = new AuditService({ store: scene.store, sha256 })
    expect(unwrap(await audit.verify(working.session.conversationId))).toMatchObject({ intact: true })
    const types = (await kept.audit(working.session.conversationId)).map(({ event }) => event.type)
    expect(types.filter((type) => type.startsWith('context.'))).toEqual([
      'context.milestone_reached',
      'context.compacted',
      'context.milestone_reached',
    ])
  })

  it('remembers a reading that was named, so that asking again is safe', async () => {
    const { session } = await started()
    const id = commandId(scene.ids.next())
    const report = { type: 'sample' as const, reading: metered(40) }
    const outcomes: string[] = []
    for (const reading of [metered(40), metered(40), metered(55), metered(55)]) {
      const request = { session: session.id, report: { ...report, reading }, commandId: id }
      const reported = await scene.context.report(request)
      outcomes.push(reported.ok ? reported.value.outcome : reported.error.code)
    }
    expect(outcomes).toEqual(['ok', 'repeated', 'command.id_reused', 'command.id_reused'])
  })

  it('names tool calls also when the crossing turn begins an exchange without any', async () => {
    const working = await started({ policy: 'auto' })
    const first = unwrap(await scene.service.recordTurn({ ...working, ...turnAt(50, 'read_file') }))
    const { handoff } = unwrap(await scene.service.recordTurn({ ...working, ...first, ...turnAt(90) }))
    const stored = await kept.handoff(handoff?.id ?? ('' as never))
    expect(stored.triggeringToolCalls.map(({ toolName }) => toolName)).toEqual(['read_file'])
  })

  it('restarts at the next turn once "auto" is chosen after the milestone was reached', async () => {
    const working = await started({ policy: 'advise' })
    const reached = unwrap(await scene.service.recordTurn({ ...working, ...turnAt(90, 'read_file') }))
    unwrap(await scene.context.watch({ session: working.session.id, settings: { policy: 'auto' } }))
    const { handoff } = unwrap(await scene.service.recordTurn({ ...working, ...reached, ...turnAt(91, 'run_tests') }))
    expect(handoff?.kind).toBe('context_restart')
  })

  it('does not take a turn from before a compaction for what came after', async () => {
    const working = await started({ policy: 'auto' })
    const time = (second: number) => instant(Date.UTC(2000, 0, 1, 0, 0, second))
    const session = working.session.id
    const compaction = { type: 'compaction' as const, trigger: 'auto' as const, producedAt: time(11) }
    unwrap(await scene.context.report({ session, report: compaction }))
    const late = { ...turnAt(95, 'read_file'), producedAt: time(10) }
    const recorded = unwrap(await scene.service.recordTurn({ ...working, ...late }))
    expect(recorded).toMatchObject({ pressure: { state: 'unknown' } })
    expect(recorded.handoff).toBeUndefined()
    const fresh = { ...turnAt(95, 'read_file'), producedAt: time(12) }
    expect(unwrap(await scene.service.recordTurn({ ...working, ...recorded, ...fresh })).handoff?.status).toBe(
      'initiated',
    )
  })

  it('lets the successor hear what was for the one before it, and not what was said of its window', async () => {
    const parent = await started({ policy: 'auto' })
    const child = await scene.session(scene.name('helper'), undefined, {
      parentSessionId: parent.session.id,
      monitor: { contextLimit: WINDOW },
    })
    unwrap(await scene.context.send({ session: parent.session.id, text: 'The build is red' }))
    const { handoff } = unwrap(await scene.service.recordTurn({ ...parent, ...turnAt(90, 'run_tests') }))
    if (handoff === undefined) throw new Error('No restart was initiated')
    const next = unwrap(await scene.service.completeHandoff({ handoff }))
    const sample = { type: 'sample' as const, reading: metered(70) }
    unwrap(await scene.context.report({ session: child.session.id, report: sample }))
    const heard: (string | undefined)[] = []
    for (;;) {
      const waiting = await scene.context.waiting(next.session.id)
      if (waiting.length === 0) break
      heard.push(...waiting.map(({ kind: what }) => what))
      const ids = waiting.map(({ id }) => id)
      expect(await scene.context.acknowledge(next.session.id, ids)).toBe(ids.length)
    }
    expect(heard).toEqual(['message', 'milestone'])
  })

  it('keeps what was chosen for a window while it was being handed over', async () => {
    const working = await started({ policy: 'auto' })
    const recorded = unwrap(await scene.service.recordTurn({ ...working, ...turnAt(90, 'run_tests') }))
    if (recorded.handoff === undefined) throw new Error('No restart was initiated')
    const accepted = unwrap(await scene.service.acceptHandoff({ handoff: recorded.handoff.id, claimant: 'worker' }))
    const settings = { policy: 'manual' as const, contextLimit: 500_000 }
    unwrap(await scene.context.watch({ session: working.session.id, settings }))
    const next = unwrap(await scene.service.completeHandoff({ ...accepted, claimant: 'worker' }))
    const monitor = await scene.store.monitors.find(next.session.id)
    expect(monitor).toMatchObject({ policy: 'manual', window: { configuredLimit: 500_000 } })
  })

  it('does not hand a window on to another agent that works in another one', async () => {
    const working = await scene.session()
    const window = { hardLimit: { tokens: 1_000_000, source: 'runtime' as const }, autoCompactAt: 900_000 }
    const worked = unwrap(await scene.service.recordTurn({ ...working, ...turnAt(10, 'read_file'), window }))
    const transfer = { targetAgent: scene.name('codex'), reason: 'Another pair of eyes' }
    const { handoff } = unwrap(await scene.service.initiateHandoff({ ...worked, ...transfer }))
    const next = unwrap(await scene.service.completeHandoff({ handoff, backend: 'codex' }))
    expect((await scene.store.monitors.find(next.session.id))?.window).toEqual({})
  })

  it('says nothing of a window whose session has ended', async () => {
    const working = await started()
    unwrap(await scene.service.completeSession(working))
    const sample = { type: 'sample' as const, reading: metered(70) }
    const { outcome } = unwrap(await scene.context.report({ session: working.session.id, report: sample }))
    expect(outcome).toBe('not_registered')
    expect(await scene.context.waiting(working.session.id)).toEqual([])
    const sent = await scene.context.send({ session: working.session.id, text: 'Too late' })
    expect(refusal(sent).code).toBe('session.not_active')
  })

  it('refuses to tell a session nothing', async () => {
    const { session } = await started()
    const refused = refusal(await scene.context.send({ session: session.id, text: ' ' }))
    expect(refused).toEqual({ code: 'input.invalid', fields: [{ field: 'text', problem: 'it is blank' }] })
    expect(await scene.context.waiting(session.id)).toEqual([])
  })

  it('counts what a window held at a turn from the last compaction on', async () => {
    const working = await started()
    const first = unwrap(await scene.service.recordTurn({ ...working, ...turnAt(60, 'read_file') }))
    const report = { type: 'compaction' as const, trigger: 'auto' as const }
    unwrap(await scene.context.report({ session: first.session.id, report }))
    const second = unwrap(await scene.service.recordTurn({ ...working, ...first, ...turnAt(20, 'run_tests') }))
    const [before, after] = [first.turns[0], second.turns[0]]
    if (before === undefined || after === undefined) throw new Error('There are no turns')
    expect((await scene.history.windowAt(before.id))?.visibleToolCalls).toHaveLength(1)
    const window = await scene.history.windowAt(after.id)
    expect(window).toMatchObject({ range: after.range, messages: { user: 1, assistant: 1 } })
    expect(window?.visibleToolCalls.map(({ toolName }) => toolName)).toEqual(['run_tests'])
  })

  it.each<[string, object]>([
    ['a source nobody knows', { window: { hardLimit: { tokens: 5, source: 'sdk' } } }],
    ['a window that is no number', { window: { autoCompactAt: Number.NaN } }],
    ['semantics nobody knows', { usage: { ...metered(5), provenance: { runtime: 'r', source: 's', semantics: 'x' } } }],
    ['a time that is none', { producedAt: 'zzz' }],
    ['null for usage', { usage: null }],
  ])('refuses a turn with %s, and changes nothing', async (_, over) => {
    const working = await started()
    const request = { ...working, ...scene.turn('read_file'), ...over }
    expect(refusal(await scene.service.recordTurn(request as never)).code).toBe('input.invalid')
    expect(await kept.session(working.session.id)).toEqual(working.session)
  })

  it.each<[string, object]>([
    ['a type nobody knows', { type: 'guess' }],
    ['a sum over requests for a reading', { type: 'sample', reading: { inputTokens: 3_200_000, outputTokens: 5 } }],
    ['no reading', { type: 'sample' }],
    ['null for a reading', { type: 'sample', reading: null }],
    ['a trigger nobody knows', { type: 'compaction', trigger: { evil: 1 } }],
    ['a count that is none', { type: 'compaction', trigger: 'auto', preTokens: Number.NaN }],
    ['a time that is none', { type: 'cleared', producedAt: 'yesterday' }],
  ])('refuses a report with %s, and changes nothing', async (_, report) => {
    const working = await started()
    const refused = await scene.context.report({ session: working.session.id, report: report as never })
    expect(refusal(refused).code).toBe('input.invalid')
    expect(await scene.store.monitors.find(working.session.id)).toEqual(working.monitor)
  })

  it('keeps of a report what it knows, and leaves the rest', async () => {
    const working = await started()
    const window = { autoCompactAt: 90_000, model: 'x' }
    const request = { ...working, ...turnAt(40, 'read_file'), window }
    const { session } = unwrap(await scene.service.recordTurn(request))
    expect((await scene.store.monitors.find(session.id))?.window).toEqual({
      configuredLimit: WINDOW,
      autoCompactAt: 90_000,
    })
  })

  it('tells a notifier once the signal is stored, and does not mind if it throws', async () => {
    const seen: string[] = []
    const notify = async ({ id, recipientId, text }: { id: string; recipientId: string; text: string }) => {
      const { items } = await scene.store.signals.listFor(recipientId as never, {})
      seen.push(`${items.some((stored) => stored.id === id)} ${text}`)
      throw new Error('nobody listens')
    }
    const store: Store = scene.store
    const service = new HandoffService({ store, clock: scene.clock, ids: scene.ids, notifier: { notify } })
    unwrap(await service.recordTurn({ ...(await started()), ...turnAt(55) }))
    expect(seen).toEqual([expect.stringContaining('true Your context window is 55 % full')])
  })
})
