import { z } from 'zod'
import type { BudgetUse } from '../../../domain/budget/restart-budget.ts'
import { HANDOFF_FLAGS, HANDOFF_KINDS } from '../../../domain/handoff/handoff.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { RestartUse } from '../../../domain/restart/restart-use.ts'
import { maybe, reader, time } from './row-types.ts'

const useColumns = { restarts: z.number(), takeovers: z.number(), cost_usd: z.number() }

/** The used part of a conversation's budget, as the database adds it up. */
export const budgetUse = z
  .object({ ...useColumns, first_started_at: maybe(time) })
  .transform(
    ({ restarts, takeovers, cost_usd: costUsd, first_started_at: firstStartedAt }): BudgetUse =>
      defined({ restarts, takeovers, costUsd, firstStartedAt }),
  )

/** The same of a session that is to be restarted. */
export const restartUse = z
  .object({
    ...useColumns,
    first_started_at: time,
    came_from: maybe(z.object({ kind: z.enum(HANDOFF_KINDS), flags: z.array(z.enum(HANDOFF_FLAGS)) })),
  })
  .transform(
    ({ restarts, takeovers, first_started_at: firstStartedAt, cost_usd: costUsd, came_from: cameFrom }): RestartUse =>
      defined({ restarts, takeovers, firstStartedAt, costUsd, cameFrom }),
  )

export const toBudgetUse = reader('answer', budgetUse)
