import { z } from 'zod'
import { openBody } from '../../../domain/audit/audit-chain.ts'
import type { AuditEntry } from '../../../domain/audit-event.ts'
import { commandId } from '../../../domain/kernel/ids.ts'
import { withholdTexts } from '../../../domain/kernel/texts.ts'
import type { FeedEntry } from '../../../ports/store/audit-log.ts'
import { aConversation, reader } from './row-types.ts'

/** An event is our own words back, guarded by its hash; it is not taken apart here. */
export const entryRow = z.object({
  conversation_id: aConversation,
  position: z.number(),
  command_id: z.string().transform(commandId),
  body: z.string(),
})

/** An entry of the feed from its row. */
export const feedEntry = ({
  conversation_id: conversationId,
  position,
  command_id,
  body,
}: z.output<typeof entryRow>): FeedEntry => {
  const event = withholdTexts(openBody(body, conversationId).event)
  return { conversationId, position, commandId: command_id, event }
}

export const toEntry = reader(
  'audit entry',
  entryRow.transform((row): AuditEntry => {
    const { conversationId: _, ...entry } = feedEntry(row)
    return entry
  }),
)
