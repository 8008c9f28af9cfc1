import { trace } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createBatonpass } from '../../src/entry/index.ts'
import { ENDS, FILLS, play, recorded, script } from '../runner/played.ts'

const watching = (): InMemorySpanExporter => {
  const exporter = new InMemorySpanExporter()
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  onTestFinished(() => trace.disable())
  return exporter
}

const placeOf = (span: ReadableSpan | undefined): string =>
  `00-${span?.spanContext().traceId}-${span?.spanContext().spanId}-01`

const linked = (span: ReadableSpan | undefined): readonly string[] =>
  (span?.links ?? []).map(({ context }) => `00-${context.traceId}-${context.spanId}-01`)

describe('a run with a restart, as OpenTelemetry shows it', () => {
  it('has sessions, turns and a handoff, linked across the boundary both ways', async () => {
    const exporter = watching()
    const batonpass = await createBatonpass({ store: 'memory' })
    const { summary } = await play(batonpass, script([{ turns: FILLS, checkpoint: 'On.' }, { turns: ENDS }]))
    const spans = exporter.getFinishedSpans()
    const [first, second] = spans.filter(({ name }) => name === 'invoke_agent claude')
    const [handoff] = spans.filter(({ name }) => name === 'handoff context_restart')
    expect(spans.filter(({ name }) => name.startsWith('chat'))).toHaveLength(4)
    expect(handoff?.parentSpanContext?.spanId).toBe(first?.spanContext().spanId)
    // Back from the successor, and on from the handoff; the trace context is what was stored.
    expect(linked(second)).toEqual([placeOf(first)])
    expect(linked(handoff)).toEqual([placeOf(second)])
    expect(second?.spanContext().traceId).not.toBe(first?.spanContext().traceId)
    const { handoffs } = await recorded(batonpass, summary)
    expect(handoffs[0]?.traceContext).toEqual({ traceparent: placeOf(first) })
  })

  it('stores no trace context when nobody watches', async () => {
    const batonpass = await createBatonpass({ store: 'memory' })
    const { summary } = await play(batonpass, script([{ turns: FILLS, checkpoint: 'On.' }, { turns: ENDS }]))
    expect((await recorded(batonpass, summary)).handoffs[0]).not.toHaveProperty('traceContext')
  })

  it('ends the span of a handoff that was cancelled, too', async () => {
    const exporter = watching()
    const batonpass = await createBatonpass({ store: 'memory' })
    const controller = new AbortController()
    const runtime = script([{ turns: FILLS, checkpoint: 'Late.', checkpointMs: 60_000 }])
    const run = batonpass.run({ runtime, agent: 'claude', prompt: 'Go', policy: 'auto', signal: controller.signal })
    run.on(({ type }) => {
      if (type === 'context:handoff:start') setTimeout(() => controller.abort(new Error('Enough')), 10)
    })
    await run.finish()
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toContain('handoff context_restart')
  })
})
