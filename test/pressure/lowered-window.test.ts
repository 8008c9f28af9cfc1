import { beforeEach, describe, expect, it } from 'vitest'
import type { SessionStartedAnswer } from '../../src/domain/session/start-session.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import type { MonitorReport } from '../../src/domain/window/monitor-reports.ts'
import { everyPage } from '../../src/entry/index.ts'
import type { WindowEvent } from '../../src/entry/window.ts'
import { RecordedWindow } from '../../src/services/replay/recorded-window.ts'
import { Scene } from '../../src/testing/scene.ts'
import { openStore, RULE_STORES } from '../support/stores.ts'

const metered = (promptTokens: number) => ({ state: 'metered' as const, promptTokens, outputTokens: 0 })
const compaction = (more: object = {}): MonitorReport => ({ type: 'compaction', trigger: 'auto', ...more })

describe.each(RULE_STORES)('a compaction below the usable window, on %s', (kind) => {
  let scene: Scene
  let working: SessionStartedAnswer
  beforeEach(async () => {
    scene = new Scene(await openStore(kind))
    working = await scene.session(scene.name('claude-code'))
  })

  const report = async (given: MonitorReport) =>
    unwrap(await scene.context.report({ session: working.session.id, report: given }))
  const sample = (promptTokens: number, more: object = {}) =>
    report({ type: 'sample', reading: metered(promptTokens), ...more })
  const pressure = async () => unwrap(await scene.context.status(working.session.id)).pressure
  const lowered = async () => {
    const { conversationId } = working.session
    const found: unknown[] = []
    for await (const { event } of everyPage((page) => scene.history.auditTrail(conversationId, page)))
      if (event.type === 'context.compacted') found.push(event.loweredTo)
    return found
  }
  const believed = { hardLimit: { tokens: 1_000_000, source: 'catalogue' as const } }

  it('lowers it to what the runtime counted, for the rest of the session, and the record says so', async () => {
    await sample(174_000, { window: believed })
    await report(compaction({ preTokens: 175_200 }))
    await sample(160_000, { window: believed })
    expect(await pressure()).toMatchObject({
      ratio: 160_000 / 175_200,
      window: { tokens: 175_200, source: 'observed' },
    })
    // What the runtime says later of its window does not raise it again.
    await sample(160_000, { window: { hardLimit: { tokens: 1_000_000, source: 'runtime' }, autoCompactAt: 967_000 } })
    expect(await pressure()).toMatchObject({ window: { tokens: 175_200, source: 'observed' } })
    expect(await lowered()).toEqual([175_200])
  })

  it('makes a window known that nobody knew', async () => {
    await sample(174_000)
    await report(compaction({ preTokens: 100_000 }))
    await sample(50_000)
    expect(await pressure()).toMatchObject({ ratio: 0.5, window: { tokens: 100_000, source: 'observed' } })
  })

  it('lowers it again when it comes sooner still, and never raises it', async () => {
    await sample(174_000, { window: believed })
    await report(compaction({ preTokens: 174_000 }))
    await sample(150_000)
    await report(compaction({ preTokens: 150_000 }))
    await sample(10_000)
    await report(compaction({ preTokens: 170_000 }))
    await sample(75_000)
    expect(await pressure()).toMatchObject({ ratio: 0.5 })
    expect(await lowered()).toEqual([174_000, 150_000, undefined])
  })

  it.each([
    ['that was asked for', { trigger: 'manual', preTokens: 30_000 }],
    ['of which nobody says why', { trigger: 'unknown', preTokens: 30_000 }],
    ['where it was to be expected', { preTokens: 1_000_001 }],
    ['that counts nothing', { preTokens: 0 }],
    ['of which nobody says where: the last reading may be much older', {}],
  ])('lowers nothing when it is one %s', async (_, more) => {
    await sample(20_000, { window: believed })
    await report(compaction(more))
    await sample(500_000)
    expect(await pressure()).toMatchObject({ ratio: 0.5, window: believed.hardLimit })
    expect(await lowered()).toEqual([undefined])
  })

  it('does not lower the window of the next session', async () => {
    await sample(174_000, { window: believed })
    await report(compaction({ preTokens: 174_000 }))
    const turned = unwrap(await scene.service.recordTurn({ ...working, ...scene.turn('read_file') }))
    const { handoff } = unwrap(await scene.service.restartSession({ ...working, ...turned, reason: 'Full' }))
    if (handoff === undefined) throw new Error('no restart was begun')
    unwrap(await scene.service.acceptHandoff({ handoff, claimant: 'w' }))
    const done = unwrap(await scene.service.completeHandoff({ handoff, claimant: 'w', backend: 'scripted' }))
    expect((await scene.store.monitors.find(done.session.id))?.window).toEqual(believed)
  })
})

describe.each(RULE_STORES)('a window that holds more than was believed, on %s', (kind) => {
  it('stays that large when the belief is told again, until the runtime says its size', async () => {
    const scene = new Scene(await openStore(kind))
    const { session } = await scene.session(scene.name('claude-code'))
    const sized = async (promptTokens: number, tokens: number, source: 'catalogue' | 'runtime') => {
      const window = { hardLimit: { tokens, source } }
      unwrap(
        await scene.context.report({
          session: session.id,
          report: { type: 'sample', reading: metered(promptTokens), window },
        }),
      )
      const { pressure } = unwrap(await scene.context.status(session.id))
      return pressure.state === 'known' ? pressure.window : undefined
    }
    expect(await sized(288_000, 200_000, 'catalogue')).toEqual({ tokens: 288_000, source: 'observed' })
    expect(await sized(150_000, 200_000, 'catalogue')).toEqual({ tokens: 288_000, source: 'observed' })
    expect(await sized(150_000, 1_000_000, 'catalogue')).toEqual({ tokens: 1_000_000, source: 'catalogue' })
    expect(await sized(150_000, 200_000, 'runtime')).toEqual({ tokens: 200_000, source: 'runtime' })
  })
})

describe('a replay that sees a compaction below the usable window', () => {
  const told = (...events: readonly WindowEvent[]) => {
    const window = new RecordedWindow({
      milestones: [{ name: 'restart', at: 0.8 }],
      believed: () => ({ tokens: 1_000_000, source: 'catalogue' }),
    })
    for (const event of events) window.take([event])
    return window
  }
  const request = (key: string, promptTokens: number): WindowEvent => ({
    ...{ type: 'request', key, promptTokens, outputTokens: 0, model: 'm' },
  })

  it('signals by the window that is left', () => {
    const compacted: WindowEvent = { type: 'compaction', trigger: 'auto', preTokens: 175_000 }
    const window = told(request('1', 174_000), compacted, request('2', 30_000), request('3', 150_000))
    expect(window.result()).toMatchObject({ window: { tokens: 175_000, source: 'observed' } })
    expect(window.result().signals).toMatchObject([{ milestone: 'restart', turn: 3 }])
    // The report of the compaction tells the monitor, which logs it: a turn that tells it first would hide it.
    expect(window.gauge.windowParts()).toEqual({ hardLimit: { tokens: 1_000_000, source: 'catalogue' } })
  })

  it('leaves out what the runtime keeps free, where it does not say at which point it compacts', () => {
    const reserve: WindowEvent = { type: 'auto_compact_reserve', tokens: 33_000 }
    expect(told(reserve, request('1', 10_000)).gauge.windowParts()).toMatchObject({ autoCompactAt: 967_000 })
    const said: WindowEvent = { type: 'auto_compact_at', tokens: 900_000 }
    expect(told(reserve, said, request('1', 10_000)).gauge.windowParts()).toMatchObject({ autoCompactAt: 900_000 })
    const small: WindowEvent = { type: 'window', tokens: 20_000 }
    expect(told(reserve, small, request('1', 10_000)).gauge.windowParts()).not.toHaveProperty('autoCompactAt')
  })
})
