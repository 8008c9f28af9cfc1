import { defined } from '../kernel/defined.ts'
import { type ContextMonitor, monitoredPressure } from './context-monitor.ts'

/** How full a window is, or why that is not known. */
export type WindowLevel =
  | { readonly state: 'known'; readonly ratio: number; readonly usedTokens?: number; readonly windowTokens?: number }
  | { readonly state: 'unknown' | 'compacting' }

/** The level of a window. After a compaction it is unknown until something is read. */
export const levelOf = (monitor: ContextMonitor | undefined): WindowLevel => {
  if (monitor === undefined) return { state: 'unknown' }
  if (monitor.isCompacting) return { state: 'compacting' }
  const pressure = monitoredPressure(monitor)
  if (monitor.awaitsReading || pressure.state === 'unknown') return { state: 'unknown' }
  const { ratio, usedTokens, window } = pressure
  return defined({ state: 'known' as const, ratio, usedTokens, windowTokens: window?.tokens })
}
