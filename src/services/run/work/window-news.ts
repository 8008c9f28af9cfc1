import { type ContextMonitor, monitoredPressure } from '../../../domain/window/context-monitor.ts'
import { usableWindow } from '../../../domain/window/context-pressure.ts'
import type { WindowGauge } from '../../../domain/window/window-gauge.ts'
import { policyOf, type RunInProgress } from '../run-in-progress.ts'

/** Says that a compaction showed the usable window to be smaller than was thought, if it did. */
export const tellLoweredWindow = (
  run: Pick<RunInProgress, 'held' | 'news'>,
  before: ContextMonitor | undefined,
): void => {
  const { monitor, session } = run.held
  const toTokens = monitor?.window.compactedAt
  if (toTokens === undefined || toTokens === before?.window.compactedAt) return
  const fromTokens = usableWindow(before?.window ?? {})?.tokens ?? null
  run.news.emit({ type: 'context:window:lowered', sessionId: session.id, fromTokens, toTokens })
}

/** Says, once in a run, that nobody knows how full the window is: a restart that is due cannot be seen. */
export const tellUnknownWindow = (
  run: Pick<RunInProgress, 'request' | 'deps' | 'held' | 'news'>,
  gauge: WindowGauge,
): void => {
  const hasRead = gauge.history().lastContext !== undefined
  const { monitor, session } = run.held
  if (policyOf(run) !== 'auto' || monitor?.isEnabled !== true) return
  const pressure = monitoredPressure(monitor)
  // After a compaction there is no reading for a while, which is nothing to be told of.
  if (pressure.state === 'known' || (pressure.why === 'no_reading' && hasRead)) return
  const model = run.held.model ?? null
  run.news.emitOnce({ type: 'context:window:unknown', sessionId: session.id, why: pressure.why, model })
}
