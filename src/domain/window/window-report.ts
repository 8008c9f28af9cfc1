import { defined } from '../kernel/defined.ts'
import type { MonitorReport } from './monitor-reports.ts'
import type { WindowEvent } from './window-event.ts'

/**
 * What a monitor is to be told of an event, if anything: that the window is being compacted, was, or was cleared.
 *
 * Requests are not among them. What they say is in the reading of the tracker that followed them, to be recorded with
 * the turn or sent as a sample.
 *
 * @example
 * ```ts
 * console.log(reportOf({ type: 'compaction', trigger: 'auto', preTokens: 155_031, key: 'uuid-1' })?.type) // => compaction
 * console.log(reportOf({ type: 'request', key: 'msg_1', promptTokens: 9_000, outputTokens: 40 })) // => undefined
 * ```
 */
export const reportOf = (event: WindowEvent): MonitorReport | undefined => {
  const { at: producedAt, key } = event
  switch (event.type) {
    case 'compacting':
    case 'cleared':
      return defined({ type: event.type, producedAt })
    case 'compaction':
      return defined({ type: event.type, trigger: event.trigger, preTokens: event.preTokens, key, producedAt })
    default:
      return undefined
  }
}
