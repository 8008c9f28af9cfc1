import {
  type Attributes,
  type Context,
  context,
  createTraceState,
  isSpanContextValid,
  type Link,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { TraceContext } from '../../domain/handoff/handoff.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { CommandEnd } from '../../ports/system/command-telemetry.ts'
import type {
  HandoffSpan,
  RunTelemetry,
  SessionSpan,
  SpanEnd,
  SpannedHandoff,
  SpannedSession,
  SpannedTurn,
} from '../../ports/system/run-telemetry.ts'
import {
  ofCommand,
  ofCommandEnd,
  ofEnd,
  ofEvery,
  ofFailure,
  ofHandoff,
  ofLink,
  ofSession,
  ofTool,
  ofTurn,
  type ProviderOf,
  SCOPE,
  spanName,
  TOOL_CALL,
} from './attributes.ts'
import { measure, measureSession } from './metrics.ts'

/**
 * Shows runs and commands to OpenTelemetry; `openTelemetry` of `src/main` publishes it and says more.
 *
 * @param providerOf knows the providers of the agents there are
 */
export const telemetryWith = (providerOf: ProviderOf): RunTelemetry => ({
  session: (session) => quietly(() => begin(session, providerOf)) ?? UNWATCHED,
  command: inCommandSpan,
  measure: (measured) => {
    for (const each of measured) quietly(() => measure(each, providerOf))
  },
})

/** Watching must never break what is watched. */
const quietly = <T>(act: () => T): T | undefined => {
  try {
    return act()
  } catch {
    return undefined
  }
}

const UNWATCHED_HANDOFF: HandoffSpan = { reached: () => {}, end: () => {} }
const UNWATCHED: SessionSpan = { turn: () => {}, handoff: () => UNWATCHED_HANDOFF, end: () => {} }

const begin = (session: SpannedSession, providerOf: ProviderOf): SessionSpan => {
  const tracer = trace.getTracer(SCOPE)
  const { cameFrom } = session
  const links = cameFrom === undefined ? [] : linksTo(cameFrom, 'predecessor')
  const options = {
    kind: SpanKind.INTERNAL,
    attributes: ofSession(session, providerOf),
    links,
    root: cameFrom !== undefined,
  }
  const span = tracer.startSpan(spanName.session(session), options)
  return new WatchedSession({ tracer, session, span, providerOf, within: trace.setSpan(context.active(), span) })
}

const linksTo = (there: TraceContext, to: 'predecessor' | 'successor'): Link[] => {
  const found: SpanContext | undefined = spanContextOf(there)
  return found === undefined ? [] : [{ context: found, attributes: ofLink(to) }]
}

interface SessionParts {
  readonly tracer: Tracer
  readonly session: SpannedSession
  readonly span: Span
  readonly providerOf: ProviderOf
  /** Where its children are. */
  readonly within: Context
}

class WatchedSession implements SessionSpan {
  // Declared only: a field would be there even when it is undefined.
  declare readonly traceContext?: TraceContext
  readonly #parts: SessionParts
  readonly #since = performance.now()

  constructor(parts: SessionParts) {
    this.#parts = parts
    const traceContext = traceContextOf(parts.span.spanContext())
    if (traceContext !== undefined) this.traceContext = traceContext
  }

  turn(turn: SpannedTurn): void {
    quietly(() => {
      const now = Date.now()
      const model = turn.model ?? this.#parts.session.model
      const startTime = new Date(now - (Number.isFinite(turn.durationMs) ? Math.max(0, turn.durationMs) : 0))
      const options = { kind: SpanKind.CLIENT, startTime, attributes: ofTurn(turn, model) }
      const span = this.#child(spanName.turn(model), options)
      for (const name of turn.toolNames) span.addEvent(TOOL_CALL, ofTool(name), new Date(now))
      span.end(new Date(now))
    })
  }

  handoff(handoff: SpannedHandoff): HandoffSpan {
    const options = { kind: SpanKind.INTERNAL, attributes: ofHandoff(handoff) }
    const span = quietly(() => this.#child(spanName.handoff(handoff), options))
    if (span === undefined) return UNWATCHED_HANDOFF
    return {
      reached: (successor) => void quietly(() => span.addLinks(linksTo(successor, 'successor'))),
      end: (end) => finish(span, end),
    }
  }

  end(end: SpanEnd): void {
    finish(this.#parts.span, end)
    const { session, providerOf } = this.#parts
    quietly(() => measureSession(session, performance.now() - this.#since, ofEnd(end), providerOf))
  }

  #child(name: string, options: { kind: SpanKind; attributes: Attributes; startTime?: Date }): Span {
    const { tracer, session, within, providerOf } = this.#parts
    return tracer.startSpan(
      name,
      { ...options, attributes: { ...ofEvery(session, providerOf), ...options.attributes } },
      within,
    )
  }
}

/** Some errors quote whole answers. */
const MAX_MESSAGE = 1_000

const finish = (span: Span, end: SpanEnd): void => {
  quietly(() => {
    span.setAttributes(ofEnd(end))
    if (end.error !== undefined)
      span.setStatus({ code: SpanStatusCode.ERROR, message: end.error.slice(0, MAX_MESSAGE) })
    span.end()
  })
}

/**
 * Carries a command out inside a span, which is a child of the caller's. A refusal is an outcome, not an error; a failure is
 * one. Spans of a database driver become children of it.
 */
const inCommandSpan = async <T>(name: string, work: () => Promise<T>, endOf: (done: T) => CommandEnd): Promise<T> => {
  const span = startSpan(name)
  if (span === undefined) return work()
  try {
    const done = await context.with(trace.setSpan(context.active(), span), work)
    span.setAttributes(ofCommandEnd(endOf(done)))
    return done
  } catch (error) {
    span.setAttributes(ofFailure(error))
    span.setStatus({ code: SpanStatusCode.ERROR })
    throw error
  } finally {
    span.end()
  }
}

/** Absent when nobody watches. */
const startSpan = (name: string): Span | undefined => {
  const options = { kind: SpanKind.INTERNAL, attributes: ofCommand(name) }
  const span = trace.getTracer(SCOPE).startSpan(`batonpass.${name}`, options)
  return span.isRecording() ? span : undefined
}

const TRACEPARENT = /^(?!ff)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-.*)?$/

/** A span's place in its trace, as W3C writes it. Absent when the span is in none. */
const traceContextOf = (span: SpanContext): TraceContext | undefined => {
  if (!isSpanContextValid(span)) return undefined
  const flags = (span.traceFlags & 0xff).toString(16).padStart(2, '0')
  const traceparent = `00-${span.traceId}-${span.spanId}-${flags}`
  return defined({ traceparent, tracestate: span.traceState?.serialize() || undefined })
}

/** Reads what was written. Absent when it is no place in a trace. */
const spanContextOf = ({ traceparent, tracestate }: TraceContext): SpanContext | undefined => {
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(traceparent) ?? []
  const traceState = tracestate === undefined ? undefined : createTraceState(tracestate)
  const span = defined({ traceId, spanId, traceFlags: Number.parseInt(flags, 16), traceState, isRemote: true })
  return isSpanContextValid(span) ? span : undefined
}
