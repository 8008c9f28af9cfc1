import assert from 'node:assert/strict'
import { type Expected, type ExpectedHandoff, expecting, expectingHandoff } from '../../domain/decision.ts'
import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import { handoffId } from '../../domain/kernel/ids.ts'
import { instant } from '../../domain/kernel/instant.ts'
import { sequenceNumber } from '../../domain/kernel/sequence.ts'
import { unwrap } from '../../domain/unwrap.ts'
import { newHolderToken, tokenDigest } from '../../ports/system/holder-tokens.ts'
import { refusal } from '../expected-refusal.ts'
import type { Scene, Worked } from '../scene.ts'
import type { ContractPart } from '../store-contract.ts'
import { rawSnapshot, rawUnit, stored } from './raw-unit.ts'
import { assertIntact } from './trail.ts'

/** A caller's own copy of a session, with the version that is stored. */
const copied = async (scene: Scene, { session }: Worked, changes: object = {}) => {
  const stored = await scene.store.sessions.find(session.id)
  return { ...session, version: stored?.version ?? 0, ...changes } as Worked['session']
}

const isUnchanged = async (scene: Scene, source: Worked, act: () => Promise<void>): Promise<void> => {
  const before = await scene.store.sessions.find(source.session.id)
  await act()
  assert.deepEqual(await scene.store.sessions.find(source.session.id), before)
  await assertIntact(scene, source.session.conversationId)
}

/** Every part of what a decision on a session stood on, each with a value that is not true. */
const untrue = (scene: Scene, { session }: Worked): { readonly [Part in keyof Expected]-?: Expected[Part] } => ({
  version: session.version + 1,
  holder: tokenDigest(newHolderToken()),
  token: newHolderToken(),
  state: 'paused',
  heldBy: handoffId(scene.ids.next()),
  turns: 42,
  nextSequence: sequenceNumber(session.progress.nextSequence + 1),
})

const untrueOfHandoff = (
  handoff: HandoffMetadata,
): { readonly [Part in keyof ExpectedHandoff]-?: ExpectedHandoff[Part] } => ({
  version: handoff.version + 1,
  status: 'initiated',
  claimant: 'somebody else',
  deadline: instant('2031-01-01T00:00:00Z'),
})

export const copiesContract: ContractPart = {
  about: "a caller's copy is never taken for the truth",
  cases: {
    'compares everything a decision on a session stood on': async (scene) => {
      const worked = await scene.worked('read_file')
      const moved = { ...stored(worked), session: { ...worked.session, version: worked.session.version + 1 } }
      for (const [part, value] of Object.entries(untrue(scene, worked))) {
        const expected = { ...expecting(stored(worked)), [part]: value }
        const move = rawUnit(scene, [{ type: 'move_session', working: moved, expected }])
        assert.equal((await scene.store.unitOfWork.commit(move)).outcome, 'conflict', part)
        const snapshot = rawSnapshot(scene, worked)
        const look = rawUnit(scene, [
          { type: 'expect_session', session: worked.session, expected },
          { type: 'add_snapshot', snapshot },
        ])
        assert.equal((await scene.store.unitOfWork.commit(look)).outcome, 'conflict', part)
        assert.equal(await scene.store.snapshots.find(snapshot.id), undefined)
      }
      assert.deepEqual(await scene.store.sessions.find(worked.session.id), worked.session)
    },
    'compares everything a decision on a handoff stood on': async (scene) => {
      const initiated = await scene.initiated()
      const claim = { handoff: initiated.handoff, claimant: 'worker' }
      const { handoff } = unwrap(await scene.service.acceptHandoff(claim))
      const moved = { ...handoff, version: handoff.version + 1 }
      for (const [part, value] of Object.entries(untrueOfHandoff(handoff))) {
        const expected = { ...expectingHandoff(handoff), [part]: value }
        const unit = rawUnit(scene, [{ type: 'move_handoff', handoff: moved, expected }])
        assert.equal((await scene.store.unitOfWork.commit(unit)).outcome, 'conflict', part)
      }
      assert.deepEqual(await scene.store.handoffs.find(handoff.id), handoff)
    },
    'records no turn on a held session, whatever a copy says': async (scene) => {
      const { source, handoff } = await scene.initiated()
      await isUnchanged(scene, source, async () => {
        const session = await copied(scene, source)
        const turned = await scene.service.recordTurn({ ...source, session, ...scene.turn('run_tests') })
        assert.equal(refusal(turned).code, 'session.not_active')
      })
      unwrap(await scene.service.completeHandoff({ handoff }))
    },
    'records no turn on a session that is paused or has ended, whatever a copy says': async (scene) => {
      for (const end of ['pauseSession', 'completeSession'] as const) {
        const source = await scene.worked('read_file')
        unwrap(await scene.service[end](source))
        await isUnchanged(scene, source, async () => {
          const session = await copied(scene, source, { state: 'active' })
          const turned = await scene.service.recordTurn({ ...source, session, ...scene.turn('run_tests') })
          assert.equal(refusal(turned).code, 'session.not_active')
        })
      }
    },
    'numbers turns and messages by the record, whatever a copy says': async (scene) => {
      const source = await scene.worked('read_file')
      const { progress } = source.session
      const ahead = { ...progress, turns: 41, nextSequence: sequenceNumber(99), window: { ...progress.window } }
      const session = await copied(scene, source, { progress: ahead, agentName: 'somebody else' })
      const turned = unwrap(await scene.service.recordTurn({ ...source, session, ...scene.turn('run_tests') }))
      assert.equal(turned.turns[0]?.number, 2)
      assert.equal(turned.turns[0]?.range.start, progress.nextSequence)
      assert.equal(turned.session.agentName, source.session.agentName)
      await assertIntact(scene, source.session.conversationId)
    },
    'lets nobody steal a claim by a copy': async (scene) => {
      const { handoff, source } = await scene.initiated()
      const accepted = unwrap(await scene.service.acceptHandoff({ handoff, claimant: 'worker' }))
      assert.equal(accepted.handoff.status, 'accepted')
      const claim = { ...(accepted.handoff.status === 'accepted' && accepted.handoff.claim), claimant: 'thief' }
      const forged = { ...accepted.handoff, claim } as HandoffMetadata
      const stolen = await scene.service.completeHandoff({ ...accepted, handoff: forged, claimant: 'thief' })
      assert.equal(refusal(stolen).code, 'handoff.not_claimant')
      assert.deepEqual(await scene.store.handoffs.find(handoff.id), accepted.handoff)
      await assertIntact(scene, source.session.conversationId)
      unwrap(await scene.service.completeHandoff({ ...accepted, claimant: 'worker' }))
    },
    'believes no copy of a window, of turns or of a conversation either': async (scene) => {
      const source = await scene.worked('read_file')
      const monitor = { ...source.monitor, policy: 'auto', latchedAt: 0.9 } as const
      const turned = unwrap(await scene.service.recordTurn({ ...source, monitor, ...scene.turn('run_tests') }))
      assert.equal(turned.monitor.policy, source.monitor.policy)
      assert.equal(turned.monitor.latchedAt, 0)
      const turns = turned.turns.map((turn) => ({ ...turn, toolCalls: [] }))
      const to = { targetAgent: scene.name('opus'), reason: 'Full' }
      const { handoff } = unwrap(await scene.service.initiateHandoff({ ...source, ...turned, turns, ...to }))
      assert.deepEqual(
        handoff.triggeringToolCalls.map(({ toolName }) => toolName),
        ['run_tests'],
      )
      const accepted = unwrap(await scene.service.acceptHandoff({ handoff, claimant: 'worker' }))
      const conversation = { ...accepted.conversation, originalTask: 'Delete everything' }
      const done = unwrap(await scene.service.completeHandoff({ ...accepted, conversation, claimant: 'worker' }))
      const { items } = await scene.store.messages.listMessages(handoff.conversationId, { limit: 100 })
      const opening = items.find(({ sessionId }) => sessionId === done.session.id)
      assert.match(opening?.text ?? '', /Fix the flaky test/)
      await assertIntact(scene, handoff.conversationId)
    },
    'names every call of the exchange, also when a turn between is not passed back': async (scene) => {
      const [first, ...rest] = ['read_file', 'search', 'run_tests'].map((tool) => scene.turn(tool))
      assert.ok(first)
      const turns = [first, ...rest.map((turn) => ({ ...turn, messages: turn.messages.slice(1) }))]
      const started = await scene.session()
      const turned = unwrap(await scene.service.recordTurns({ ...started, turns }))
      const passed = turned.turns.filter(({ number }) => number !== 2)
      const to = { targetAgent: scene.name('opus') }
      const { handoff } = unwrap(await scene.service.initiateHandoff({ ...started, ...turned, turns: passed, ...to }))
      const names = handoff.triggeringToolCalls.map(({ toolName }) => toolName)
      assert.deepEqual(names, ['read_file', 'search', 'run_tests'])
    },
    'takes no step of a handoff with the token of another session, whatever copies come with it': async (scene) => {
      const { handoff, source } = await scene.initiated()
      const accepted = unwrap(await scene.service.acceptHandoff({ handoff, claimant: 'worker' }))
      const { holder } = await scene.session(scene.name('stranger'))
      const done = await scene.service.completeHandoff({
        ...accepted,
        monitor: source.monitor,
        claimant: 'worker',
        holder,
      })
      assert.equal(refusal(done).code, 'session.superseded')
      assert.deepEqual(await scene.store.handoffs.find(handoff.id), accepted.handoff)
      const { holder: own } = source
      unwrap(await scene.service.completeHandoff({ ...accepted, claimant: 'worker', holder: own }))
    },
  },
}
