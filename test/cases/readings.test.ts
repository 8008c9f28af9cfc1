import { describe, expect, it } from 'vitest'
import { agentSdkReader, statusLineReader, transcriptReader } from '../../src/entry/claude.ts'
import { execReader, rolloutReader } from '../../src/entry/codex.ts'
import { type WindowEvent, WindowGauge, type WindowReader } from '../../src/entry/window.ts'
import { RecordedWindow, type RecordedWindowOptions } from '../../src/services/replay/recorded-window.ts'

/** The window that these records are about, with a milestone at its half. */
const readBy = (reader: WindowReader, records: readonly unknown[], options: Partial<RecordedWindowOptions> = {}) => {
  const window = new RecordedWindow({ milestones: [{ name: 'warning', at: 0.5 }], ...options })
  for (const record of records) window.take(reader.read(record))
  return window
}

const believed = (tokens: number) => () => ({ tokens, source: 'catalogue' as const })

const usage = (input: number, created = 0, read = 0, output = 0) => ({
  input_tokens: input,
  cache_creation_input_tokens: created,
  cache_read_input_tokens: read,
  output_tokens: output,
})

const line = (id: string, used: object | undefined, more: object = {}) => ({
  type: 'assistant',
  sessionId: 's',
  uuid: id,
  message: { id, model: 'claude-haiku-4-5', content: [], usage: used },
  ...more,
})

const sent = (id: string, used: object, more: object = {}) => ({
  type: 'assistant',
  session_id: 's',
  parent_tool_use_id: null,
  message: { id, model: 'claude-opus-5', content: [], usage: used },
  ...more,
})

const boundary = (trigger: string) => ({
  type: 'system',
  subtype: 'compact_boundary',
  uuid: `boundary ${trigger}`,
  compactMetadata: { trigger, preTokens: 155_700, postTokens: 9_000 },
})

const counted = (last: object, total: object, more: object = {}) => ({
  type: 'event_msg',
  payload: {
    type: 'token_count',
    info: { last_token_usage: last, total_token_usage: total, model_context_window: 258_400 },
    ...more,
  },
})

const tokens = (input: number, total: number) => ({ input_tokens: input, output_tokens: 0, total_tokens: total })

describe('readings', () => {
  it('24: a second reading replaces the first', () => {
    const window = readBy(transcriptReader, [line('1', usage(5, 0, 70_000, 10)), line('2', usage(5, 0, 30_000, 20))])
    expect(window.gauge.reading()).toEqual({ state: 'metered', promptTokens: 30_005, outputTokens: 20 })
  })

  it('25: what is cached counts: 2 + 12,000 + 185,000 of 200,000 is 0.98501', () => {
    const read = readBy(transcriptReader, [line('1', usage(2, 185_000, 12_000))], { believed: believed(200_000) })
    expect(read.result().signals).toMatchObject([{ pressure: 0.98501 }])
  })

  it('26: an unknown window is no pressure; a reported one may be passed; a limit or a compaction point lowers it', () => {
    const full = [sent('1', usage(250_000))]
    expect(readBy(agentSdkReader, full).result()).toMatchObject({ signals: [], turns: 1 })
    const reported = { type: 'result', session_id: 's', modelUsage: { 'claude-opus-5': { contextWindow: 200_000 } } }
    const passed = readBy(agentSdkReader, [...full, reported, sent('2', usage(250_000))])
    expect(passed.result().signals).toMatchObject([{ pressure: 1.25, turn: 2 }])
    expect(passed.result().window).toEqual({ tokens: 200_000, source: 'runtime' })
    const limited = readBy(agentSdkReader, [...full, reported], { limit: 100_000 })
    expect(limited.result().window).toEqual({ tokens: 100_000, source: 'configured' })
    const context_usage = { raw_max_tokens: 200_000, auto_compact_threshold: 167_000, is_auto_compact_enabled: true }
    expect(readBy(agentSdkReader, [sent('1', usage(5), { context_usage })]).result().window?.tokens).toBe(167_000)
    const off = { rawMaxTokens: 200_000, autoCompactThreshold: 167_000, isAutoCompactEnabled: false }
    expect(readBy(agentSdkReader, [sent('1', usage(5), { context_usage: off })]).result().window?.tokens).toBe(200_000)
  })

  it('27: the same message three times is one turn with the largest output', () => {
    const parts = [1, 900, 4].map((output) => line('1', usage(10, 0, 60_000, output)))
    const window = readBy(transcriptReader, parts)
    expect(window.result().turns).toBe(1)
    expect(window.gauge.reading()).toEqual({ state: 'metered', promptTokens: 60_010, outputTokens: 900 })
  })

  it('27: a stream ends with its final output, and later parts do not take it back', () => {
    const event = (inner: object) => ({ type: 'stream_event', session_id: 's', parent_tool_use_id: null, event: inner })
    const start = { type: 'message_start', message: { id: '1', content: [], usage: usage(3, 0, 400_000, 1) } }
    const last = { type: 'message', ...usage(3, 0, 380_000, 700) }
    const final = event({ type: 'message_delta', usage: { output_tokens: 2_400 } })
    const looped = event({ type: 'message_delta', usage: { output_tokens: 2_400, iterations: [last] } })
    const block = sent('1', usage(3, 0, 400_000, 1))
    expect(readBy(agentSdkReader, [event(start), block, final, block]).gauge.reading()).toMatchObject({
      outputTokens: 2_400,
    })
    const window = readBy(agentSdkReader, [event(start), block, looped, block])
    expect(window.gauge.reading()).toEqual({ state: 'metered', promptTokens: 380_003, outputTokens: 700 })
  })

  it('27: an answer in blocks, each counted as 1, has at least their length: text, thoughts and what tools are told', () => {
    const block = (uuid: string, content: object) => ({
      ...sent('1', usage(19, 0, 162_000, 1)),
      uuid,
      message: { id: '1', model: 'claude-opus-5', content: [content], usage: usage(19, 0, 162_000, 1) },
    })
    const blocks = [
      block('a', { type: 'thinking', thinking: 'x'.repeat(20_000), signature: 's'.repeat(9_000) }),
      block('b', { type: 'text', text: 'x'.repeat(38_000) }),
      block('c', { type: 'tool_use', id: 't', name: 'Write', input: { text: 'x'.repeat(1_989) } }),
    ]
    const window = readBy(agentSdkReader, [...blocks, ...blocks])
    expect(window.gauge.reading()).toEqual({ state: 'metered', promptTokens: 162_019, outputTokens: 15_000 })
    const whole = { ...blocks[1], message: { ...blocks[1]?.message, stop_reason: 'end_turn' } }
    expect(readBy(agentSdkReader, [whole]).gauge.reading()).toMatchObject({ outputTokens: 1 })
  })

  it('28: subagents never change the main reading, wherever they are written', () => {
    const nested = { type: 'assistant', message: { id: 'p', usage: usage(190_000) } }
    const window = readBy(transcriptReader, [
      line('1', usage(20_000)),
      line('s', usage(190_000), { isSidechain: true }),
      { type: 'progress', uuid: 'p', data: { type: 'agent_progress', message: nested } },
      { type: 'user', uuid: 'u', toolUseResult: { usage: usage(190_000), totalTokens: 190_000 } },
    ])
    expect(window.result()).toMatchObject({ turns: 1, peakContext: 20_000, subagentTurns: 2 })
    const streamed = [sent('1', usage(20_000)), sent('s', usage(190_000), { parent_tool_use_id: 'toolu_1' })]
    expect(readBy(agentSdkReader, streamed).result()).toMatchObject({ peakContext: 20_000, subagentTurns: 1 })
    const named = [sent('1', usage(20_000)), sent('s', usage(190_000), { agent_id: 'a1' })]
    expect(readBy(agentSdkReader, named).result()).toMatchObject({ peakContext: 20_000, subagentTurns: 1 })
  })

  it('29: synthetic messages and usage of nothing are no readings', () => {
    const message = { id: 'local', model: '<synthetic>', content: [], usage: usage(7) }
    const window = readBy(transcriptReader, [
      line('1', usage(20_000)),
      line('local', {}, { message }),
      line('0', usage(0)),
    ])
    expect(window.result()).toMatchObject({ turns: 1, lastContext: 20_000, unmetered: 1 })
    expect(readBy(transcriptReader, [line('local', {}, { message })]).gauge.reading()).toEqual({ state: 'unknown' })
  })

  it('30: without usage the reading is unknown, is said to be missing, and is read when it appears', () => {
    const window = readBy(transcriptReader, [line('1', undefined)])
    expect([window.gauge.reading(), window.result().unmetered]).toEqual([{ state: 'unknown' }, 1])
    window.take(transcriptReader.read(line('2', usage(9_000))))
    expect(window.gauge.reading()).toMatchObject({ promptTokens: 9_000 })
  })

  it('31: Codex at 129,200 of 258,400 is half full, whatever the thread has used in all', () => {
    const record = counted(tokens(128_000, 129_200), tokens(1_350_000, 1_362_757))
    const window = readBy(rolloutReader, [record])
    expect(window.result().signals).toMatchObject([{ milestone: 'warning', pressure: 0.5, context: 128_000 }])
  })

  it('31: events of a descendant thread are ignored for the root', () => {
    const root = { type: 'session_meta', payload: { id: 'root', source: 'cli' } }
    const child = counted(tokens(250_000, 251_000), tokens(250_000, 251_000), { thread_id: 'child' })
    const own = counted(tokens(60_000, 60_200), tokens(60_000, 60_200))
    const window = readBy(rolloutReader, [root, own, child, { ...own, thread_id: 'root' }])
    expect(window.result()).toMatchObject({ turns: 1, peakContext: 60_000, subagentTurns: 1 })
    const spawned = { subagent: { thread_spawn: { parent_thread_id: 'root', depth: 1 } } }
    const ofChild = [{ type: 'session_meta', payload: { id: 'child', source: spawned } }, root, own]
    expect(readBy(rolloutReader, ofChild).result()).toMatchObject({ turns: 0, subagentTurns: 1 })
  })

  it('32: after a Codex compaction the total is the only figure, and it is an estimate', () => {
    const records = [counted(tokens(230_000, 230_900), tokens(1, 2)), { type: 'compacted', payload: {} }]
    const window = readBy(rolloutReader, [...records, counted(tokens(0, 16_164), tokens(1, 2))])
    expect(window.gauge.reading()).toEqual({ state: 'metered', promptTokens: 16_164, outputTokens: 0 })
    expect(window.result()).toMatchObject({ turns: 1, lastContext: 230_000 })
  })

  it('33: after a boundary the reading is unknown, and neither count of the boundary is the new level', () => {
    const records = [line('1', usage(155_000)), boundary('auto'), boundary('auto')]
    expect(readBy(transcriptReader, records).gauge.reading()).toEqual({ state: 'unknown' })
    const { compactions } = readBy(transcriptReader, [...records, line('2', usage(45_000))]).result()
    const known = { trigger: 'auto', preTokens: 155_700, contextBefore: 155_000, contextAfter: 45_000 }
    expect(compactions).toEqual([known])
  })

  it('33: the same boundary again, after the next request, is still the same one', () => {
    const records = [line('1', usage(155_000)), boundary('auto'), line('2', usage(45_000)), boundary('auto')]
    const window = readBy(transcriptReader, records)
    expect(window.result().compactions).toHaveLength(1)
    expect(window.gauge.reading()).toMatchObject({ promptTokens: 45_000 })
  })

  it('34: a fall without a boundary is legal and re-arms nothing', () => {
    const micro = { type: 'system', subtype: 'microcompact_boundary', microcompactMetadata: { tokensSaved: 60_000 } }
    const records = [line('1', usage(120_000)), micro, line('2', usage(60_000)), line('3', usage(125_000))]
    const { signals, compactions } = readBy(transcriptReader, records, { believed: believed(200_000) }).result()
    expect([signals.map(({ turn }) => turn), compactions]).toEqual([[1], []])
    const armed = [...records.slice(0, 1), boundary('auto'), ...records.slice(2)]
    const rearmed = readBy(transcriptReader, armed, { believed: believed(200_000) }).result()
    expect(rearmed.signals.map(({ turn }) => turn)).toEqual([1, 3])
  })

  it('34: a status line without a reading makes it unknown and re-arms nothing', () => {
    const drawn = (current_usage: object | null) => ({
      context_window: { context_window_size: 200_000, current_usage },
    })
    const window = readBy(statusLineReader, [drawn(usage(120_000)), drawn(null)])
    expect(window.gauge.reading()).toEqual({ state: 'unknown' })
    window.take(statusLineReader.read(drawn(usage(130_000))))
    expect(window.result().signals).toHaveLength(1)
  })

  it('35: results and totals are accounting and never trigger', () => {
    const result = { type: 'result', session_id: 's', usage: usage(50_587), modelUsage: { m: { inputTokens: 9 } } }
    expect(agentSdkReader.read(result)).toEqual([])
    const completed = { type: 'turn.completed', usage: { input_tokens: 41_613, output_tokens: 90 } }
    expect(execReader.read(completed)).toEqual([])
    const old = { context_window: { total_input_tokens: 330_050, context_window_size: 200_000 } }
    expect(statusLineReader.read(old)).toEqual([{ type: 'window', tokens: 200_000 }])
  })

  it.each<readonly [string, object, number | undefined]>([
    ['the main model, by its name', { 'claude-opus-5[1m]': 1_000_000, 'claude-haiku-4-5': 200_000 }, 1_000_000],
    ['the main model, not its namesake', { 'claude-opus-5[1m]': 1_000_000, 'claude-opus-5': 200_000 }, 1_000_000],
    ['the model that answered', { 'claude-haiku-4-5': 200_000, 'claude-opus-5': 900_000 }, 900_000],
    ['no auxiliary model', { 'claude-haiku-4-5': 200_000 }, undefined],
  ])('36: the window is that of %s', (_, windows, expected) => {
    const modelUsage = Object.fromEntries(
      Object.entries(windows).map(([key, contextWindow]) => [key, { contextWindow }]),
    )
    const init = { type: 'system', subtype: 'init', session_id: 's', model: 'claude-opus-5[1m]' }
    const result = { type: 'result', session_id: 's', modelUsage }
    const window = readBy(agentSdkReader, [init, sent('1', usage(5)), result])
    expect(window.result().window?.tokens).toBe(expected)
  })

  it('37: more than a believed window holds raises it and says so; a reported one stands', () => {
    const records = [line('1', usage(288_557))]
    const { window } = readBy(transcriptReader, records, { believed: believed(200_000) }).result()
    expect(window).toEqual({ tokens: 288_557, source: 'observed' })
    const drawn = { context_window: { context_window_size: 200_000, current_usage: usage(288_557) } }
    const reported = readBy(statusLineReader, [drawn]).result()
    expect(reported.window).toEqual({ tokens: 200_000, source: 'runtime' })
    expect(reported.signals[0]?.pressure).toBeCloseTo(1.44, 2)
  })

  it('46: while the runtime compacts nothing is signalled', () => {
    const status = (value: string | null) => ({ type: 'system', subtype: 'status', status: value, session_id: 's' })
    const told = (text: string) => ({ type: 'user', session_id: 's', uuid: text, message: { content: text } })
    const options = { believed: believed(200_000) }
    const waiting = [sent('1', usage(99_999)), status('requesting'), status('compacting'), told('enough text')]
    expect(readBy(agentSdkReader, waiting, options).result().signals).toEqual([])
    const going = [sent('1', usage(99_999)), status('requesting'), told('enough text')]
    expect(readBy(agentSdkReader, going, options).result().signals).toHaveLength(1)
  })

  it('42: a reset conversation re-arms', () => {
    const records = [sent('1', usage(120_000)), { type: 'conversation_reset', session_id: 's' }]
    const options = { believed: believed(200_000) }
    expect(readBy(agentSdkReader, records, options).gauge.reading()).toEqual({ state: 'unknown' })
    expect(readBy(agentSdkReader, [...records, sent('2', usage(120_000))], options).result().signals).toHaveLength(2)
  })
})

describe('where a reading comes from', () => {
  const request = { type: 'request', key: 'msg_1', promptTokens: 9_000, outputTokens: 1 } as const
  const semantics = (...events: readonly WindowEvent[]) => {
    const gauge = new WindowGauge({ runtime: 'claude-agent-sdk' })
    gauge.take(events)
    const reading = gauge.reading()
    return reading.state === 'metered' ? reading.provenance : undefined
  }

  it('says that a streamed answer may still grow, and that a complete one may not', () => {
    const runtime = 'claude-agent-sdk'
    expect(semantics(request)).toEqual({ runtime, source: 'request', semantics: 'lower_bound' })
    expect(semantics(request, { type: 'answered', outputTokens: 40 })?.semantics).toBe('exact')
    expect(semantics({ ...request, isLate: true })?.semantics).toBe('exact')
    expect(semantics({ type: 'estimate', tokens: 9_000 })?.semantics).toBe('estimate')
  })
})

describe('rollouts of Codex that say less, or in another way', () => {
  const tokens = (input: number, total: number) => ({ input_tokens: input, total_tokens: total })
  const record = (response_id: string, last: object, thread?: object) => ({
    type: 'token_usage_record',
    payload: { thread_id: 't', response_id, usage: last, ...(thread && { thread_token_usage: thread }) },
  })

  it('a count of tokens without that of the last request still says how large the window is', () => {
    const info = { total_token_usage: tokens(90_000, 91_000), model_context_window: 258_400 }
    for (const said of [info, { ...info, last_token_usage: null }, { model_context_window: 258_400 }]) {
      const window = readBy(rolloutReader, [{ type: 'event_msg', payload: { type: 'token_count', info: said } }])
      expect(window.result()).toMatchObject({ turns: 0, window: { tokens: 258_400, source: 'runtime' } })
      expect(window.gauge.reading()).toEqual({ state: 'unknown' })
    }
  })

  it.each([true, false])('records of usage alone are turns, with the sum of the thread beside them: %s', (hasSum) => {
    const records = [
      record('r1', tokens(11_000, 11_040), hasSum ? tokens(11_000, 11_040) : undefined),
      record('r2', tokens(13_000, 13_060), hasSum ? tokens(24_000, 24_100) : undefined),
    ]
    expect(rolloutReader.recognises(records[0])).toBe(true)
    const window = readBy(rolloutReader, [...records, ...records], { runtime: 'codex' })
    expect(window.result()).toMatchObject({ turns: 2, lastContext: 13_000, peakContext: 13_000 })
    expect(window.gauge.reading()).toMatchObject({ promptTokens: 13_000, outputTokens: 60 })
    expect(window.gauge.reading()).toMatchObject({ provenance: { semantics: 'exact' } })
  })

  it('a record and a count of the same request are one turn, and what tools said since is due once', () => {
    const output = (id: string) => ({
      type: 'response_item',
      payload: { type: 'function_call_output', call_id: id, output: 'x'.repeat(400) },
    })
    const window = readBy(rolloutReader, [
      record('r1', tokens(11_000, 11_040), tokens(11_000, 11_040)),
      output('1'),
      counted(tokens(11_000, 11_040), tokens(11_000, 11_040)),
      record('r2', tokens(13_000, 13_060), tokens(24_000, 24_100)),
      output('2'),
      counted(tokens(13_000, 13_060), tokens(24_000, 24_100)),
    ])
    expect(window.result()).toMatchObject({ turns: 2, lastContext: 13_000 })
    expect(window.gauge.reading()).toMatchObject({ promptTokens: 13_000, outputTokens: 60, pendingTokens: 100 })
  })

  it('a record of nothing, and a damaged one, say nothing', () => {
    for (const payload of [{}, { usage: tokens(0, 9) }, { usage: 'much' }, { response_id: '', usage: tokens(5, 6) }])
      expect(rolloutReader.read({ type: 'token_usage_record', payload })).toEqual([])
  })
})
