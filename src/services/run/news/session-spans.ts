import type { TraceContext } from '../../../domain/handoff/handoff.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { AgentSession } from '../../../domain/session/agent-session.ts'
import type {
  HandoffSpan,
  RunTelemetry,
  SessionSpan,
  SpanEnd,
  SpannedHandoff,
  SpannedTurn,
} from '../../../ports/system/run-telemetry.ts'

/** The telemetry spans of the sessions of a run, one after the other; without telemetry there are none. */
export class SessionSpans {
  readonly #telemetry: RunTelemetry | undefined
  #current: SessionSpan | undefined

  constructor(telemetry: RunTelemetry | undefined) {
    this.#telemetry = telemetry
  }

  /** The trace of the current session, to be stored with its handoff. */
  get traceContext(): TraceContext | undefined {
    return this.#current?.traceContext
  }

  /** Begins the span of a session, which may succeed another one. */
  begin(session: AgentSession, cameFrom?: TraceContext): void {
    const { id: sessionId, conversationId, epoch, agentName, backend, model } = session
    const facts = defined({ conversationId, sessionId, epoch, agentName, backend, model, cameFrom })
    this.#current = this.#telemetry?.session(facts)
  }

  turn(turn: SpannedTurn): void {
    this.#current?.turn(turn)
  }

  handoff(handoff: SpannedHandoff): HandoffSpan | undefined {
    return this.#current?.handoff(handoff)
  }

  end(end: SpanEnd): void {
    this.#current?.end(end)
  }
}
