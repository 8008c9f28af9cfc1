import type { Conversation } from '../domain/conversation.ts'
import type { ConversationId } from '../domain/ids.ts'
import type { LineageRecord } from '../domain/lineage.ts'

/**
 * Keeps conversations. An absent one is `undefined`, never an error; a broken store is an error, never `undefined`.
 * No two conversations have one external key.
 */
export interface ConversationRepository {
  find(id: ConversationId): Promise<Conversation | undefined>
  findByExternalKey(key: string): Promise<Conversation | undefined>
  /** A conversation, its ancestors and all that descends from it, with every session and handoff, in one read. */
  lineage(id: ConversationId): Promise<LineageRecord | undefined>
}
