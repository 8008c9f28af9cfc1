import assert from 'node:assert/strict'
import { unwrap } from '../../domain/unwrap.ts'
import { refusal } from '../expected-refusal.ts'
import type { ContractPart } from '../store-contract.ts'
import { assertIntact, kindsOf } from './trail.ts'

const RESULT = { role: 'tool' as const, text: 'All green.' }
const AFTERWARDS = {
  role: 'assistant' as const,
  text: 'One more thing.',
  toolCalls: [{ callId: 'late-1', toolName: 'edit' }],
}

export const extensionsContract: ContractPart = {
  about: 'what is said after the turn that led to a handoff',
  cases: {
    'belongs to that turn, and leaves the handoff, its tool calls and its snapshot as they are': async (scene) => {
      const { handoff, source } = await scene.initiated()
      const { holder, session } = source
      const [turn] = source.turns.slice(-1)
      assert.ok(turn)
      const before = await scene.store.snapshots.findLatest(session.id)
      const first = unwrap(await scene.service.extendTurn({ handoff, holder, messages: [RESULT] }))
      const second = unwrap(await scene.service.extendTurn({ ...first, holder, messages: [AFTERWARDS, RESULT] }))
      assert.deepEqual(await scene.history.session(session.id), second.session)
      assert.deepEqual(
        [second.session.progress.turns, second.session.progress.lastTurnId, second.session.state],
        [session.progress.turns, turn.id, 'paused'],
      )
      const stored = await scene.store.messages.findTurn(turn.id)
      assert.deepEqual(stored?.range, { start: turn.range.start, end: Number(turn.range.end) + 3 })
      assert.deepEqual(
        stored?.toolCalls.map(({ callId }) => callId),
        [...turn.toolCalls.map(({ callId }) => callId), 'late-1'],
      )
      assert.deepEqual(stored?.usage, turn.usage)
      const { items } = await scene.store.messages.listMessages(session.conversationId, {})
      assert.deepEqual(
        items.slice(-3).map(({ role, text, turnId }) => ({ role, text, turnId })),
        [RESULT, AFTERWARDS, RESULT].map(({ role, text }) => ({ role, text, turnId: turn.id })),
      )
      assert.deepEqual(await scene.store.handoffs.find(handoff.id), handoff)
      assert.deepEqual(await scene.store.snapshots.findLatest(session.id), before)
      assert.deepEqual((await kindsOf(scene, session.conversationId)).slice(-2), ['turn.extended', 'turn.extended'])
      await assertIntact(scene, session.conversationId)
      const next = unwrap(await scene.service.completeHandoff({ handoff }))
      assert.equal(Number(next.session.startSequence), Number(second.session.progress.nextSequence))
      await assertIntact(scene, session.conversationId)
    },
    'is refused once the checkpoint is kept, and when nobody is leaving': async (scene) => {
      const { handoff, source } = await scene.initiated()
      const { holder } = source
      const checkpoint = { outcome: 'kept' as const }
      unwrap(await scene.service.keepCheckpoint({ handoff, holder, document: 'Half done', checkpoint }))
      const late = () => scene.service.extendTurn({ handoff: handoff.id, holder, messages: [RESULT] })
      assert.equal(refusal(await late()).code, 'handoff.checkpointed')
      // Decided on what the caller still holds, it is found out when it is to be kept.
      const stale = await scene.service.extendTurn({ handoff, holder, session: source.session, messages: [RESULT] })
      assert.equal(refusal(stale).code, 'handoff.checkpointed')
      unwrap(await scene.service.cancelHandoff({ handoff: handoff.id, reason: 'Not needed' }))
      assert.equal(refusal(await late()).code, 'session.illegal_transition')
      await assertIntact(scene, source.session.conversationId)
    },
    'goes to nobody when the holder is another by now, and a turn is still refused': async (scene) => {
      const { handoff, source } = await scene.initiated()
      const { session, holder } = source
      assert.equal(
        refusal(await scene.service.recordTurn({ session: session.id, holder, messages: [RESULT] })).code,
        'session.not_active',
      )
      const taken = unwrap(await scene.service.takeOverSession({ session: session.id }))
      const old = await scene.service.extendTurn({ handoff, holder, messages: [RESULT] })
      assert.equal(refusal(old).code, 'session.superseded')
      unwrap(await scene.service.extendTurn({ handoff, holder: taken.holder, messages: [RESULT] }))
      await assertIntact(scene, session.conversationId)
    },
    'is refused when another session has spoken since, and can be kept as an extract': async (scene) => {
      const source = await scene.worked()
      const { session, holder } = source
      const [turn] = source.turns.slice(-1)
      assert.ok(turn)
      unwrap(await scene.service.pauseSession({ session: session.id, holder }))
      const agent = { conversationId: session.conversationId, agentName: scene.name('other'), backend: 'scripted' }
      const other = unwrap(await scene.service.startSession(agent))
      unwrap(await scene.service.recordTurn({ ...other, messages: [AFTERWARDS] }))
      unwrap(await scene.service.completeSession({ session: other.session.id, holder: other.holder }))
      unwrap(await scene.service.resumeSession({ session: session.id, holder }))
      const { handoff } = unwrap(
        await scene.service.initiateHandoff({ session: session.id, holder, targetAgent: scene.name('opus') }),
      )
      const before = await scene.store.messages.findTurn(turn.id)
      const added = await scene.service.extendTurn({ handoff: handoff.id, holder, messages: [RESULT] })
      assert.deepEqual(refusal(added), { code: 'turn.not_last', sessionId: session.id, turnId: turn.id })
      assert.deepEqual(await scene.store.messages.findTurn(turn.id), before)
      const { items } = await scene.store.messages.listMessages(session.conversationId, {})
      assert.equal(items.at(-1)?.text, AFTERWARDS.text)
      unwrap(await scene.service.keepExtract({ handoff: handoff.id, extract: 'tool: All green.' }))
      await assertIntact(scene, session.conversationId)
    },
    'is kept with the handoff as an extract, once, when its turns take no more': async (scene) => {
      const { handoff, source } = await scene.initiated()
      const { session } = unwrap(await scene.service.completeHandoff({ handoff }))
      const extract = 'assistant: And then nobody listened.'
      const extracted = unwrap(await scene.service.keepExtract({ handoff: handoff.id, extract }))
      assert.equal(extracted.handoff.extract, extract)
      assert.deepEqual(await scene.store.handoffs.find(handoff.id), extracted.handoff)
      const again = await scene.service.keepExtract({ handoff: handoff.id, extract: 'Another' })
      assert.equal(refusal(again).code, 'handoff.extracted')
      unwrap(await scene.service.completeSession({ session: session.id, byHand: true }))
      assert.deepEqual(await scene.store.handoffs.find(handoff.id), extracted.handoff)
      await assertIntact(scene, source.session.conversationId)
    },
    'keeps an extract through every later step of its handoff': async (scene) => {
      const { handoff, source } = await scene.initiated()
      unwrap(await scene.service.keepExtract({ handoff, extract: 'tool: Green.' }))
      const accepted = unwrap(await scene.service.acceptHandoff({ handoff: handoff.id, claimant: 'worker' }))
      assert.equal(accepted.handoff.extract, 'tool: Green.')
      unwrap(await scene.service.completeHandoff({ handoff: handoff.id, claimant: 'worker' }))
      assert.equal((await scene.store.handoffs.find(handoff.id))?.extract, 'tool: Green.')
      await assertIntact(scene, source.session.conversationId)
    },
    'is told once, and does not change what a repeated turn answers': async (scene) => {
      const started = await scene.session()
      const turn = { ...started, messages: [AFTERWARDS], commandId: scene.ids.next() as never }
      const worked = unwrap(await scene.service.recordTurn(turn))
      const { handoff } = unwrap(
        await scene.service.initiateHandoff({ ...worked, holder: started.holder, targetAgent: scene.name('opus') }),
      )
      const more = {
        handoff: handoff.id,
        holder: started.holder,
        messages: [RESULT],
        commandId: scene.ids.next() as never,
      }
      const first = unwrap(await scene.service.extendTurn(more))
      assert.deepEqual(unwrap(await scene.service.extendTurn(more)), first)
      assert.deepEqual(unwrap(await scene.service.recordTurn(turn)).turns, worked.turns)
      const { items } = await scene.store.messages.listMessages(started.session.conversationId, {})
      assert.equal(items.filter(({ text }) => text === RESULT.text).length, 1)
    },
  },
}
