import { describe, expect, it } from 'vitest'
import { RecentKeys } from '../../src/domain/kernel/recent-keys.ts'
import { type WindowEvent, WindowTracker } from '../../src/index.ts'

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

const told = (...events: readonly WindowEvent[]): WindowTracker => {
  const tracker = new WindowTracker({ milestones: [{ name: 'warning', at: 0.5 }] })
  tracker.take({ type: 'window', tokens: 1_000 })
  for (const event of events) tracker.take(event)
  return tracker
}

describe('text that no usage counts yet', () => {
  it('is counted by its characters, four to a token, and once', () => {
    const tracker = told(request('1', 100), appended(9, 'a'), appended(9, 'a'), appended(3))
    expect(tracker.reading()).toEqual({ state: 'metered', promptTokens: 100, outputTokens: 0, pendingTokens: 3 })
  })

  it('is in the next request', () => {
    expect(told(request('1', 100), appended(400), request('2', 250)).reading()).not.toHaveProperty('pendingTokens')
    const repeated = told(request('1', 100), appended(400), request('1', 100))
    expect(repeated.reading()).toMatchObject({ pendingTokens: 100 })
  })

  it('is still due after a request that is reported late', () => {
    const late = told(appended(400), request('1', 100, { isLate: true }), appended(40))
    expect(late.reading()).toMatchObject({ promptTokens: 100, pendingTokens: 110 })
    late.take(request('2', 200, { isLate: true }))
    expect(late.reading()).toMatchObject({ promptTokens: 200, pendingTokens: 10 })
  })

  it('signals before the next request does', () => {
    const tracker = told(request('1', 450), appended(200))
    expect(tracker.history().signals).toMatchObject([{ turn: 1, pressure: 0.5, context: 450 }])
  })

  it('is gone with a compaction', () => {
    const tracker = told(request('1', 100), { type: 'compaction', trigger: 'auto' }, appended(4_000))
    expect(tracker.reading()).toEqual({ state: 'unknown' })
    expect(tracker.history().signals).toEqual([])
  })
})

describe('final counters', () => {
  it('belong to the current request, and to none where there is none', () => {
    const answered: WindowEvent = { type: 'answered', outputTokens: 450, promptTokens: 90 }
    expect(told(answered).reading()).toEqual({ state: 'unknown' })
    expect(told({ type: 'estimate', tokens: 5 }, answered).reading()).toMatchObject({ promptTokens: 5 })
    const tracker = told(request('1', 100), answered)
    expect(tracker.reading()).toMatchObject({ promptTokens: 90, outputTokens: 450 })
    expect(tracker.history()).toMatchObject({ turns: 1, signals: [{ pressure: 0.54 }] })
  })
})

describe('an answer that is still counted as 1', () => {
  const text = (characters: number, of = '1', key?: string): WindowEvent => ({
    ...{ type: 'answer_text', request: of, characters },
    ...(key && { key }),
  })

  it('has at least its length, four characters to a token, and each block once', () => {
    const tracker = told(request('1', 100, { outputTokens: 1 }), text(400, '1', 'a'), text(400, '1', 'a'), text(240))
    expect(tracker.reading()).toMatchObject({ promptTokens: 100, outputTokens: 160 })
    expect(told(request('1', 100), text(1_600)).history().signals).toMatchObject([{ pressure: 0.5 }])
  })

  it('has its final count once that comes, be it smaller', () => {
    const tracker = told(request('1', 100, { outputTokens: 1 }), text(400), { type: 'answered', outputTokens: 90 })
    expect(tracker.reading()).toMatchObject({ outputTokens: 90 })
    expect(told(request('1', 100, { outputTokens: 90, isComplete: true }), text(400)).reading()).toMatchObject({
      outputTokens: 90,
    })
  })

  it('has its own length only', () => {
    const tracker = told(request('1', 100), text(400), request('2', 200), text(400), text(40, '2'))
    expect(tracker.reading()).toMatchObject({ promptTokens: 200, outputTokens: 10 })
    expect(told(text(400)).reading()).toEqual({ state: 'unknown' })
  })

  it('says of itself whether it is a lower bound', () => {
    const tracker = new WindowTracker({ milestones: [], runtime: 'r' })
    const semantics = () => (tracker.reading() as { provenance?: { semantics: string } }).provenance?.semantics
    for (const event of [request('1', 100, { outputTokens: 1 }), text(400)]) tracker.take(event)
    expect(semantics()).toBe('lower_bound')
    tracker.take({ type: 'answered', outputTokens: 101 })
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
