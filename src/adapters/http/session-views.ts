import type { z } from 'zod'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import type { ContextMonitor } from '../../domain/window/context-monitor.ts'
import { describeFigures, levelOf, percentOf } from '../../domain/window/window-level.ts'
import type { PendingDocument } from '../../ports/terminal/wire.ts'
import type { HookAnswer, TerminalSignal } from '../../services/terminal/hook-event.ts'
import type { HandoffKept, SessionView } from '../../services/terminal/terminal-requests.ts'
import type {
  handoffAnswerSchema,
  hookAnswer,
  monitorAnswer,
  pendingAnswer,
  sessionAnswer,
  sessionSummary,
  signal,
} from './schemas.ts'

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

/** A document that waits for the next session, as it is sent. */
export const pendingOut = ({
  id,
  workspace,
  path,
  writtenAt,
  expiresAt,
}: PendingDocument): z.input<typeof pendingAnswer> => ({
  document_id: id,
  workspace,
  path,
  written_at: writtenAt,
  expires_at: expiresAt,
})

/** A handoff that was asked for, as it is sent. */
export const handoffOut = (requested: HandoffKept): z.input<typeof handoffAnswerSchema> => {
  if (requested.state === 'pending') {
    const pending = pendingOut(requested.pending)
    const about = { handoff_id: null, kind: 'context_restart', status: 'pending', path: pending.path }
    return { ...about, pending_document: pending, replaced: requested.isReplacing }
  }
  const { handoff, path = null } = requested
  const about = { handoff_id: handoff.id, kind: handoff.kind, status: handoff.status, path }
  return { ...about, pending_document: null, replaced: false }
}

/** A session with its window and its newest handoff, as it is sent. */
export const sessionOut = ({
  session,
  monitor,
  tracking,
  lastHandoff,
  pending,
}: SessionView): z.input<typeof sessionAnswer> => ({
  ...summaryOut(session),
  parent_session_id: session.parentSessionId ?? null,
  level: levelFor(monitor),
  monitor: { ...monitorOut(monitor), notify: tracking?.notify ?? null },
  last_handoff_path: tracking?.lastHandoffPath ?? null,
  pending_document: pending === undefined ? null : pendingOut(pending),
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
  const { state, ratio, usedTokens, windowTokens, end, wholeTokens } = level
  return {
    ...{ state, ratio, percent: percentOf(ratio) },
    used_tokens: usedTokens ?? null,
    window_tokens: windowTokens ?? null,
    window_end: end ?? null,
    whole_window_tokens: wholeTokens ?? null,
    text: describeFigures(level),
  }
}

/** The answer to an event as it is sent. */
export const hookAnswerOut = ({
  outcome,
  sessionId,
  signals,
  inject,
  notice,
}: HookAnswer): z.input<typeof hookAnswer> => ({
  outcome,
  session_id: sessionId ?? null,
  signals: signals.map(signalOut),
  inject: inject ?? null,
  notice: notice ?? null,
})

/** A signal as it is sent. */
export const signalOut = ({ milestone, ...signalFacts }: TerminalSignal): z.input<typeof signal> => ({
  ...signalFacts,
  milestone: milestone ?? null,
})
