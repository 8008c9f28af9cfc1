import type { CommandId } from '../../domain/kernel/ids.ts'
import type { MonitorReport, ReportOutcome } from '../../domain/window/monitor-reports.ts'
import type { FollowedSession } from './followed-session.ts'
import type { HookOutcome } from './hook-event.ts'
import type { TerminalDeps } from './terminal-deps.ts'

/** Passes a report on to the session's monitor, and keeps how full the window is by it. */
export const reported = async (
  { context, logger }: Pick<TerminalDeps, 'context' | 'logger'>,
  at: FollowedSession,
  report: MonitorReport,
  commandId?: CommandId,
): Promise<ReportOutcome | 'unknown_session'> => {
  const request = { session: at.session.id, report }
  const answer = await context.report(commandId === undefined ? request : { ...request, commandId })
  if (answer.ok) {
    at.update({ monitor: answer.value.monitor })
    return answer.value.outcome
  }
  logger.warn({ sessionId: at.session.id, refusal: answer.error.code }, 'a report on a window was refused')
  return answer.error.code === 'command.id_reused' ? 'repeated' : 'unknown_session'
}

/** The outcome as hooks are answered: that a compaction has begun is taken, and no more. */
export const outcomeOf = (outcome: ReportOutcome | 'unknown_session'): HookOutcome =>
  outcome === 'compacting' ? 'ok' : outcome
