import { z } from 'zod'
import { openBody } from '../../domain/audit/audit-chain.ts'
import type { AuditEntry } from '../../domain/audit-event.ts'
import { commandId } from '../../domain/kernel/ids.ts'
import { withholdTexts } from '../../domain/kernel/texts.ts'
import { reader } from './row-types.ts'

/** An event is our own words back, guarded by its hash; it is not taken apart here. */
export const entryRow = z.object({
  position: z.number(),
  command_id: z.string().transform(commandId),
  body: z.string().transform((body) => withholdTexts(openBody(body).event)),
})

export const toEntry = reader(
  'audit entry',
  entryRow.transform(
    ({ position, command_id, body }): AuditEntry => ({ position, commandId: command_id, event: body }),
  ),
)
