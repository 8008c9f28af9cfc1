import { z } from 'zod'
import { defined } from '../../../domain/kernel/defined.ts'
import type { Instant } from '../../../domain/kernel/instant.ts'
import type { WindowEvent } from '../../../domain/window/window-event.ts'

const size = z.number().positive().optional().catch(undefined)
const flag = z.boolean().optional().catch(undefined)

/** The answer to `/context`, as the stream spells it and as `getContextUsage()` does. */
const contextUsage = z.looseObject({
  raw_max_tokens: size,
  rawMaxTokens: size,
  auto_compact_threshold: size,
  autoCompactThreshold: size,
  is_auto_compact_enabled: flag,
  isAutoCompactEnabled: flag,
})

/** The best word there is on how large the window is and where the runtime compacts. Its token counts are estimates. */
export const readContextUsage = (raw: unknown, at?: Instant): readonly WindowEvent[] => {
  const parsed = contextUsage.safeParse(raw)
  if (!parsed.success) return []
  const usage = parsed.data
  const window = usage.raw_max_tokens ?? usage.rawMaxTokens
  const isOff = (usage.is_auto_compact_enabled ?? usage.isAutoCompactEnabled) === false
  const point = isOff ? undefined : (usage.auto_compact_threshold ?? usage.autoCompactThreshold)
  return [
    ...(window === undefined ? [] : [defined({ type: 'window' as const, tokens: window, at })]),
    ...(point === undefined ? [] : [defined({ type: 'auto_compact_at' as const, tokens: point, at })]),
  ]
}
