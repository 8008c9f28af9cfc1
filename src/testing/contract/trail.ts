import assert from 'node:assert/strict'
import type { ConversationId } from '../../domain/kernel/ids.ts'
import { unwrap } from '../../domain/unwrap.ts'
import { sha256 } from '../../ports/system/sha256.ts'
import { AuditService } from '../../services/audit/audit-service.ts'
import type { Scene } from '../scene.ts'

/** The auditor of a scene's store. */
export const auditOf = ({ store }: Scene): AuditService => new AuditService({ store, sha256 })

/** The log of a conversation verifies, to its last entry. */
export const assertIntact = async (scene: Scene, id: ConversationId): Promise<void> => {
  const audit = auditOf(scene)
  const { items } = await scene.store.audit.list(id, { limit: 1_000 })
  const verdict = unwrap(await audit.verify(id))
  assert.equal(verdict.intact ? 'intact' : verdict.problem.detail, 'intact')
  assert.deepEqual([verdict.entries, verdict.texts.unchecked], [items.length, 0])
}

/** The types of the events of a conversation, in order. */
export const kindsOf = async (scene: Scene, id: ConversationId): Promise<readonly string[]> =>
  (await scene.store.audit.list(id, { limit: 1_000 })).items.map(({ event }) => event.type)
