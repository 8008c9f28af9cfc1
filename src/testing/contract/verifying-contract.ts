import assert from 'node:assert/strict'
import { openBody } from '../../domain/audit/audit-chain.ts'
import type { AuditVerdict } from '../../domain/audit/audit-verdict.ts'
import { commandSeal } from '../../domain/audit/command-seal.ts'
import type { AuditEvent } from '../../domain/audit-event.ts'
import { type ConversationId, commandId, messageId, turnId } from '../../domain/kernel/ids.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import { decideSession } from '../../domain/session/session-lifecycle.ts'
import { toolCallRecords } from '../../domain/turn/tool-call.ts'
import { unwrap } from '../../domain/unwrap.ts'
import { UNKNOWN_USAGE } from '../../domain/window/usage-reading.ts'
import type { Page, Paged } from '../../ports/store/page.ts'
import { sha256 } from '../../ports/system/sha256.ts'
import { AuditService } from '../../services/audit/audit-service.ts'
import { HandoffService } from '../../services/handoff-service.ts'
import { FixedClock } from '../fixed-clock.ts'
import type { Scene } from '../scene.ts'
import type { ContractPart } from '../store-contract.ts'
import { rawUnit } from './raw-unit.ts'
import { assertIntact } from './trail.ts'

const verdictOn = async ({ store }: Scene, id: ConversationId): Promise<AuditVerdict> =>
  unwrap(await new AuditService({ store, sha256 }).verify(id))

/** Writes events that no decision made, and says what verifying makes of the first of them. */
const forged = async (scene: Scene, id: ConversationId, events: readonly AuditEvent[]): Promise<string> => {
  const { head } = await scene.store.audit.readChain(id, { limit: 1 })
  assert.deepEqual(await scene.store.unitOfWork.commit(rawUnit(scene, [], events)), { outcome: 'kept' })
  const verdict = await verdictOn(scene, id)
  if (verdict.intact) return 'intact'
  return `${verdict.problem.class} ${Number(verdict.problem.position) - Number(head?.position)}`
}

/** A turn of a session, taking it for active whatever it is. */
const turnOf = (scene: Scene, session: AgentSession): AuditEvent => {
  const { id, conversationId, epoch, agentName, backend, startSequence, startedAt, version, progress } = session
  const identity = { id, conversationId, epoch, agentName, backend, startSequence, startedAt }
  const message = { id: messageId(scene.ids.next()), input: { role: 'user' as const, text: 'And another thing' } }
  const turn = { id: turnId(scene.ids.next()), messages: [message], usage: UNKNOWN_USAGE }
  const active = { ...identity, version, progress, state: 'active' as const }
  return unwrap(decideSession(active, { type: 'record_turn', turn, at: scene.clock.now() }))
}

const everyItem = async <Item>(read: (page: Page) => Promise<Paged<Item>>): Promise<readonly Item[]> => {
  const items: Item[] = []
  for (let after: string | undefined; ; ) {
    const page = await read(after === undefined ? { limit: 2 } : { limit: 2, after })
    items.push(...page.items)
    after = page.next
    if (after === undefined) return items
  }
}

export const verifyingContract: ContractPart = {
  about: 'what verifying finds',
  cases: {
    'finds a turn of a session that is held, paused or over': async (scene) => {
      const { handoff, source } = await scene.initiated()
      const held = await scene.store.sessions.find(source.session.id)
      assert.ok(held !== undefined)
      assert.equal(await forged(scene, handoff.conversationId, [turnOf(scene, held)]), 'impossible 1')
      const other = await scene.worked('read_file')
      const { session: paused } = unwrap(await scene.service.pauseSession(other))
      assert.equal(await forged(scene, paused.conversationId, [turnOf(scene, paused)]), 'impossible 1')
      const { session: over } = unwrap(await scene.service.completeSession(await scene.worked('read_file')))
      assert.equal(await forged(scene, over.conversationId, [turnOf(scene, over)]), 'impossible 1')
    },
    'finds a turn whose number is not the next': async (scene) => {
      const { session } = await scene.worked('read_file')
      const event = turnOf(scene, { ...session, progress: { ...session.progress, turns: 41 } })
      assert.equal(await forged(scene, session.conversationId, [event]), 'impossible 1')
    },
    'finds a handoff that somebody completed who had not claimed it': async (scene) => {
      const { handoff } = await scene.initiated()
      unwrap(await scene.service.acceptHandoff({ handoff, claimant: 'worker' }))
      const { id: handoffId, conversationId, sourceSessionId: targetSessionId } = handoff
      const about = { version: 1, conversationId, handoffId, at: scene.clock.now() } as const
      const event: AuditEvent = { type: 'handoff.completed', ...about, by: 'thief', targetSessionId }
      assert.equal(await forged(scene, conversationId, [event]), 'impossible 1')
    },
    'finds a handoff that was opened beside an open one': async (scene) => {
      const { handoff } = await scene.initiated()
      const { status: _, version, ...origin } = handoff
      const second = {
        ...origin,
        id: handoff.id.replace(/.$/, (last) => (last === '0' ? '1' : '0')) as typeof handoff.id,
      }
      const { conversationId } = handoff
      const event: AuditEvent = {
        type: 'handoff.initiated',
        version: 1,
        conversationId,
        at: handoff.initiatedAt,
        handoff: second,
      }
      assert.equal(version, 1)
      assert.equal(await forged(scene, conversationId, [event]), 'impossible 1')
    },
    'finds a text that is still there though the log says that it was erased': async (scene) => {
      const { session } = await scene.worked('read_file')
      const { conversationId } = session
      const [message] = (await scene.store.messages.listMessages(conversationId, {})).items
      const about = {
        version: 1,
        conversationId,
        at: scene.clock.now(),
        by: 'privacy-office',
        why: 'request 7',
      } as const
      const named = { row: 'message', id: message?.id ?? '', field: 'text' } as const
      assert.equal(
        await forged(scene, conversationId, [{ type: 'text.erased', ...about, texts: [named] }]),
        'text_differs 1',
      )
      const other = await scene.conversation()
      const task = { row: 'conversation', id: other.id, field: 'originalTask' } as const
      const erased: AuditEvent = { type: 'text.erased', ...about, conversationId: other.id, texts: [task] }
      assert.equal(await forged(scene, other.id, [erased]), 'text_differs 0')
    },
    'seals what each command asked and answered, for as long as it is remembered': async (scene) => {
      const { handoff } = await scene.initiated()
      const thread = unwrap(
        await scene.service.openThread({
          session: handoff.sourceSessionId,
          byHand: true,
          targetAgent: 'haiku',
          reason: 'Aside',
        }),
      )
      const { entries } = await scene.store.audit.readChain(handoff.conversationId, {})
      const ids = [...new Set(entries.map((entry) => entry.commandId))]
      const commands = await scene.store.audit.findCommands([...ids, commandId(scene.ids.next())])
      assert.deepEqual(commands.map(({ id }) => id).sort(), [...ids].sort())
      for (const command of commands) {
        const first = entries.find((entry) => entry.commandId === command.id)
        assert.equal(
          openBody(first?.json ?? '', handoff.conversationId).receipt,
          `${commandSeal(command, sha256)}@${command.keptAt}`,
        )
        assert.equal(command.conversationId, handoff.conversationId)
      }
      await assertIntact(scene, handoff.conversationId)
      await assertIntact(scene, thread.conversation.id)
    },
    'shows no seal to readers of the log': async (scene) => {
      const { id } = await scene.conversation()
      const { items } = await scene.store.audit.list(id, {})
      assert.deepEqual(Object.keys(items[0]?.event ?? {}).sort(), [
        'at',
        'conversation',
        'conversationId',
        'type',
        'version',
      ])
    },
    'lists what is stored of one conversation, page by page': async (scene) => {
      const first = await scene.worked('read_file', 'run_tests', 'search')
      const { session, turns } = unwrap(
        await scene.service.recordTurn({ ...first, ...scene.turn('edit', 'run_tests') }),
      )
      unwrap(await scene.service.captureSnapshot({ session }))
      await scene.worked('elsewhere')
      const { conversationId: id } = session
      const { audit, snapshots } = scene.store
      const all = [...first.turns, ...turns]
      assert.deepEqual(await everyItem((page) => audit.listTurnsIn(id, session.id, page)), all)
      assert.deepEqual(await everyItem((page) => audit.listToolCallsIn(id, page)), all.flatMap(toolCallRecords))
      const seen = await everyItem((page) => snapshots.listForSession(session.id, page))
      const records = seen.map(({ visibleToolCalls: _, ...record }) => record)
      const byId = (a: { readonly id: string }, b: { readonly id: string }) => (a.id < b.id ? -1 : 1)
      assert.deepEqual(await everyItem((page) => audit.listSnapshotsIn(id, page)), [...records].sort(byId))
      const { items } = await audit.listTurnsIn((await scene.conversation()).id, session.id, {})
      assert.deepEqual(items, [])
    },
    'says where the clock of a writer went back, and takes it': async (scene) => {
      const working = await scene.worked('read_file')
      const { conversationId } = working.session
      assert.equal((await verdictOn(scene, conversationId)).setBack, undefined)
      const clock = new FixedClock(Date.parse(scene.clock.now()) - 60_000)
      const late = new HandoffService({ store: scene.store, ids: scene.ids, clock })
      unwrap(await late.recordTurn({ ...working, ...scene.turn('run_tests') }))
      const { intact, setBack, entries } = await verdictOn(scene, conversationId)
      assert.deepEqual([intact, setBack], [true, { entries: 1, position: entries, behindMs: 60_000 }])
    },
  },
}
