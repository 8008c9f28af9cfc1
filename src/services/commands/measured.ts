import type { AuditEvent } from '../../domain/audit-event.ts'
import type { Answer, Change } from '../../domain/decision.ts'
import { claimOf, type HandoffMetadata } from '../../domain/handoff/handoff.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import type { Turn } from '../../domain/turn/turn.ts'
import { monitoredPressure } from '../../domain/window/context-monitor.ts'
import type { MeasuredAgent, Measurement } from '../../ports/system/command-telemetry.ts'

/** A decision that was stored. */
interface Stored {
  readonly changes: readonly Change[]
  readonly events: readonly AuditEvent[]
  readonly answer: Answer
}

/** Counts and measurements of a decision. */
export const measured = (stored: Stored): readonly Measurement[] => [
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
      return handoff === undefined ? [] : endOf(handoff, 'completed')
    case 'handoff.cancelled':
      return handoff === undefined ? [] : endOf(handoff, 'cancelled')
    case 'handoff.failed':
      return handoff === undefined ? [] : endOf(handoff, 'failed')
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

const endOf = (handoff: HandoffMetadata, outcome: 'completed' | 'cancelled' | 'failed'): readonly Measurement[] => [
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
