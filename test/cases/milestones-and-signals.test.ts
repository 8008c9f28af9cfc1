import { beforeEach, describe, expect, it } from 'vitest'
import { commandId } from '../../src/domain/kernel/ids.ts'
import { type Instant, instant } from '../../src/domain/kernel/instant.ts'
import type { Refusal } from '../../src/domain/refusal.ts'
import type { SessionStartedAnswer } from '../../src/domain/session/start-session.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import type { MonitorSettings } from '../../src/domain/window/context-monitor.ts'
import type { WindowParts } from '../../src/domain/window/context-pressure.ts'
import type { Milestone } from '../../src/domain/window/milestone.ts'
import type { MonitorReport, ReportOutcome } from '../../src/domain/window/monitor-reports.ts'
import { refusal } from '../../src/testing/expected-refusal.ts'
import { Scene } from '../../src/testing/scene.ts'
import { openStore, RULE_STORES } from '../support/stores.ts'
import { ReadBack } from './read-back.ts'

const WINDOW: WindowParts = { hardLimit: { tokens: 100_000, source: 'runtime' } }
const HALF_AND_TWO_THIRDS: readonly Milestone[] = [
  { name: 'warning', at: 0.5 },
  { name: 'critical', at: 0.65 },
]

/** A second of some producer's own clock, which has nothing to do with ours. */
const second = (count: number): Instant => instant(Date.UTC(2000, 0, 1, 0, 0, count))

const metered = (percent: number) => ({
  state: 'metered' as const,
  promptTokens: percent * 1_000,
  outputTokens: 0,
})

/** The fields that a refusal names. */
const fieldsOf = (refused: Refusal) => refused.code === 'input.invalid' && refused.fields.map(({ field }) => field)

describe.each(RULE_STORES)('milestones and signals on %s', (kind) => {
  let scene: Scene
  let kept: ReadBack
  let working: SessionStartedAnswer
  beforeEach(async () => {
    scene = new Scene(await openStore(kind))
    kept = new ReadBack(scene.store)
    working = await started({ milestones: HALF_AND_TWO_THIRDS })
  })

  const started = (monitor: MonitorSettings = {}, more: object = {}): Promise<SessionStartedAnswer> =>
    scene.session(scene.name('claude-code'), undefined, { monitor, ...more })

  /** Another process: nothing in common with the first but the store. */
  const afterRestart = () => scene.contextOver(scene.store)

  const report = async (said: MonitorReport, of = working, by = scene.context) =>
    unwrap(await by.report({ session: of.session.id, report: said }))

  const sample = (percent: number, producedAt?: Instant, of = working) =>
    report({ type: 'sample', reading: metered(percent), window: WINDOW, ...(producedAt && { producedAt }) }, of)

  const compaction = (producedAt?: Instant, of = working) =>
    report({ type: 'compaction', trigger: 'auto', ...(producedAt && { producedAt }) }, of)

  /** Which milestones were ever signalled to a session, by what is stored. */
  const signalled = async (of = working): Promise<readonly (string | undefined)[]> => {
    const { items } = await scene.store.signals.listFor(of.session.id, {})
    return items.filter(({ kind: about }) => about === 'milestone').map(({ milestone }) => milestone)
  }

  const eventsOf = async (of: SessionStartedAnswer) =>
    (await kept.audit(of.session.conversationId)).map(({ event }) => event)

  /** The milestones in the log, which are the record. */
  const logged = async (of = working): Promise<readonly string[]> => {
    const events = await eventsOf(of)
    return events.flatMap((event) => (event.type === 'context.milestone_reached' ? [event.milestone.name] : []))
  }

  const stored = async (of = working) => {
    const monitor = await scene.store.monitors.find(of.session.id)
    if (monitor === undefined) throw new Error('There is no monitor')
    return monitor
  }

  it.each([
    { samples: [49], signals: [] },
    { samples: [50], signals: ['warning'] },
    { samples: [50, 55], signals: ['warning'] },
    { samples: [65], signals: ['critical'] },
    { samples: [50, 65], signals: ['warning', 'critical'] },
    { samples: [65, 55, 50], signals: ['critical'] },
  ])('milestones at half and two thirds, $samples % gives $signals', async ({ samples, signals }) => {
    for (const percent of samples) await sample(percent)
    expect(await signalled()).toEqual(signals)
    expect(await logged()).toEqual(signals)
  })

  it('a jump reports where it stands, and spends what it passed', async () => {
    const milestones = [0.1, 0.2, 0.3].map((at) => ({ name: `at ${at}`, at }))
    const fine = await started({ milestones })
    const said: string[] = []
    for (const percent of [9, 10, 25, 25, 30]) {
      said.push((await sample(percent, undefined, fine)).signals.map(({ text }) => text).join())
    }
    expect(said.map((text) => text.match(/is ([\d.]+) %/)?.[1])).toEqual([undefined, '10', '25', undefined, '30'])
    expect(await signalled(fine)).toEqual(['at 0.1', 'at 0.2', 'at 0.3'])
  })

  it.each<[string, unknown, string]>([
    ['none', [], 'milestones'],
    ['not increasing', [0.5, 0.5], 'milestones'],
    ['zero', [0, 0.5], 'milestones'],
    ['above one', [0.5, 1.01], 'milestones[1].at'],
    ['not finite', [Number.NaN], 'milestones[0].at'],
    ['a boolean', [true], 'milestones[0].at'],
    ['higher than the restart', [0.5, 0.6, 0.7, 0.8], 'milestones'],
  ])('milestones that are %s are refused, and nothing changes', async (_, fractions, field) => {
    const before = await stored()
    const name = (index: number) => (index === 2 ? 'restart' : 'warning')
    const milestones = (fractions as readonly number[]).map((at, index) => ({ name: name(index), at }))
    const refused = refusal(await scene.context.watch({ session: working.session.id, settings: { milestones } }))
    expect(fieldsOf(refused)).toEqual([`settings.${field}`])
    const { conversationId } = working.session
    const start = { conversationId, agentName: 'other', backend: 'scripted', monitor: { milestones } }
    expect(fieldsOf(refusal(await scene.service.startSession(start)))).toEqual([`monitor.${field}`])
    expect(await stored()).toEqual(before)
  })

  it.each([
    [null, 'milestones'],
    ['half', 'milestones'],
    [[null], 'milestones[0]'],
    [[0.5], 'milestones[0]'],
  ] as const)('%j for milestones is refused, and nothing changes', async (given, field) => {
    const before = await stored()
    const settings = { milestones: given as never }
    const refused = refusal(await scene.context.watch({ session: working.session.id, settings }))
    expect(fieldsOf(refused)).toEqual([`settings.${field}`])
    expect(await stored()).toEqual(before)
  })

  it('milestones found damaged in storage are said to be, and never signal', async () => {
    const before = await stored()
    const milestones = [{ name: 'warning', at: 'half' as unknown as number }]
    const damaged = { ...before, version: before.version + 1, milestones }
    const command = { id: commandId(scene.ids.next()), payload: '"by hand"' }
    const change = { type: 'move_monitor' as const, monitor: damaged, expected: before.version }
    await scene.store.unitOfWork.commit({ command, changes: [change], events: [], isRemembered: false })
    const { outcome, signals } = await sample(99)
    expect({ outcome, signals }).toEqual({ outcome: 'ok', signals: [] })
    const status = unwrap(await afterRestart().status(working.session.id))
    expect(status.milestoneProblem).toContain('not a fraction')
    expect(status.restart).toEqual({ isSuggested: false, reasons: ['milestones_invalid'] })
    expect(await signalled()).toEqual([])
  })

  it('a compaction arms anew though the next reading is high; a low reading does not', async () => {
    await sample(55)
    await sample(10)
    await sample(0)
    await sample(55)
    expect(await logged()).toEqual(['warning'])
    await compaction()
    await sample(55)
    expect(await logged()).toEqual(['warning', 'warning'])
  })

  it('a clear, enabling, and other milestones arm anew; the last withdraw what is queued', async () => {
    const settings = async (given: MonitorSettings) =>
      unwrap(await scene.context.watch({ session: working.session.id, settings: given }))
    await sample(55)
    await report({ type: 'cleared' })
    await sample(55)
    expect(await logged()).toHaveLength(2)
    await settings({ isEnabled: false })
    await settings({ isEnabled: true })
    await sample(55)
    expect(await logged()).toHaveLength(3)
    const { items: before } = await scene.store.signals.listFor(working.session.id, {})
    expect(before.at(-1)?.status).toBe('queued')
    await settings({ milestones: [{ name: 'warning', at: 0.4 }] })
    const { items } = await scene.store.signals.listFor(working.session.id, {})
    expect(items.map(({ status }) => status)).toEqual(['withdrawn', 'withdrawn', 'withdrawn'])
    await sample(45)
    expect(await logged()).toHaveLength(4)
    // The same milestones again are no change.
    await settings({ milestones: [{ name: 'warning', at: 0.4 }] })
    await sample(46)
    expect(await logged()).toHaveLength(4)
  })

  it('a new session begins anew, with the choices of the one before', async () => {
    const auto = await started({ policy: 'auto', contextLimit: 100_000 })
    const turn = { ...scene.turn('read_file'), usage: metered(90) }
    const { handoff } = unwrap(await scene.service.recordTurn({ ...auto, ...turn }))
    if (handoff === undefined) throw new Error('No restart was initiated')
    const next = unwrap(await scene.service.completeHandoff({ handoff }))
    expect(await stored(next)).toMatchObject({ policy: 'auto', latchedAt: 0, cycle: 1, reading: { state: 'unknown' } })
    expect((await stored(next)).window.configuredLimit).toBe(100_000)
    await sample(55, undefined, next)
    expect(await signalled(next)).toEqual(['warning'])
  })

  it.each(['cancel', 'fail'] as const)('a restart that is ended by %s may be signalled again', async (end) => {
    const auto = await started({ policy: 'auto', contextLimit: 100_000 })
    const turn = () => ({ ...scene.turn('read_file'), usage: metered(90) })
    const recorded = unwrap(await scene.service.recordTurn({ ...auto, ...turn() }))
    if (recorded.handoff === undefined) throw new Error('No restart was initiated')
    const request = { handoff: recorded.handoff, reason: 'The checkpoint failed' }
    const ended = await (end === 'cancel' ? scene.service.cancelHandoff(request) : scene.service.failHandoff(request))
    const { session } = unwrap(ended)
    const again = unwrap(await scene.service.recordTurn({ session, holder: auto.holder, ...turn() }))
    expect(again.handoff?.status).toBe('initiated')
    expect(again.handoff?.id).not.toBe(recorded.handoff.id)
    expect(await logged(auto)).toEqual(['restart', 'restart'])
  })

  it('while it is off, readings are kept and nothing is said; a compaction still is, to the parent', async () => {
    const child = await started({ isEnabled: false }, { parentSessionId: working.session.id })
    const { outcome, signals } = await sample(99, undefined, child)
    expect({ outcome, signals }).toEqual({ outcome: 'not_registered', signals: [] })
    const status = unwrap(await scene.context.status(child.session.id))
    expect(status.pressure).toMatchObject({ state: 'known', ratio: 0.99 })
    expect(status.restart.reasons).toEqual(['monitor_disabled'])
    expect(await signalled(child)).toEqual([])
    await compaction(undefined, child)
    expect((await eventsOf(child)).map(({ type }) => type)).toContain('context.compacted')
    expect(await scene.context.waiting(working.session.id)).toMatchObject([{ kind: 'compaction' }])
  })

  it('a restarted process does not say it again, and of two processes one does', async () => {
    await sample(50)
    const reading = { type: 'sample' as const, reading: metered(53), window: WINDOW }
    const again = await report(reading, working, afterRestart())
    expect(again.signals).toEqual([])
    const other = await started({ milestones: HALF_AND_TWO_THIRDS })
    await Promise.all(Array.from({ length: 8 }, () => report(reading, other, afterRestart())))
    expect(await signalled(other)).toEqual(['warning'])
    expect(await logged(other)).toEqual(['warning'])
  })

  it('what is older than the last reset or sample is dropped, by the producer’s own clock', async () => {
    await sample(20, second(9))
    expect((await compaction(second(11))).outcome).toBe('compaction_logged')
    const outcomes: ReportOutcome[] = []
    for (const at of [10, 12, 11]) outcomes.push((await sample(60, second(at))).outcome)
    expect(outcomes).toEqual(['stale_sample', 'ok', 'stale_sample'])
    expect(await stored()).toMatchObject({ boundaryAt: second(11), sampledAt: second(12) })
    expect((await sample(70)).outcome).toBe('ok')
    expect(await logged()).toEqual(['warning', 'critical'])
  })

  it('while the runtime is compacting nothing is said, until something is read again', async () => {
    await sample(40)
    await report({ type: 'compacting' })
    const lower = [{ name: 'warning', at: 0.3 }]
    unwrap(await scene.context.watch({ session: working.session.id, settings: { milestones: lower } }))
    const turn = unwrap(await scene.service.recordTurn({ ...working, messages: [{ role: 'assistant', text: 'Hm' }] }))
    expect(turn.restart.reasons).toContain('compacting')
    expect(await signalled()).toEqual([])
    expect(await stored()).toMatchObject({ isCompacting: true })
    await sample(55)
    expect(await stored()).toMatchObject({ isCompacting: false })
    expect(await signalled()).toEqual(['warning'])
  })

  it('one compaction, however often it is reported', async () => {
    const turn = { ...scene.turn('read_file'), usage: metered(60), window: WINDOW }
    const worked = unwrap(await scene.service.recordTurn({ ...working, ...turn }))
    const outcomes: ReportOutcome[] = []
    for (let time = 0; time < 4; time += 1) outcomes.push((await compaction()).outcome)
    expect(outcomes).toEqual(['compaction_logged', 'repeated', 'repeated', 'repeated'])
    const types = (await eventsOf(working)).map(({ type }) => type)
    expect(types.filter((type) => type === 'context.compacted')).toHaveLength(1)
    const { items } = await scene.store.snapshots.listForSession(working.session.id, {})
    const truncations = items.filter(({ type }) => type === 'truncation')
    expect(truncations).toMatchObject([{ messages: worked.session.progress.window.messages, usage: metered(60) }])
    const after = await scene.store.sessions.find(working.session.id)
    expect(after?.progress.window).toEqual({
      messages: { user: 0, assistant: 0, tool: 0, system: 0 },
      usage: { state: 'unknown' },
    })
    // Reported again under its own name, also after the next reading.
    const named = { type: 'compaction' as const, trigger: 'auto' as const, key: 'uuid-7' }
    await sample(10)
    expect((await report(named)).outcome).toBe('compaction_logged')
    await sample(10)
    expect((await report(named)).outcome).toBe('repeated')
    // The session goes on, also for whoever still holds what it was before.
    const next = unwrap(await scene.service.recordTurn({ ...working, ...worked, ...scene.turn('run_tests') }))
    expect(next.session.progress.window.messages).toMatchObject({ user: 1, assistant: 1 })
  })

  it('a session and its parent are told; the parent is told of whom, and not what to do', async () => {
    const child = await started({}, { parentSessionId: working.session.id })
    await sample(70, undefined, child)
    const [own] = await scene.context.waiting(child.session.id)
    const [parents] = await scene.context.waiting(working.session.id)
    expect(own?.text).toContain('Finish the step you are on')
    expect(parents).toMatchObject({ kind: 'milestone', milestone: 'critical', aboutId: child.session.id })
    expect(parents?.text).toBe(
      `The context window of agent "${child.session.agentName}" (session ${child.session.id}) ` +
        'is 70 % full: 70k of 100k.',
    )
  })

  it('withdrawing leaves other messages, other sessions and what was delivered alone', async () => {
    const child = await started({}, { parentSessionId: working.session.id })
    await sample(55, undefined, child)
    await sample(55)
    const { items: queued } = await scene.store.signals.listFor(working.session.id, {})
    const own = queued.filter(({ aboutId }) => aboutId === working.session.id).map(({ id }) => id)
    expect(await scene.context.acknowledge(working.session.id, own)).toBe(1)
    await scene.context.send({ session: working.session.id, text: 'The build is red' })
    await sample(70)
    const session = working.session.id
    unwrap(await scene.context.watch({ session, settings: { milestones: [{ name: 'restart', at: 0.9 }] } }))
    const { items } = await scene.store.signals.listFor(session, {})
    const about = items.map(({ kind: what, aboutId, status }) => [what, aboutId === session, status].join())
    expect(about.toSorted()).toEqual(
      [
        'milestone,false,queued',
        'message,true,queued',
        'milestone,true,delivered',
        'milestone,true,withdrawn',
      ].toSorted(),
    )
    expect(await scene.context.waiting(child.session.id)).toMatchObject([{ status: 'queued' }])
  })
})
