import type { TraceContext } from '../../domain/handoff/handoff.ts'
import type { CommandTelemetry } from './command-telemetry.ts'

/** A session as it is known when its span begins. */
export interface SpannedSession {
  readonly conversationId: string
  readonly sessionId: string
  readonly epoch: number
  readonly agentName: string
  readonly backend: string
  readonly model?: string
  /** Of the session before it, as it was stored with the handoff. */
  readonly cameFrom?: TraceContext
}

/** A turn as it is known once it is recorded. */
export interface SpannedTurn {
  readonly number: number
  readonly model?: string
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly toolNames: readonly string[]
  /** Milliseconds since the turn before it, or the launch. */
  readonly durationMs: number
}

/** A handoff as it is known when its span begins. */
export interface SpannedHandoff {
  readonly handoffId: string
  readonly kind: string
  readonly reason: string
}

/** How a session or a handoff ended; with an error when it failed. */
export interface SpanEnd {
  readonly outcome: string
  readonly error?: string
}

/** A handoff that is being watched. */
export interface HandoffSpan {
  /** Links it to the session that took over. */
  reached(successor: TraceContext): void
  end(end: SpanEnd): void
}

/** A session that is being watched. */
export interface SessionSpan {
  /** To be stored with a handoff, so that the successor can be linked back. Absent when there is no observer. */
  readonly traceContext?: TraceContext
  turn(turn: SpannedTurn): void
  handoff(handoff: SpannedHandoff): HandoffSpan
  end(end: SpanEnd): void
}

/**
 * Shows sessions, turns and handoffs of runs to an observer, and the commands of services if it takes them. An
 * implementation never throws, and costs next to nothing when there is no observer.
 */
export interface RunTelemetry extends CommandTelemetry {
  session(session: SpannedSession): SessionSpan
}
