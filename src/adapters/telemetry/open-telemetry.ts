import {
  type Attributes,
  type Context,
  context,
  type Link,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { TraceContext } from '../../domain/handoff/handoff.ts'
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
  ofEnd,
  ofEvery,
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
import { inCommandSpan } from './command-span.ts'
import { measure, measureSession } from './metrics.ts'
import { spanContextOf, traceContextOf } from './trace-context.ts'

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
