import type { Answer, Change, Decision } from '../decision.ts'
import type { Instant } from '../kernel/instant.ts'
import type { SessionIdentity } from '../session/agent-session.ts'
import type { NewSessionIds } from '../session/start-session.ts'
import { type ContextMonitor, closedMonitor } from '../window/context-monitor.ts'
import type { WindowParts } from '../window/context-pressure.ts'
import { rearm } from '../window/monitor-reports.ts'

/** What a successor needs beside the handoff. */
export interface Succession {
  readonly ids: NewSessionIds
  readonly at: Instant
  /** What is believed of a model's window. */
  readonly believed?: (model: string) => WindowParts
}

/** What to believe of a successor's window; nothing when it works in the same one as its source. */
export const windowFor = (
  source: SessionIdentity,
  next: SessionIdentity,
  believed: Succession['believed'],
): WindowParts | undefined => {
  const isSame = source.model === undefined ? source.agentName === next.agentName : source.model === next.model
  if (isSame && source.backend === next.backend) return undefined
  return next.model === undefined ? {} : (believed?.(next.model) ?? {})
}

/** Compared too, so that what was chosen meanwhile is not lost; what waits to be said of the old window is withdrawn. */
export const closeMonitor = (monitor: ContextMonitor | undefined, at: Instant): readonly Change[] =>
  monitor === undefined
    ? []
    : [
        { type: 'move_monitor', monitor: closedMonitor(monitor), expected: monitor.version },
        { type: 'withdraw_signals', conversationId: monitor.conversationId, aboutId: monitor.sessionId, at },
      ]

/** Nothing is armed where nothing was spent. */
export const NOTHING_ARMED: Pick<Decision<Answer>, 'changes' | 'events'> = { changes: [], events: [] }

/** A restart that came to nothing lets its milestone signal again. */
export const rearmRestart = (monitor: ContextMonitor | undefined, at: Instant): typeof NOTHING_ARMED => {
  if (monitor === undefined) return NOTHING_ARMED
  const { monitor: armed, events } = rearm(monitor, { why: 'restart_ended', at })
  return { changes: [{ type: 'move_monitor', monitor: armed, expected: monitor.version }], events }
}
