import assert from 'node:assert/strict'
import { type Change, expecting, expectingHandoff } from '../../domain/decision.ts'
import { agentSessionId, messageId, turnId } from '../../domain/kernel/ids.ts'
import { unwrap } from '../../domain/unwrap.ts'
import { StoreFailure } from '../../ports/store/store-failure.ts'
import { tokenDigest } from '../../ports/system/holder-tokens.ts'
import type { ContractPart } from '../store-contract.ts'
import { rawHandoff, rawSnapshot, rawUnit, stored } from './raw-unit.ts'

const isIntegrityFailure = (error: unknown): boolean =>
  error instanceof StoreFailure && error.code === 'store.integrity' && !error.retryable

export const unitsContract: ContractPart = {
  about: 'units are kept whole or not at all',
  cases: {
    'keeps nothing of a unit whose last change meets a moved version': async (scene) => {
      const { store } = scene
      const worked = await scene.worked('read_file')
      const snapshot = rawSnapshot(scene, worked)
      const stale: Change = {
        type: 'move_session',
        working: stored(worked),
        expected: { ...expecting(stored(worked)), version: 99 },
      }
      const answer = await store.unitOfWork.commit(rawUnit(scene, [{ type: 'add_snapshot', snapshot }, stale]))
      assert.equal(answer.outcome, 'conflict')
      assert.equal(await store.snapshots.find(snapshot.id), undefined)
      assert.deepEqual(await store.sessions.find(worked.session.id), worked.session)
    },
    'keeps nothing of a unit that names a turn which does not exist': async (scene) => {
      const { store } = scene
      const worked = await scene.worked('read_file')
      const snapshot = rawSnapshot(scene, worked)
      const handoff = { ...rawHandoff(scene, worked), priorTurnId: turnId(scene.ids.next()) }
      const unit = rawUnit(scene, [
        { type: 'add_snapshot', snapshot },
        { type: 'add_handoff', handoff },
      ])
      await assert.rejects(store.unitOfWork.commit(unit), isIntegrityFailure)
      assert.equal(await store.snapshots.find(snapshot.id), undefined)
      assert.equal(await store.handoffs.find(handoff.id), undefined)
      const { payload } = unit.command
      const context = { about: 'session', sessionId: worked.session.id } as const
      assert.equal((await store.unitOfWork.load(context, { id: unit.command.id, payload })).repeated, undefined)
    },
    'refuses a handoff whose prior turn is of another conversation': async (scene) => {
      const [mine, other] = [await scene.worked('read_file'), await scene.worked('read_file')]
      const handoff = { ...rawHandoff(scene, mine), priorTurnId: rawHandoff(scene, other).priorTurnId }
      const unit = rawUnit(scene, [{ type: 'add_handoff', handoff }])
      await assert.rejects(scene.store.unitOfWork.commit(unit), isIntegrityFailure)
      assert.equal(await scene.store.handoffs.find(handoff.id), undefined)
    },
    'refuses a handoff whose tool call is of another conversation': async (scene) => {
      const [mine, other] = [await scene.worked('read_file'), await scene.worked('read_file')]
      const handoff = { ...rawHandoff(scene, mine), triggeringToolCalls: rawHandoff(scene, other).triggeringToolCalls }
      const unit = rawUnit(scene, [{ type: 'add_handoff', handoff }])
      await assert.rejects(scene.store.unitOfWork.commit(unit), isIntegrityFailure)
      assert.equal(await scene.store.handoffs.find(handoff.id), undefined)
    },
    'refuses a session write made from a version that has moved on': async (scene) => {
      const worked = await scene.worked('read_file')
      const next = unwrap(await scene.service.recordTurn({ ...worked, ...scene.turn('run_tests') }))
      // With the token, so that the version alone is what is wrong.
      const source = { ...stored(worked), token: worked.holder }
      const unit = rawUnit(scene, [{ type: 'move_session', working: source, expected: expecting(source) }])
      assert.equal((await scene.store.unitOfWork.commit(unit)).outcome, 'conflict')
      assert.deepEqual(await scene.store.sessions.find(worked.session.id), next.session)
    },
    'refuses a handoff write made from a version that has moved on': async (scene) => {
      const { handoff } = await scene.initiated()
      const accepted = unwrap(await scene.service.acceptHandoff({ handoff, claimant: 'worker' })).handoff
      const unit = rawUnit(scene, [{ type: 'move_handoff', handoff, expected: expectingHandoff(handoff) }])
      assert.equal((await scene.store.unitOfWork.commit(unit)).outcome, 'conflict')
      assert.deepEqual(await scene.store.handoffs.find(handoff.id), accepted)
    },
    'says where a unit met a conflict': async (scene) => {
      const { handoff, source } = await scene.initiated()
      const conflictOf = async (change: Change): Promise<string> => {
        const answer = await scene.store.unitOfWork.commit(rawUnit(scene, [change]))
        return answer.outcome === 'conflict' ? answer.at : answer.outcome
      }
      const expected = { ...expectingHandoff(handoff), version: 99 }
      assert.match(await conflictOf({ type: 'move_handoff', handoff, expected }), /handoff/)
      const moved = { ...expecting(stored(source)), version: 99 }
      assert.match(await conflictOf({ type: 'move_session', working: stored(source), expected: moved }), /session/)
      assert.match(await conflictOf({ type: 'expect_session', session: source.session, expected: moved }), /session/)
    },
    'refuses a unit that expects a session version which has moved on': async (scene) => {
      const worked = await scene.worked('read_file')
      const snapshot = rawSnapshot(scene, worked)
      const expected = { ...expecting(stored(worked)), version: worked.session.version + 1 }
      const unit = rawUnit(scene, [
        { type: 'expect_session', session: worked.session, expected },
        { type: 'add_snapshot', snapshot },
      ])
      assert.equal((await scene.store.unitOfWork.commit(unit)).outcome, 'conflict')
      assert.equal(await scene.store.snapshots.find(snapshot.id), undefined)
    },
    'lets exactly one of two racing units win': async (scene) => {
      const worked = await scene.worked('read_file')
      const moved = { ...stored(worked), session: { ...worked.session, version: worked.session.version + 1 } }
      const units = [1, 2].map(() =>
        rawUnit(scene, [{ type: 'move_session', working: moved, expected: expecting(stored(worked)) }]),
      )
      const outcomes = await Promise.all(units.map((unit) => scene.store.unitOfWork.commit(unit)))
      assert.deepEqual(outcomes.map(({ outcome }) => outcome).sort(), ['conflict', 'kept'])
    },
    'lets one session have the baton, whether active or held': async (scene) => {
      const { source } = await scene.initiated()
      const { conversationId } = source.session
      const held = await scene.store.sessions.find(source.session.id)
      assert.equal(held?.state, 'paused')
      const second = { ...source.session, id: agentSessionId(scene.ids.next()), epoch: 99 }
      const unit = rawUnit(scene, [{ type: 'add_session', working: { ...stored(source), session: second } }])
      assert.equal((await scene.store.unitOfWork.commit(unit)).outcome, 'conflict')
      assert.equal((await scene.store.sessions.listForConversation(conversationId, {})).items.length, 1)
    },
    'lets a source have one open handoff': async (scene) => {
      const { handoff, source } = await scene.initiated()
      const second = rawHandoff(scene, source)
      const unit = rawUnit(scene, [{ type: 'add_handoff', handoff: second }])
      assert.equal((await scene.store.unitOfWork.commit(unit)).outcome, 'conflict')
      assert.deepEqual(await scene.store.handoffs.findOpenFor(source.session.id), handoff)
    },
    'gives a sequence number once': async (scene) => {
      const worked = await scene.worked('read_file')
      const { items } = await scene.store.messages.listMessages(worked.session.conversationId, {})
      const first = items[0]
      assert.ok(first)
      const { metadata: _, turnId: __, ...message } = first
      const { session, holder } = worked
      const working = { session: { ...session, version: session.version + 1 } }
      const expected = expecting({ session, holder: tokenDigest(holder), token: holder })
      const unit = rawUnit(scene, [
        { type: 'move_session', working, expected },
        { type: 'add_message', message: { ...message, id: messageId(scene.ids.next()) } },
      ])
      assert.equal((await scene.store.unitOfWork.commit(unit)).outcome, 'conflict')
    },
    'never shares what it was given or gives': async (scene) => {
      const worked = await scene.worked('read_file')
      const before = structuredClone(worked.session)
      const scribble = (session: object): void => {
        try {
          Object.assign(session, { agentName: 'somebody else' })
        } catch {
          // Frozen is as good as copied.
        }
      }
      scribble(worked.session)
      scribble((await scene.store.sessions.find(worked.session.id)) ?? {})
      assert.deepEqual(await scene.store.sessions.find(worked.session.id), before)
    },
  },
}
