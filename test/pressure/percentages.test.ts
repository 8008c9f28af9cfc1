import { describe, expect, it } from 'vitest'
import { pressureOf } from '../../src/domain/window/context-pressure.ts'
import { statusLineReader } from '../../src/entry/claude.ts'
import { createBatonpass, functionRuntime, unwrap } from '../../src/entry/index.ts'
import { type WindowEvent, WindowGauge } from '../../src/entry/window.ts'
import { refusal } from '../../src/testing/expected-refusal.ts'
import { play, recorded } from '../runner/played.ts'

const percentage = (usedPercent: number) => ({ state: 'percentage' as const, usedPercent })

describe('a reading that is only a percentage', () => {
  it.each([
    ['with no window at all', {}, { state: 'known', ratio: 0.8 }],
    [
      'of a window that is known',
      { hardLimit: { tokens: 200_000, source: 'runtime' as const } },
      { state: 'known', ratio: 0.8, usedTokens: 160_000, window: { tokens: 200_000, source: 'runtime' } },
    ],
    [
      'of a window that may not be used to its end',
      { hardLimit: { tokens: 200_000, source: 'runtime' as const }, autoCompactAt: 160_000 },
      { state: 'known', ratio: 1, usedTokens: 160_000, window: { tokens: 160_000, source: 'runtime' } },
    ],
    ['where only a limit is known', { configuredLimit: 50_000 }, { state: 'known', ratio: 0.8 }],
  ])('is a pressure %s', (_, parts, pressure) => {
    expect(pressureOf(percentage(80), parts)).toEqual(pressure)
  })

  const status = (context_window: object) => ({ session_id: 's', context_window })
  const readOf = (...records: readonly unknown[]) => {
    const gauge = new WindowGauge({ runtime: 'claude-code' })
    for (const record of records) gauge.take(statusLineReader.read(record))
    return gauge.reading()
  }
  const current_usage = { input_tokens: 5, cache_read_input_tokens: 90_000, output_tokens: 9 }

  it.each([{}, { current_usage: null }])('is read of a status line without counts: %j', (more) => {
    expect(readOf(status({ used_percentage: 61, context_window_size: 200_000, ...more }))).toEqual({
      ...percentage(61),
      provenance: { runtime: 'claude-code', source: 'percentage', semantics: 'lower_bound' },
    })
  })

  it('gives way to counts, and stands for what is newer than they are', () => {
    const counted = status({ used_percentage: 45, current_usage })
    expect(readOf(counted)).toMatchObject({ state: 'metered', promptTokens: 90_005 })
    expect(readOf(status({ used_percentage: 40 }), counted)).toMatchObject({ state: 'metered' })
    expect(readOf(counted, status({ used_percentage: 61 }))).toMatchObject(percentage(61))
  })

  it.each([{ used_percentage: null }, { used_percentage: 0 }, { used_percentage: -1 }, { used_percentage: '61' }])(
    'is none when there is nothing in it: %j',
    (more) => {
      expect(readOf(status({ current_usage: null, ...more }))).toEqual({ state: 'unknown' })
    },
  )

  it.each([-1, Number.NaN, 1_001, '61', undefined])('of %j is refused, and nothing is kept', async (usedPercent) => {
    await using batonpass = await createBatonpass({ store: 'memory' })
    const { conversation } = unwrap(await batonpass.handoffs.openConversation({ originalTask: 'Work' }))
    const about = { conversationId: conversation.id, agentName: 'a', backend: 'b' }
    const { session } = unwrap(await batonpass.handoffs.startSession(about))
    const report = { type: 'sample' as const, reading: { state: 'percentage' as const, usedPercent } as never }
    expect(refusal(await batonpass.context.report({ session, report }))).toMatchObject({ code: 'input.invalid' })
    expect(unwrap(await batonpass.context.status(session.id)).monitor.reading).toEqual({ state: 'unknown' })
  })

  it('restarts a run whose agent counts nothing', async () => {
    await using batonpass = await createBatonpass({ store: 'memory' })
    let windows = 0
    const runtime = functionRuntime<readonly [string, number]>({
      backend: 'scripted',
      start: async function* () {
        windows += 1
        for (const percent of windows === 1 ? [20, 90, 95] : [10]) yield [`At ${percent} %.`, percent] as const
      },
      read: ([text, usedPercent]) => ({
        texts: [{ role: 'assistant', text }],
        events: [{ type: 'percentage', usedPercent }] satisfies WindowEvent[],
      }),
    })
    const { summary, events } = await play(batonpass, runtime)
    expect(summary).toMatchObject({ outcome: 'completed', restarts: 1 })
    const { handoffs } = await recorded(batonpass, summary)
    expect(handoffs).toMatchObject([{ reason: 'The context window is 90 % full.' }])
    expect(events.filter(({ type }) => type === 'context:handoff:start')).toMatchObject([
      { usagePercent: 0.9, inputTokens: null, contextWindow: null },
    ])
  })
})
