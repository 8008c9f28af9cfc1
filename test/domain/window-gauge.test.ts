import { describe, expect, it } from 'vitest'
import { RecentKeys } from '../../src/domain/kernel/recent-keys.ts'
import { DEFAULT_MILESTONES } from '../../src/entry/index.ts'
import { type WindowEvent, WindowGauge } from '../../src/entry/window.ts'
import { RecordedWindow } from '../../src/services/replay/recorded-window.ts'

const request = (key: string, promptTokens: number, more: object = {}): WindowEvent => ({
  type: 'request',
  key,
  promptTokens,
  outputTokens: 0,
  ...more,
})
const appended = (characters: number, key?: string): WindowEvent => ({
  type: 'appended',
  characters,
  ...(key && { key }),
})

const WINDOW: WindowEvent = { type: 'window', tokens: 1_000 }

const told = (...events: readonly WindowEvent[]): WindowGauge => {
  const gauge = new WindowGauge()
  gauge.take([WINDOW, ...events])
  return gauge
}

/** The signals of a window with a milestone at its half. */
const signalled = (...events: readonly WindowEvent[]) => {
  const window = new RecordedWindow({ milestones: [{ name: 'warning', at: 0.5 }] })
  for (const event of [WINDOW, ...events]) window.take([event])
  return window.result().signals
}

describe('text that no usage counts yet', () => {
  it('is counted by its characters, four to a token, and once', () => {
    const gauge = told(request('1', 100), appended(9, 'a'), appended(9, 'a'), appended(3))
    expect(gauge.reading()).toEqual({ state: 'metered', promptTokens: 100, outputTokens: 0, pendingTokens: 3 })
  })

  it('is in the next request', () => {
    expect(told(request('1', 100), appended(400), request('2', 250)).reading()).not.toHaveProperty('pendingTokens')
    const repeated = told(request('1', 100), appended(400), request('1', 100))
    expect(repeated.reading()).toMatchObject({ pendingTokens: 100 })
  })

  it('is still due after a request that is reported late', () => {
    const late = told(appended(400), request('1', 100, { isLate: true }), appended(40))
    expect(late.reading()).toMatchObject({ promptTokens: 100, pendingTokens: 110 })
    late.take([request('2', 200, { isLate: true })])
    expect(late.reading()).toMatchObject({ promptTokens: 200, pendingTokens: 10 })
  })

  it('signals before the next request does', () => {
    const signals = signalled(request('1', 450), appended(200))
    expect(signals).toMatchObject([{ turn: 1, pressure: 0.5, context: 450 }])
  })

  it('is gone with a compaction', () => {
    const events: readonly WindowEvent[] = [request('1', 100), { type: 'compaction', trigger: 'auto' }, appended(4_000)]
    expect(told(...events).reading()).toEqual({ state: 'unknown' })
    expect(signalled(...events)).toEqual([])
  })
})

describe('final counters', () => {
  it('belong to the current request, and to none where there is none', () => {
    const answered: WindowEvent = { type: 'answered', outputTokens: 450, promptTokens: 90 }
    expect(told(answered).reading()).toEqual({ state: 'unknown' })
    expect(told({ type: 'estimate', tokens: 5 }, answered).reading()).toMatchObject({ promptTokens: 5 })
    const gauge = told(request('1', 100), answered)
    expect(gauge.reading()).toMatchObject({ promptTokens: 90, outputTokens: 450 })
    expect(gauge.history()).toMatchObject({ turns: 1 })
    expect(signalled(request('1', 100), answered)).toMatchObject([{ pressure: 0.54 }])
  })
})

describe('an answer that is still counted as 1', () => {
  const text = (characters: number, of = '1', key?: string): WindowEvent => ({
    ...{ type: 'answer_text', request: of, characters },
    ...(key && { key }),
  })

  it('has at least its length, four characters to a token, and each block once', () => {
    const gauge = told(request('1', 100, { outputTokens: 1 }), text(400, '1', 'a'), text(400, '1', 'a'), text(240))
    expect(gauge.reading()).toMatchObject({ promptTokens: 100, outputTokens: 160 })
    expect(signalled(request('1', 100), text(1_600))).toMatchObject([{ pressure: 0.5 }])
  })

  it('has its final count once that comes, be it smaller', () => {
    const gauge = told(request('1', 100, { outputTokens: 1 }), text(400), { type: 'answered', outputTokens: 90 })
    expect(gauge.reading()).toMatchObject({ outputTokens: 90 })
    expect(told(request('1', 100, { outputTokens: 90, isComplete: true }), text(400)).reading()).toMatchObject({
      outputTokens: 90,
    })
  })

  it('has its own length only', () => {
    const gauge = told(request('1', 100), text(400), request('2', 200), text(400), text(40, '2'))
    expect(gauge.reading()).toMatchObject({ promptTokens: 200, outputTokens: 10 })
    expect(told(text(400)).reading()).toEqual({ state: 'unknown' })
  })

  it('says of itself whether it is a lower bound', () => {
    const gauge = new WindowGauge({ runtime: 'r' })
    const semantics = () => (gauge.reading() as { provenance?: { semantics: string } }).provenance?.semantics
    gauge.take([request('1', 100, { outputTokens: 1 }), text(400)])
    expect(semantics()).toBe('lower_bound')
    gauge.take([{ type: 'answered', outputTokens: 101 }])
    expect(semantics()).toBe('exact')
  })
})

describe('keys', () => {
  it('are remembered for as many as wanted, and not for ever', () => {
    const keys = new RecentKeys(3)
    expect(['a', 'b', 'c', 'd'].map((key) => keys.add(key))).toEqual([true, true, true, true])
    expect(keys.add('a')).toBe(false)
    for (const key of ['e', 'f', 'g', 'h', 'i', 'j']) keys.add(key)
    expect(['b', 'h', 'j'].map((key) => keys.has(key))).toEqual([false, true, true])
  })
})

describe('the reports of a gauge', () => {
  const compaction = (key?: string, thread?: string): WindowEvent => ({
    ...{ type: 'compaction', trigger: 'auto', preTokens: 900 },
    ...(key && { key }),
    ...(thread && { thread }),
  })
  const types = (...events: readonly WindowEvent[]) => new WindowGauge().take(events).reports.map(({ type }) => type)

  it('are a sample for each reading, with what is known of the window', () => {
    const { reports, isNewTurn } = new WindowGauge().take([WINDOW, request('1', 100)])
    expect(isNewTurn).toBe(true)
    expect(reports).toEqual([
      {
        type: 'sample',
        reading: { state: 'metered', promptTokens: 100, outputTokens: 0 },
        window: { hardLimit: { tokens: 1_000, source: 'runtime' } },
      },
    ])
  })

  it('are one for a compaction, however often it is told, until something is read', () => {
    expect(types(request('1', 100), compaction('a'), compaction('a'), compaction('b'))).toEqual([
      'sample',
      'compaction',
    ])
    expect(types(compaction('a'), request('1', 9), compaction('a'))).toEqual(['compaction', 'sample'])
    expect(types(compaction('a'), request('1', 9), compaction('b'))).toEqual(['compaction', 'sample', 'compaction'])
    expect(types(compaction('a'), { type: 'percentage', usedPercent: 9 }, compaction('b'))).toEqual([
      'compaction',
      'sample',
      'compaction',
    ])
    expect(types(compaction('a'), { type: 'estimate', tokens: 9 }, compaction('b'))).toEqual(['compaction'])
  })

  it('say nothing of a subagent, whose events are left out', () => {
    const own = request('1', 100, { thread: 'root' })
    const gauged = new WindowGauge().take([
      { type: 'thread', thread: 'root' },
      own,
      request('2', 900, { thread: 'child' }),
      { type: 'tool_call', callId: 'c', toolName: 'read', thread: 'child' },
      compaction('a', 'child'),
    ])
    expect(gauged.events).toEqual([{ type: 'thread', thread: 'root' }, own])
    expect(gauged.reports.map(({ type }) => type)).toEqual(['sample'])
  })

  it('say nothing of what only adds up, and of text while the runtime compacts', () => {
    expect(types({ type: 'unmetered' }, { type: 'tool_call', toolName: 'read' }, WINDOW)).toEqual([])
    expect(types(request('1', 9), { type: 'compacting' }, appended(400))).toEqual(['sample', 'compacting'])
    expect(types(request('1', 9), { type: 'unknown' }, { type: 'cleared' })).toEqual(['sample', 'sample', 'cleared'])
  })
})

describe('a replay signals as a session does', () => {
  it('also of a percentage, which counts no tokens', () => {
    expect(signalled({ type: 'percentage', usedPercent: 60 })).toEqual([
      { milestone: 'warning', at: 0.5, turn: 0, pressure: 0.6 },
    ])
  })

  it('and counts every threshold that a jump passes, once in each cycle', () => {
    const window = new RecordedWindow({ milestones: DEFAULT_MILESTONES, thresholds: [0.4, 0.6, 0.8] })
    const full: WindowEvent = { type: 'compaction', trigger: 'manual' }
    for (const event of [WINDOW, request('1', 450), request('2', 700), request('3', 300), full, request('4', 650)])
      window.take([event])
    expect(window.result().thresholds).toEqual([
      { at: 0.4, times: 2, firstTurn: 1 },
      { at: 0.6, times: 2, firstTurn: 2 },
      { at: 0.8, times: 0 },
    ])
  })
})
