import type { z } from 'zod'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import type { ContextMonitor } from '../../domain/window/context-monitor.ts'
import { levelOf } from '../../services/terminal/session-card.ts'
import type { SessionView } from '../../services/terminal/terminal-requests.ts'
import type { monitorAnswer, sessionAnswer, sessionSummary } from './schemas.ts'

/** A session in few words, as it is sent. */
export const summaryOut = (session: AgentSession): z.input<typeof sessionSummary> => ({
  session_id: session.id,
  conversation_id: session.conversationId,
  provider_session_id: session.providerSessionId ?? null,
  agent_name: session.agentName,
  state: session.state,
  epoch: session.epoch,
  turns: session.progress.turns,
  started_at: session.startedAt,
})

/** How a window is watched, as it is sent. */
export const monitorOut = ({ isEnabled, milestones }: ContextMonitor): z.input<typeof monitorAnswer> => ({
  enabled: isEnabled,
  milestones: milestones.map(({ name, at }) => ({ name, at })),
})

/** A session with its window and its newest handoff, as it is sent. */
export const sessionOut = ({ session, monitor, kept, lastHandoff }: SessionView): z.input<typeof sessionAnswer> => ({
  ...summaryOut(session),
  parent_session_id: session.parentSessionId ?? null,
  level: levelFor(monitor),
  monitor: { ...monitorOut(monitor), notify: kept?.notify ?? null },
  last_handoff_path: kept?.lastHandoffPath ?? null,
  last_handoff:
    lastHandoff === undefined
      ? null
      : {
          handoff_id: lastHandoff.id,
          kind: lastHandoff.kind,
          status: lastHandoff.status,
          reason: lastHandoff.reason,
          document: lastHandoff.document ?? null,
        },
})

const levelFor = (monitor: ContextMonitor): z.input<typeof sessionAnswer>['level'] => {
  const level = levelOf(monitor)
  if (level.state !== 'known') return level
  const { state, ratio, usedTokens: used_tokens, windowTokens: window_tokens } = level
  return { state, ratio, used_tokens, window_tokens }
}
