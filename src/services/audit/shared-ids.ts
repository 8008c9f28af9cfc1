import type { AuditVerdict } from '../../domain/audit/audit-verdict.ts'
import type { ConversationId } from '../../domain/kernel/ids.ts'
import type { SharedId } from '../../ports/store/audited-rows.ts'
import type { Store } from '../../ports/store/store.ts'
import { everyRow } from './row-stream.ts'

/** The first id of each conversation that stands somewhere else too. */
export const sharedIds = async (store: Store): Promise<ReadonlyMap<ConversationId, SharedId>> => {
  const shared = new Map<ConversationId, SharedId>()
  for await (const found of everyRow((page) => store.audit.listSharedIds(page))) {
    for (const conversation of found.conversations) if (!shared.has(conversation)) shared.set(conversation, found)
  }
  return shared
}

/** The verdict on a conversation, knowing of an id that it shares. What is wrong with its own log comes first. */
export const withShared = (verdict: AuditVerdict, shared: SharedId | undefined): AuditVerdict => {
  if (!verdict.intact || shared === undefined) return verdict
  const { kind, id, conversations } = shared
  const where = conversations.length === 1 ? 'stands there twice' : `stands in ${conversations.join(' and ')}`
  return { ...verdict, intact: false, problem: { class: 'id_shared', detail: `The ${kind} ${id} ${where}.` } }
}
