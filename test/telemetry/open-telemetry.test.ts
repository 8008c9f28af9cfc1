import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openTelemetry } from '../../src/entry/telemetry.ts'
import type { SpannedSession } from '../../src/ports/system/run-telemetry.ts'

const SESSION: SpannedSession = {
  conversationId: 'conversation',
  sessionId: 'session',
  epoch: 2,
  agentName: 'writer',
  backend: 'claude_agent_sdk',
  model: 'opus',
}
const TURN = { number: 3, toolNames: [], durationMs: 1_500 }
const HANDOFF = { handoffId: 'handoff', kind: 'context_restart', reason: 'The window is nearly full' }

/** An application that has an SDK, and what it was shown. */
const watching = () => {
  const exporter = new InMemorySpanExporter()
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  onTestFinished(() => trace.disable())
  return {
    spans: () => exporter.getFinishedSpans(),
    span: (name: string): ReadableSpan =>
      exporter.getFinishedSpans().find((span) => span.name === name) ?? expect.fail(name),
  }
}

const placeOf = (span: ReadableSpan): string => `00-${span.spanContext().traceId}-${span.spanContext().spanId}-01`
const durationMs = ({ duration: [seconds, nanoseconds] }: ReadableSpan): number => seconds * 1_000 + nanoseconds / 1e6

describe('with an SDK', () => {
  it('a session is a span, with its turns and handoffs below it', () => {
    const { span, spans } = watching()
    const session = openTelemetry().session(SESSION)
    session.turn(TURN)
    session.handoff(HANDOFF).end({ outcome: 'completed' })
    session.end({ outcome: 'handed_over' })
    expect(spans().map(({ name }) => name)).toEqual(['chat opus', 'handoff context_restart', 'invoke_agent writer'])
    const root = span('invoke_agent writer')
    expect(root.parentSpanContext).toBeUndefined()
    expect(root.instrumentationScope.name).toBe('batonpass')
    expect(session.traceContext).toEqual({ traceparent: placeOf(root) })
    for (const child of [span('chat opus'), span('handoff context_restart')]) {
      expect(child.parentSpanContext?.spanId).toBe(root.spanContext().spanId)
      expect(child.spanContext().traceId).toBe(root.spanContext().traceId)
    }
  })

  it('spans say who, what and how much, and never what was said', () => {
    const { span, spans } = watching()
    const session = openTelemetry().session(SESSION)
    session.turn({ ...TURN, model: 'sonnet', inputTokens: 12_000, outputTokens: 90, toolNames: ['shell', 'read'] })
    session.handoff(HANDOFF).end({ outcome: 'completed' })
    session.end({ outcome: 'handed_over' })
    const every = {
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.conversation.id': 'conversation',
      'gen_ai.agent.name': 'writer',
      'batonpass.session.id': 'session',
    }
    expect(span('invoke_agent writer').attributes).toEqual({
      ...every,
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.request.model': 'opus',
      'batonpass.backend': 'claude_agent_sdk',
      'batonpass.session.epoch': 2,
      'batonpass.outcome': 'handed_over',
    })
    expect(span('chat sonnet').attributes).toEqual({
      ...every,
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'sonnet',
      'gen_ai.usage.input_tokens': 12_000,
      'gen_ai.usage.output_tokens': 90,
      'batonpass.turn.number': 3,
    })
    expect(span('chat sonnet').kind).toBe(SpanKind.CLIENT)
    expect(span('chat sonnet').events.map(({ attributes }) => attributes)).toEqual([
      { 'gen_ai.tool.name': 'shell' },
      { 'gen_ai.tool.name': 'read' },
    ])
    expect(span('handoff context_restart').attributes).toEqual({
      ...every,
      'gen_ai.operation.name': 'handoff',
      'batonpass.handoff.id': 'handoff',
      'batonpass.handoff.kind': 'context_restart',
      'batonpass.outcome': 'completed',
    })
    const shown = spans().map(({ name, attributes, events, status }) => ({ name, attributes, events, status }))
    expect(JSON.stringify(shown)).not.toContain(HANDOFF.reason)
  })

  it.each([
    ['codex', 'openai'],
    ['claude_code', 'anthropic'],
    ['something', 'something'],
  ])('the provider of %s is %s', (backend, provider) => {
    const { span } = watching()
    openTelemetry()
      .session({ ...SESSION, backend })
      .end({ outcome: 'idle' })
    expect(span('invoke_agent writer').attributes['gen_ai.provider.name']).toBe(provider)
  })

  it.each([
    [1_500, 1_500],
    [-5, 0],
    [Number.NaN, 0],
    [Number.POSITIVE_INFINITY, 0],
  ])('a turn of %d ms began so long before its end', (given, lasted) => {
    const { span } = watching()
    const session = openTelemetry().session({ ...SESSION, model: undefined } as never)
    const before = Date.now()
    session.turn({ ...TURN, durationMs: given })
    const [seconds, nanoseconds] = span('chat').endTime
    expect(durationMs(span('chat'))).toBeCloseTo(lasted, 0)
    expect(seconds * 1_000 + nanoseconds / 1e6).toBeGreaterThanOrEqual(before - 1)
    expect(seconds * 1_000 + nanoseconds / 1e6).toBeLessThanOrEqual(Date.now() + 1)
  })

  it('a successor has a trace of its own, and the boundary is linked both ways', () => {
    const { spans } = watching()
    const first = openTelemetry().session(SESSION)
    const handoff = first.handoff(HANDOFF)
    const cameFrom = first.traceContext ?? expect.fail('no place in a trace')
    const second = openTelemetry().session({ ...SESSION, sessionId: 'next', epoch: 3, cameFrom })
    handoff.reached(second.traceContext ?? expect.fail('no place in a trace'))
    handoff.end({ outcome: 'completed' })
    first.end({ outcome: 'handed_over' })
    second.end({ outcome: 'idle' })
    const [boundary, before, after] = spans() as [ReadableSpan, ReadableSpan, ReadableSpan]
    expect(after.parentSpanContext).toBeUndefined()
    expect(after.spanContext().traceId).not.toBe(before.spanContext().traceId)
    const linked = ({ links }: ReadableSpan) => links.map(({ context: { spanId }, attributes }) => [spanId, attributes])
    expect(linked(after)).toEqual([[before.spanContext().spanId, { 'batonpass.link': 'predecessor' }]])
    expect(linked(boundary)).toEqual([[after.spanContext().spanId, { 'batonpass.link': 'successor' }]])
    expect(linked(before)).toEqual([])
  })

  it('a successor has a trace of its own, even inside another span', () => {
    const { spans } = watching()
    const outer = trace.getTracer('test').startSpan('outer')
    const manager = {
      active: () => trace.setSpan(ROOT_CONTEXT, outer),
      with: (_: unknown, act: () => never) => act(),
      bind: () => expect.fail(),
      enable: () => manager,
      disable: () => manager,
    }
    context.setGlobalContextManager(manager as never)
    onTestFinished(() => context.disable())
    const first = openTelemetry().session(SESSION)
    openTelemetry()
      .session({ ...SESSION, cameFrom: first.traceContext ?? expect.fail() })
      .end({ outcome: 'idle' })
    first.end({ outcome: 'idle' })
    expect(spans().map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual([
      undefined,
      outer.spanContext().spanId,
    ])
  })

  it('the state of a trace goes along with its place', () => {
    const { span } = watching()
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`
    openTelemetry()
      .session({ ...SESSION, cameFrom: { traceparent, tracestate: 'vendor=x' } })
      .end({ outcome: 'idle' })
    const [link] = span('invoke_agent writer').links
    expect(link?.context).toMatchObject({ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 0 })
    expect(link?.context.traceState?.serialize()).toBe('vendor=x')
  })

  it.each(['', 'nonsense', `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`, `ff-${'a'.repeat(32)}-${'b'.repeat(16)}-01`])(
    'a place that is none, "%s", is no link',
    (traceparent) => {
      const { spans } = watching()
      const session = openTelemetry().session({ ...SESSION, cameFrom: { traceparent } })
      const handoff = session.handoff(HANDOFF)
      handoff.reached({ traceparent })
      handoff.end({ outcome: 'completed' })
      session.end({ outcome: 'idle' })
      expect(spans().map(({ links }) => links)).toEqual([[], []])
    },
  )

  it('what went wrong is an error, and what did not is none', () => {
    const { span } = watching()
    const session = openTelemetry().session(SESSION)
    session.handoff(HANDOFF).end({ outcome: 'failed', error: 'x'.repeat(5_000) })
    session.end({ outcome: 'idle' })
    expect(span('handoff context_restart').status).toEqual({ code: SpanStatusCode.ERROR, message: 'x'.repeat(1_000) })
    expect(span('handoff context_restart').attributes['error.type']).toBe('failed')
    expect(span('invoke_agent writer').status.code).toBe(SpanStatusCode.UNSET)
    expect(span('invoke_agent writer').attributes).not.toHaveProperty('error.type')
  })
})

const everything = (): unknown => {
  const session = openTelemetry().session({ ...SESSION, cameFrom: { traceparent: 'nonsense' } })
  session.turn(TURN)
  const handoff = session.handoff(HANDOFF)
  handoff.reached({ traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` })
  handoff.end({ outcome: 'completed' })
  session.end({ outcome: 'failed', error: 'Broken' })
  session.end({ outcome: 'idle' })
  return session
}

describe('without an SDK', () => {
  it('there is no place in a trace, and nothing is thrown', () => {
    expect(everything()).not.toHaveProperty('traceContext')
    const { spans } = watching()
    expect(spans()).toEqual([])
  })
})

describe('with an SDK that throws', () => {
  const thrown = (): never => {
    throw new Error('broken')
  }

  it('nothing is thrown on', () => {
    onTestFinished(() => trace.disable())
    trace.setGlobalTracerProvider({ getTracer: thrown })
    expect(everything()).not.toHaveProperty('traceContext')
  })

  it('nothing is thrown on by its spans either', () => {
    onTestFinished(() => trace.disable())
    const spanContext = () => ({ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), traceFlags: 1 })
    const span = new Proxy(
      { spanContext },
      { get: (target, name) => (name === 'spanContext' ? target.spanContext : thrown) },
    )
    trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: () => span, startActiveSpan: thrown }) as never })
    expect(everything()).toHaveProperty('traceContext')
  })
})
