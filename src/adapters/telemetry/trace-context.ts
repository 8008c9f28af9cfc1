import { createTraceState, isSpanContextValid, type SpanContext } from '@opentelemetry/api'
import type { TraceContext } from '../../domain/handoff/handoff.ts'
import { defined } from '../../domain/kernel/defined.ts'

const TRACEPARENT = /^(?!ff)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-.*)?$/

/** A span's place in its trace, as W3C writes it. Absent when the span is in none. */
export const traceContextOf = (span: SpanContext): TraceContext | undefined => {
  if (!isSpanContextValid(span)) return undefined
  const flags = (span.traceFlags & 0xff).toString(16).padStart(2, '0')
  const traceparent = `00-${span.traceId}-${span.spanId}-${flags}`
  return defined({ traceparent, tracestate: span.traceState?.serialize() || undefined })
}

/** Reads what was written. Absent when it is no place in a trace. */
export const spanContextOf = ({ traceparent, tracestate }: TraceContext): SpanContext | undefined => {
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(traceparent) ?? []
  const traceState = tracestate === undefined ? undefined : createTraceState(tracestate)
  const span = defined({ traceId, spanId, traceFlags: Number.parseInt(flags, 16), traceState, isRemote: true })
  return isSpanContextValid(span) ? span : undefined
}
