import { LEAST_RETENTION_MS } from '../../domain/kernel/command-retention.ts'
import { later } from '../../domain/kernel/instant.ts'
import type { CommandRetention } from '../../ports/store/command-retention.ts'
import type { Clock } from '../../ports/system/system.ts'
import type { CommandRow, Tables } from './tables.ts'

/** No step is larger, whatever is asked. */
const LARGEST_STEP = 1_000

/** Commands that were carried out, and how old they are by the clock of the store. */
export const commandsIn = (tables: Tables, clock: Clock): CommandRetention => {
  const prunable = (keepMs: number): readonly CommandRow[] => {
    const before = later(clock.now(), -Math.max(keepMs, LEAST_RETENTION_MS))
    return tables.commands.in('all', 'all').filter(({ keptAt }) => keptAt < before)
  }
  return {
    // They stand in the order in which they came.
    prune: async (keepMs, most) => {
      const old = prunable(keepMs).slice(0, Math.min(most, LARGEST_STEP))
      for (const { id } of old) tables.commands.remove(id)
      return old.length
    },
    countPrunable: async (keepMs) => prunable(keepMs).length,
  }
}
