import type { DecisionDraft } from '../decision.ts'
import type { Instant } from '../kernel/instant.ts'
import type { SessionIdentity } from '../session/agent-session.ts'
import { withdrawSignals } from '../session/session-signals.ts'
import type { NewSessionIds } from '../session/start-session.ts'
import { type ContextMonitor, closedMonitor } from '../window/context-monitor.ts'
import type { WindowParts } from '../window/context-pressure.ts'
import { MONITOR } from '../window/monitor-aggregate.ts'
import { rearm } from '../window/monitor-reports.ts'

/** Everything a successor needs beside the handoff. */
export interface Succession {
  readonly ids: NewSessionIds
  readonly at: Instant
  /** The believed window of a model. */
  readonly believed?: (model: string) => WindowParts
}

/** The believed window of a successor; undefined when it works in the same one as its source. */
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
export const closeMonitor = (draft: DecisionDraft, monitor: ContextMonitor, at: Instant): void => {
  draft.move(MONITOR, monitor, closedMonitor(monitor))
  withdrawSignals(draft, monitor, at)
}

/** A restart that came to nothing lets its milestone signal again. */
export const rearmRestart = (draft: DecisionDraft, monitor: ContextMonitor, at: Instant): void => {
  const { monitor: armed, events } = rearm(monitor, { why: 'restart_ended', at })
  draft.move(MONITOR, monitor, armed, ...events)
}
