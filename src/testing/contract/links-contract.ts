import assert from 'node:assert/strict'
import { type Change, expecting, expectingHandoff } from '../../domain/decision.ts'
import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import { agentSessionId, handoffId, turnId } from '../../domain/kernel/ids.ts'
import { later } from '../../domain/kernel/instant.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import { unwrap } from '../../domain/unwrap.ts'
import { StoreFailure } from '../../ports/store/store-failure.ts'
import type { Scene } from '../scene.ts'
import type { ContractPart } from '../store-contract.ts'
import { rawHandoff, rawUnit, stored } from './raw-unit.ts'

const isIntegrityFailure = (error: unknown): boolean =>
  error instanceof StoreFailure && error.code === 'store.integrity' && !error.retryable

const refuses = (scene: Scene, ...changes: readonly Change[]): Promise<void> =>
  assert.rejects(scene.store.unitOfWork.commit(rawUnit(scene, changes)), isIntegrityFailure)

const cancelled = (handoff: HandoffMetadata): HandoffMetadata => ({
  ...handoff,
  version: handoff.version + 1,
  status: 'cancelled',
  endReason: 'by hand',
  endedAt: handoff.initiatedAt,
})

/** The same session one version on, with something changed. */
const moved = (session: AgentSession, change: Partial<AgentSession>): AgentSession =>
  ({ ...session, ...change, version: session.version + 1 }) as AgentSession

export const linksContract: ContractPart = {
  about: 'sessions, handoffs and turns say the same of each other',
  cases: {
    'lets a conversation have one open handoff, whatever its source': async (scene) => {
      const { handoff, source } = await scene.initiated()
      const begun = unwrap(await scene.service.completeHandoff({ handoff }))
      const target = unwrap(await scene.service.recordTurn({ ...begun, ...scene.turn('search') }))
      const request = { ...target, targetAgent: scene.name('haiku'), reason: 'Once more' }
      const open = unwrap(await scene.service.initiateHandoff(request)).handoff
      const unit = rawUnit(scene, [{ type: 'add_handoff', handoff: rawHandoff(scene, source) }])
      assert.equal((await scene.store.unitOfWork.commit(unit)).outcome, 'conflict')
      assert.deepEqual(await scene.store.handoffs.findOpenFor(target.session.id), open)
      assert.equal(await scene.store.handoffs.findOpenFor(source.session.id), undefined)
    },
    'refuses an open handoff that does not hold its source': async (scene) => {
      const handoff = rawHandoff(scene, await scene.worked('read_file'))
      await refuses(scene, { type: 'add_handoff', handoff })
      assert.equal(await scene.store.handoffs.find(handoff.id), undefined)
    },
    'refuses a session that is held by no handoff': async (scene) => {
      const worked = await scene.worked('read_file')
      const session = moved(worked.session, { state: 'paused', heldBy: handoffId(scene.ids.next()) } as AgentSession)
      await refuses(scene, {
        type: 'move_session',
        working: { ...stored(worked), session },
        expected: expecting(stored(worked)),
      })
      assert.deepEqual(await scene.store.sessions.find(worked.session.id), worked.session)
    },
    'refuses to end a handoff and leave its source held': async (scene) => {
      const { handoff } = await scene.initiated()
      await refuses(scene, { type: 'move_handoff', handoff: cancelled(handoff), expected: expectingHandoff(handoff) })
      assert.deepEqual(await scene.store.handoffs.find(handoff.id), handoff)
    },
    'refuses to let a source go while its handoff is open': async (scene) => {
      const { source } = await scene.initiated()
      const held = await scene.store.sessions.find(source.session.id)
      assert.ok(held)
      const { holder } = stored(source)
      const session = { ...source.session, version: held.version + 1 }
      const expected = expecting({ session: held, holder })
      await refuses(scene, { type: 'move_session', working: { session, holder }, expected })
      assert.deepEqual(await scene.store.sessions.find(held.id), held)
    },
    'refuses a second session of a handoff': async (scene) => {
      const { handoff } = await scene.initiated()
      const begun = unwrap(await scene.service.completeHandoff({ handoff }))
      const ended = unwrap(await scene.service.completeSession(begun))
      const id = agentSessionId(scene.ids.next())
      const session = { ...begun.session, id, epoch: ended.session.epoch + 1 }
      await refuses(scene, { type: 'add_session', working: { session, holder: stored(begun).holder } })
      assert.equal(await scene.store.sessions.find(id), undefined)
    },
    'refuses a session whose last turn is not there': async (scene) => {
      const worked = await scene.worked('read_file')
      const progress = { ...worked.session.progress, lastTurnId: turnId(scene.ids.next()) }
      const session = moved(worked.session, { progress } as AgentSession)
      await refuses(scene, {
        type: 'move_session',
        working: { ...stored(worked), session },
        expected: expecting(stored(worked)),
      })
    },
    'refuses a thread into a conversation that is no child': async (scene) => {
      const [worked, other] = [await scene.worked('read_file'), await scene.worked('read_file')]
      const { conversationId, id } = other.session
      const at = scene.clock.now()
      const handoff: HandoffMetadata = {
        ...rawHandoff(scene, worked),
        kind: 'thread',
        targetAgent: other.session.agentName,
        status: 'completed',
        claim: { claimant: 'worker', acceptedAt: at, deadline: later(at, 1_000) },
        targetSessionId: id,
        targetConversationId: conversationId,
        endedAt: at,
      }
      await refuses(scene, { type: 'add_handoff', handoff })
      assert.equal(await scene.store.handoffs.find(handoff.id), undefined)
    },
  },
}
