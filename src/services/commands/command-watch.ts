import type { AuditEvent } from '../../domain/audit-event.ts'
import type { Answer, Change } from '../../domain/decision.ts'
import { claimOf, type HandoffMetadata } from '../../domain/handoff/handoff.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { Result } from '../../domain/kernel/result.ts'
import type { Refusal } from '../../domain/refusal.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import type { Turn } from '../../domain/turn/turn.ts'
import { monitoredPressure } from '../../domain/window/context-monitor.ts'
import type { CommandEnd, CommandTelemetry, MeasuredAgent, Measurement } from '../../ports/system/command-telemetry.ts'

/** Shows commands to an observer. Whatever the observer does, the command is carried out once and answers the same. */
export class CommandWatch {
  readonly #telemetry: CommandTelemetry | undefined

  constructor(telemetry: CommandTelemetry | undefined) {
    this.#telemetry = telemetry
  }

  show<A extends Answer>(name: string, work: () => Promise<Result<A, Refusal>>): Promise<Result<A, Refusal>> {
    const telemetry = this.#telemetry
    if (telemetry?.command === undefined) return work()
    let begun: Promise<Result<A, Refusal>> | undefined
    const once = (): Promise<Result<A, Refusal>> => {
      begun ??= work()
      return begun
    }
    try {
      telemetry.command(name, once, endOf).catch(() => undefined)
    } catch {}
    return once()
  }

  count(decision: Parameters<typeof measured>[0]): void {
    if (this.#telemetry?.measure === undefined) return
    try {
      this.#telemetry.measure(measured(decision))
    } catch {}
  }
}

const endOf = (done: Result<Answer, Refusal>): CommandEnd => {
  if (!done.ok) return { outcome: done.error.code }
  const { conversation, session, handoff } = done.value
  const conversationId = conversation?.id ?? session?.conversationId ?? handoff?.conversationId
  return { outcome: 'ok', ...defined({ conversationId, sessionId: session?.id, handoffId: handoff?.id }) }
}

/** A decision that was stored. */
interface Stored {
  readonly changes: readonly Change[]
  readonly events: readonly AuditEvent[]
  readonly answer: Answer
}

/** Counts and measurements of a decision. */
const measured = (stored: Stored): readonly Measurement[] => [
  ...stored.events.flatMap((event) => fromEvent(event, stored)),
  ...windowOf(stored),
  ...claimIn(stored),
]

const fromEvent = (event: AuditEvent, { answer: { session, handoff } }: Stored): readonly Measurement[] => {
  switch (event.type) {
    case 'turn.recorded':
      return session === undefined ? [] : [turnOf(event.turn, session)]
    case 'context.restart_refused':
      return session === undefined ? [] : [{ type: 'restart', agentName: session.agentName, outcome: 'refused' }]
    case 'handoff.initiated':
      return handoff === undefined ? [] : [outcomeOf(handoff, 'initiated')]
    case 'handoff.completed':
      return handoff === undefined ? [] : settledOf(handoff, 'completed')
    case 'handoff.cancelled':
      return handoff === undefined ? [] : settledOf(handoff, 'cancelled')
    case 'handoff.failed':
      return handoff === undefined ? [] : settledOf(handoff, 'failed')
    default:
      return []
  }
}

const agentOf = ({ agentName, backend, model }: AgentSession): MeasuredAgent => defined({ agentName, backend, model })

/** A figure that is an estimate or a lower bound is no count. */
const turnOf = ({ usage }: Turn, session: AgentSession): Measurement => {
  const isCounted = usage.state === 'metered' && (usage.provenance?.semantics ?? 'exact') === 'exact'
  const tokens = isCounted ? { input: usage.promptTokens, output: usage.outputTokens } : undefined
  return { type: 'turn', agent: agentOf(session), ...defined({ tokens }) }
}

const outcomeOf = (
  { kind, sourceAgent, targetAgent }: HandoffMetadata,
  outcome: 'initiated' | 'completed' | 'cancelled' | 'failed',
): Measurement => ({ type: 'handoff', kind, outcome, sourceAgent, targetAgent })

const settledOf = (handoff: HandoffMetadata, outcome: 'completed' | 'cancelled' | 'failed'): readonly Measurement[] => [
  outcomeOf(handoff, outcome),
  ...(handoff.kind === 'context_restart'
    ? [{ type: 'restart', agentName: handoff.sourceAgent, outcome } as const]
    : []),
]

/** The level after the last of the turns; other commands leave it as it was. */
const windowOf = ({ events, answer: { session, monitor } }: Stored): readonly Measurement[] => {
  if (session === undefined || monitor === undefined || !events.some(({ type }) => type === 'turn.recorded')) return []
  const pressure = monitoredPressure(monitor)
  return pressure.state === 'known' ? [{ type: 'window', agent: agentOf(session), ratio: pressure.ratio }] : []
}

/** A later claimant did not let the handoff wait. */
const claimIn = ({ changes, events, answer: { handoff } }: Stored): readonly Measurement[] => {
  const isFirst = changes.some((change) => change.type === 'move_handoff' && change.expected.status === 'initiated')
  const isClaimed = events.some(({ type }) => type === 'handoff.accepted')
  const claim = handoff && claimOf(handoff)
  if (!isFirst || !isClaimed || handoff === undefined || claim === undefined) return []
  const waitedMs = Math.max(0, Date.parse(claim.acceptedAt) - Date.parse(handoff.initiatedAt))
  return [{ type: 'claim', kind: handoff.kind, targetAgent: handoff.targetAgent, waitedMs }]
}
