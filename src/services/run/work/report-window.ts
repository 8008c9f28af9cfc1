import type { MonitorReport } from '../../../domain/window/monitor-reports.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import { mine } from './held-work.ts'
import { tellLoweredWindow } from './window-news.ts'

/** Tells the monitor of the session what its runtime says of the window beside its turns, and others of a compaction. */
export const reportWindow = async (run: RunInProgress, report: MonitorReport): Promise<void> => {
  const { session, monitor: known } = run.held
  const reported = await run.retryThroughOutage((named) => run.deps.context.report({ session, report, ...named }))
  const { outcome, monitor } = mine(run, reported)
  run.held.update({ session, monitor })
  if (report.type !== 'compaction' || outcome !== 'compaction_logged') return
  const { trigger, preTokens = null } = report
  run.news.emit({ type: 'context:compaction', sessionId: session.id, trigger, preTokens })
  tellLoweredWindow(run, known)
}
