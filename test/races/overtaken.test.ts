import { describe, expect, it } from 'vitest'
import type { TurnsRecorded } from '../../src/domain/recording/record-turns.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { Scene } from '../../src/testing/scene.ts'
import { ReadBack } from '../cases/read-back.ts'
import { openStore, RULE_STORES } from '../support/stores.ts'
import { interrupted } from './jitter.ts'

/** Somebody else gets everything done between a command's read and its write. */
describe.each(RULE_STORES)('a command overtaken between its read and its write, on %s', (kind) => {
  const stage = async () => {
    const scene = new Scene(await openStore(kind))
    return { scene, kept: new ReadBack(scene.store) }
  }

  /** Another session comes, records a turn and is gone again. */
  const otherWork = async (scene: Scene, { session }: TurnsRecorded): Promise<void> => {
    const agent = { conversationId: session.conversationId, agentName: scene.name('other'), backend: 'scripted' }
    const other = unwrap(await scene.service.startSession(agent))
    unwrap(await scene.service.completeSession(unwrap(await scene.service.recordTurn({ ...other, ...scene.turn() }))))
  }

  it('a resumed session writes after what others wrote meanwhile', async () => {
    const { scene, kept } = await stage()
    const worked = await scene.worked()
    unwrap(await scene.service.pauseSession(worked))
    const late = scene.serviceOver(interrupted(scene.store, () => otherWork(scene, worked)))
    const { session } = unwrap(await late.resumeSession({ session: worked.session.id, byHand: true }))
    unwrap(await scene.service.recordTurn({ session, holder: worked.holder, ...scene.turn() }))
    const messages = await kept.messages(session.conversationId)
    expect(messages.map(({ sequenceNumber }) => sequenceNumber)).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('a started session writes after what a resumed one wrote meanwhile', async () => {
    const { scene, kept } = await stage()
    const worked = await scene.worked()
    const { conversationId } = worked.session
    unwrap(await scene.service.pauseSession(worked))
    const meanwhile = async (): Promise<void> => {
      const { session } = unwrap(await scene.service.resumeSession({ session: worked.session.id, byHand: true }))
      const again = unwrap(await scene.service.recordTurn({ ...worked, session, ...scene.turn() }))
      unwrap(await scene.service.pauseSession(again))
    }
    const late = scene.serviceOver(interrupted(scene.store, meanwhile))
    const started = unwrap(await late.startSession({ conversationId, agentName: 'late', backend: 'scripted' }))
    expect(started.session.startSequence).toBe(5)
    unwrap(await scene.service.recordTurn({ ...started, ...scene.turn() }))
    const messages = await kept.messages(conversationId)
    expect(messages.map(({ sequenceNumber }) => sequenceNumber)).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('a snapshot shows the window as it is when the snapshot is kept', async () => {
    const { scene, kept } = await stage()
    const worked = await scene.worked()
    const meanwhile = async (): Promise<void> => {
      unwrap(await scene.service.recordTurn({ ...worked, ...scene.turn() }))
    }
    const late = scene.serviceOver(interrupted(scene.store, meanwhile))
    unwrap(await late.captureSnapshot({ session: worked.session.id }))
    expect((await kept.snapshots(worked.session.id)).at(-1)?.messages).toMatchObject({ user: 2, assistant: 2 })
  })

  it('a thread and its snapshot follow the turn that came meanwhile', async () => {
    const { scene, kept } = await stage()
    const worked = await scene.worked()
    const later: TurnsRecorded[] = []
    const meanwhile = async (): Promise<void> => {
      later.push(unwrap(await scene.service.recordTurn({ ...worked, ...scene.turn() })))
    }
    const late = scene.serviceOver(interrupted(scene.store, meanwhile))
    const request = { ...worked, session: worked.session.id, targetAgent: scene.name('opus'), reason: 'Aside' }
    const { handoff } = unwrap(await late.openThread(request))
    expect((await kept.handoff(handoff.id)).priorTurnId).toBe(later[0]?.turns[0]?.id)
    expect((await kept.snapshots(worked.session.id)).at(-1)?.messages).toMatchObject({ user: 2, assistant: 2 })
  })

  it('a turn whose holder was superseded meanwhile is not recorded', async () => {
    const { scene, kept } = await stage()
    const worked = await scene.worked()
    const meanwhile = async (): Promise<void> => {
      unwrap(await scene.service.takeOverSession({ session: worked.session.id }))
    }
    const late = scene.serviceOver(interrupted(scene.store, meanwhile))
    const result = await late.recordTurn({ ...worked, session: worked.session.id, ...scene.turn() })
    expect(result).toEqual({ ok: false, error: { code: 'session.superseded', sessionId: worked.session.id } })
    expect(await kept.messages(worked.session.conversationId)).toHaveLength(2)
  })
})
