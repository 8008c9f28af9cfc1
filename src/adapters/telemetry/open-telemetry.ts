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
  SCOPE,
  spanName,
  TOOL_CALL,
} from './attributes.ts'
import { inCommandSpan } from './command-span.ts'
import { measure, measureSession } from './metrics.ts'
import { spanContextOf, traceContextOf } from './trace-context.ts'

/**
 * Shows sessions, turns, handoffs and commands as spans, and counts them, to whichever OpenTelemetry SDK the application
 * has set up. Without one there are no spans and no metrics.
 *
 * A session is a span, its turns and handoffs are children of it. A successor begins a trace of its own, because the
 * first one may be days old by then; the two are linked, both ways. What was said is never in a span.
 *
 * @example
 * ```ts
 * const facts = { conversationId: 'c', sessionId: 's', epoch: 1, agentName: 'writer', backend: 'codex' }
 * const session = openTelemetry().session(facts)
 * session.turn({ number: 1, toolNames: ['shell'], inputTokens: 12_000, outputTokens: 90, durationMs: 2_400 })
 * session.end({ outcome: 'idle' })
 * console.log(session.traceContext) // => undefined
 * ```
 */
export const openTelemetry = (): RunTelemetry => ({
  session: (session) => quietly(() => begin(session)) ?? UNWATCHED,
  command: inCommandSpan,
  measure: (measured) => {
    for (const each of measured) quietly(() => measure(each))
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

const begin = (session: SpannedSession): SessionSpan => {
  const tracer = trace.getTracer(SCOPE)
  const { cameFrom } = session
  const links = cameFrom === undefined ? [] : linksTo(cameFrom, 'predecessor')
  const options = { kind: SpanKind.INTERNAL, attributes: ofSession(session), links, root: cameFrom !== undefined }
  const span = tracer.startSpan(spanName.session(session), options)
  return new WatchedSession({ tracer, session, span, within: trace.setSpan(context.active(), span) })
}

const linksTo = (there: TraceContext, to: 'predecessor' | 'successor'): Link[] => {
  const found: SpanContext | undefined = spanContextOf(there)
  return found === undefined ? [] : [{ context: found, attributes: ofLink(to) }]
}

interface SessionParts {
  readonly tracer: Tracer
  readonly session: SpannedSession
  readonly span: Span
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
    quietly(() => measureSession(this.#parts.session, performance.now() - this.#since, ofEnd(end)))
  }

  #child(name: string, options: { kind: SpanKind; attributes: Attributes; startTime?: Date }): Span {
    const { tracer, session, within } = this.#parts
    return tracer.startSpan(name, { ...options, attributes: { ...ofEvery(session), ...options.attributes } }, within)
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
