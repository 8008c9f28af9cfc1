import { randomUUID } from 'node:crypto'
import { type AuditHead, chainStart, entryHash, sealBody } from '../../domain/audit/audit-chain.ts'
import type { AuditEvent } from '../../domain/audit-event.ts'
import type { CommandId, ConversationId } from '../../domain/kernel/ids.ts'
import { sha256 } from '../../ports/system/sha256.ts'
import type { Undo } from './table.ts'
import type { Tables } from './tables.ts'

/** Who caused an event, and the seal of what was answered if the event is the first of its command. */
export interface Cause {
  readonly commandId: CommandId
  readonly receipt?: string | undefined
}

/** Appends one event to the stream of its conversation, chained to the entry before it. */
export const appendAudit = (tables: Tables, { commandId, receipt }: Cause, event: AuditEvent): Undo => {
  const { conversationId } = event
  const { position: last, hash: previousHash } = headOf(tables, conversationId)
  const parts = {
    position: last + 1,
    commandId,
    previousHash,
    ...sealBody(event, { salt: randomUUID(), receipt }, sha256),
  }
  const sealed = { ...parts, json: parts.body, hash: entryHash(conversationId, parts, sha256) }
  return tables.audit.insert({ conversationId, sealed })
}

/** Where a stream ends. */
export const headOf = (tables: Tables, conversation: ConversationId): AuditHead => {
  const last = tables.audit.get(`${conversation}/${tables.audit.count('conversation', conversation)}`)
  return last === undefined ? chainStart(conversation, sha256) : last.sealed
}
