import assert from 'node:assert/strict'
import { chainStart, entryHash } from '../../domain/audit/audit-chain.ts'
import { type ConversationId, conversationId } from '../../domain/kernel/ids.ts'
import { unwrap } from '../../domain/unwrap.ts'
import type { Changes, FeedEntry } from '../../ports/store/audit-log.ts'
import type { Store } from '../../ports/store/store.ts'
import { sha256 } from '../../ports/system/sha256.ts'
import { AuditService } from '../../services/audit/audit-service.ts'
import { refusal } from '../expected-refusal.ts'
import type { Scene } from '../scene.ts'
import type { ContractPart } from '../store-contract.ts'
import { assertIntact } from './trail.ts'

const auditOf = (store: Store): AuditService => new AuditService({ store, sha256 })

/** Texts and names that stores have trouble with: a NUL, half a surrogate pair, and what an escape may look like. */
const AWKWARD = 'a\u0000b \ud800 \uf8ff0 "quoted" \\u0000 🎉'

/** A conversation in which everything happened once: a refused handoff, a finished one and a thread. */
const eventful = async (scene: Scene): Promise<{ readonly parent: ConversationId; readonly child: ConversationId }> => {
  const { service } = scene
  const { handoff, source } = await scene.initiated({ document: AWKWARD, reason: AWKWARD })
  const { session } = unwrap(await service.cancelHandoff({ handoff, reason: AWKWARD }))
  const messages = [{ role: 'user' as const, text: AWKWARD }]
  const worked = unwrap(await service.recordTurn({ session, holder: source.holder, messages }))
  const again = unwrap(await service.initiateHandoff({ ...worked, targetAgent: `opus ${AWKWARD}`, reason: 'Stuck' }))
  const target = unwrap(await service.completeHandoff({ handoff: again.handoff }))
  const next = unwrap(await service.recordTurn({ ...target, ...scene.turn('search') }))
  const thread = unwrap(await service.openThread({ ...next, targetAgent: 'haiku', reason: 'A side question' }))
  unwrap(await service.captureSnapshot(next))
  unwrap(await service.failSession({ session: next.session, byHand: true, reason: AWKWARD }))
  return { parent: handoff.conversationId, child: thread.conversation.id }
}

/** Follows the feed in small pages until these conversations have shown so many entries, or for ten seconds. */
const followed = async (audit: AuditService, after: string, of: readonly ConversationId[], count: number) => {
  const seen: FeedEntry[] = []
  const signal = AbortSignal.timeout(10_000)
  for await (const { entries } of audit.follow({ after, signal, pollMs: 5, limit: 3 })) {
    seen.push(...entries.filter((entry) => of.includes(entry.conversationId)))
    if (seen.length >= count) break
  }
  return seen
}

export const auditContract: ContractPart = {
  about: 'the chain of the audit log and the feed',
  cases: {
    'chains every entry to the one before, and the head to the last': async (scene) => {
      const { parent } = await eventful(scene)
      const { entries, head } = await scene.store.audit.readChain(parent, {})
      let last = chainStart(parent, sha256)
      for (const entry of entries) {
        assert.equal(entry.position, last.position + 1)
        assert.equal(entry.previousHash, last.hash)
        assert.equal(entry.hash, entryHash(parent, entry, sha256))
        last = { position: entry.position, hash: entry.hash }
      }
      assert.deepEqual(head, last)
      assert.ok(entries.length > 20)
    },
    'reads a chain in pages, and continues where it ended': async (scene) => {
      const { handoff } = await scene.initiated()
      const { audit } = scene.store
      const whole = await audit.readChain(handoff.conversationId, {})
      const first = await audit.readChain(handoff.conversationId, { limit: 4 })
      const rest = await audit.readChain(handoff.conversationId, { after: first.next })
      assert.deepEqual([...first.entries, ...rest.entries], whole.entries)
      const nothing = await audit.readChain(handoff.conversationId, { after: rest.next })
      assert.deepEqual(nothing.entries, [])
      unwrap(await scene.service.acceptHandoff({ handoff, claimant: 'worker' }))
      const more = await audit.readChain(handoff.conversationId, { after: nothing.next })
      assert.deepEqual(
        more.entries.map(({ position }) => position),
        [whole.entries.length + 1],
      )
    },
    'has no chain where there is no conversation': async (scene) => {
      const { entries, head } = await scene.store.audit.readChain(conversationId(scene.ids.next()), {})
      assert.deepEqual([entries, head], [[], undefined])
    },
    'verifies, whatever happened and whatever the texts': async (scene) => {
      const audit = auditOf(scene.store)
      for (const id of Object.values(await eventful(scene))) {
        await assertIntact(scene, id)
      }
      const unknown = conversationId(scene.ids.next())
      assert.equal(refusal(await audit.verify(unknown)).code, 'conversation.not_found')
    },
    'verifies while the conversation is worked on': async (scene) => {
      let working = await scene.session()
      const audit = auditOf(scene.store)
      const { conversationId: id } = working.session
      const verdicts = []
      for (let turn = 0; turn < 10; turn += 1) {
        const writing = scene.service.recordTurn({ ...working, ...scene.turn('read_file') })
        verdicts.push(unwrap(await audit.verify(id)))
        working = { ...working, ...unwrap(await writing) }
      }
      assert.deepEqual([...new Set(verdicts.map(({ intact }) => intact))], [true])
    },
    'lists every conversation that has a stream': async (scene) => {
      const opened = [await scene.conversation(), await scene.conversation(), await scene.conversation()]
      const found: ConversationId[] = []
      for (let after: string | undefined; ; ) {
        const page = await scene.store.audit.listStreams(after === undefined ? { limit: 2 } : { limit: 2, after })
        found.push(...page.items)
        after = page.next
        if (after === undefined) break
      }
      assert.equal(new Set(found).size, found.length)
      assert.deepEqual(
        opened.map(({ id }) => found.includes(id)),
        [true, true, true],
      )
    },
    'feeds every entry once, each conversation in order': async (scene) => {
      const audit = auditOf(scene.store)
      const start = await audit.endOfChanges()
      const { parent, child } = await eventful(scene)
      const trails = await Promise.all([parent, child].map((id) => scene.store.audit.list(id, { limit: 1_000 })))
      const count = trails.reduce((sum, { items }) => sum + items.length, 0)
      const seen = await followed(audit, start, [parent, child], count)
      for (const [index, id] of [parent, child].entries()) {
        const mine = seen.filter((entry) => entry.conversationId === id).map(({ conversationId: _, ...entry }) => entry)
        assert.deepEqual(mine, trails[index]?.items)
      }
    },
    'has an end from which only what is new comes': async (scene) => {
      const audit = auditOf(scene.store)
      const start = await audit.endOfChanges()
      const { parent, child } = await eventful(scene)
      const { items } = await scene.store.audit.list(parent, { limit: 1_000 })
      await followed(audit, start, [parent], items.length)
      const end = await audit.endOfChanges()
      const { id } = await scene.conversation()
      const later = await followed(audit, end, [parent, child, id], 1)
      assert.deepEqual(
        later.map(({ conversationId, event }) => [conversationId, event.type]),
        [[id, 'conversation.opened']],
      )
    },
    'answers with a place to go on from when there is nothing new': async (scene) => {
      const audit = auditOf(scene.store)
      const start = await audit.endOfChanges()
      const again: Changes = await audit.changes({ after: start, limit: 1 })
      assert.equal(typeof again.next, 'string')
      const { id } = await scene.conversation()
      const seen = await followed(audit, again.next, [id], 1)
      assert.deepEqual(
        seen.map(({ event }) => event.type),
        ['conversation.opened'],
      )
    },
    'ends a feed with its signal, without an error': async (scene) => {
      const audit = auditOf(scene.store)
      const controller = new AbortController()
      const start = await audit.endOfChanges()
      setTimeout(() => controller.abort(), 20)
      for await (const { entries } of audit.follow({ after: start, signal: controller.signal, pollMs: 60_000 })) {
        assert.ok(entries.length > 0)
      }
      assert.equal(controller.signal.aborted, true)
    },
  },
}
