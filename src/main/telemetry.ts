import { telemetryWith } from '../adapters/telemetry/open-telemetry.ts'
import type { RunTelemetry } from '../ports/system/run-telemetry.ts'
import { vendorOf } from './runtimes.ts'

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
export const openTelemetry = (): RunTelemetry => telemetryWith((backend) => vendorOf(backend)?.provider)
