import type { Change } from '../decision.ts'
import type { Aggregate } from '../kernel/draft.ts'
import type { ContextMonitor, MonitorEvent } from './context-monitor.ts'

/**
 * The monitor of a window. Readings are not events, so it is moved beside them. One that was touched is compared
 * though nothing may have changed: what others reported meanwhile counts, whatever the caller still holds.
 */
export const MONITOR: Aggregate<ContextMonitor, MonitorEvent, Change> = {
  keyOf: ({ sessionId }) => sessionId,
  changesOf: ({ first, now: monitor }) =>
    first === undefined
      ? [{ type: 'add_monitor', monitor }]
      : [{ type: 'move_monitor', monitor, expected: first.version }],
}
