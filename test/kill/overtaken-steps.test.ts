import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/adapters/system/system-clock.ts'
import { uuidV7Ids } from '../../src/adapters/system/uuid-v7-ids.ts'
import { agentSessionId } from '../../src/domain/kernel/ids.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import { HandoffService } from '../../src/services/handoff-service.ts'
import { HandoffHistory } from '../../src/services/history/handoff-history.ts'
import { refusal } from '../../src/testing/expected-refusal.ts'

const SPOKEN = [{ role: 'assistant' as const, text: 'Done', toolCalls: [{ callId: 'call-1', toolName: 'work' }] }]

const started = async () => {
  const store = new MemoryStore({ clock: systemClock })
  const service = new HandoffService({ store, clock: systemClock, ids: uuidV7Ids })
  const { conversation } = unwrap(await service.openConversation({ originalTask: 'Fix the flaky test' }))
  const agent = { conversationId: conversation.id, agentName: 'worker', backend: 'file' }
  return { service, history: new HandoffHistory({ store }), working: unwrap(await service.startSession(agent)) }
}

const restarted = async () => {
  const { service, history, working } = await started()
  const worked = { ...working, ...unwrap(await service.recordTurn({ ...working, messages: SPOKEN })) }
  const { handoff } = unwrap(await service.restartSession({ ...worked, reason: 'Full' }))
  if (handoff === undefined) throw new Error('The budget had none left')
  return { service, history, handoff, holder: working.holder }
}

describe('a step of a restart', () => {
  const checkpoint = { outcome: 'kept' as const }

  it('is refused to the earlier holder of the source, and changes nothing', async () => {
    const { service, handoff, holder, history } = await restarted()
    unwrap(await service.takeOverSession({ session: handoff.sourceSessionId }))
    const stale = { handoff, holder }
    const prepared = { claimant: 'sleeper', continuation: 'Go on', targetSessionId: agentSessionId(uuidV7Ids.next()) }
    const steps = [
      await service.keepCheckpoint({ ...stale, document: 'Half', checkpoint }),
      await service.prepareHandoff({ ...stale, ...prepared }),
      await service.acceptHandoff({ ...stale, claimant: 'sleeper' }),
      await service.completeHandoff({ ...stale, claimant: 'sleeper' }),
      await service.failHandoff({ ...stale, reason: 'It was refused' }),
      await service.cancelHandoff({ ...stale, reason: 'Called off' }),
    ]
    expect(steps.map((step) => refusal(step).code)).toEqual(steps.map(() => 'session.superseded'))
    expect(await history.handoff(handoff.id)).toEqual(handoff)
  })

  it('is taken from the current holder of the source', async () => {
    const { service, handoff } = await restarted()
    const { holder } = unwrap(await service.takeOverSession({ session: handoff.sourceSessionId }))
    const kept = unwrap(await service.keepCheckpoint({ handoff, holder, document: 'Half', checkpoint }))
    const claimed = unwrap(await service.acceptHandoff({ handoff: kept.handoff, holder, claimant: 'next' }))
    const completed = unwrap(await service.completeHandoff({ handoff: claimed.handoff, holder, claimant: 'next' }))
    expect(completed.session.epoch).toBe(2)
  })
})

describe('a session launched again', () => {
  it('goes by its new name until a turn of it is recorded', async () => {
    const { service, working } = await started()
    const first = unwrap(await service.attachSession({ ...working, providerSessionId: 'came to nothing' }))
    const second = unwrap(await service.attachSession({ ...working, ...first, providerSessionId: 'works' }))
    expect(second.session.providerSessionId).toBe('works')
    const { session } = unwrap(await service.recordTurn({ ...working, ...second, messages: SPOKEN }))
    const third = await service.attachSession({ session, holder: working.holder, providerSessionId: 'too late' })
    expect(refusal(third).code).toBe('session.attached')
  })
})

describe('a restart of a session that was lost', () => {
  const restartAfterOneTurn = async (flags: readonly 'runtime_lost'[]) => {
    const { service, handoff } = await restarted()
    const next = unwrap(await service.completeHandoff({ handoff }))
    const worked = { ...next, ...unwrap(await service.recordTurn({ ...next, messages: SPOKEN })) }
    return unwrap(await service.restartSession({ ...worked, reason: 'Again', flags }))
  }

  it('is no sign of getting nowhere, unlike a window that was full at once', async () => {
    expect((await restartAfterOneTurn([])).refusedBy).toBe('no_progress')
    expect((await restartAfterOneTurn(['runtime_lost'])).handoff?.flags).toContain('runtime_lost')
  })
})
