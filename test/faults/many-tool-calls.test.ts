import { afterAll, describe, expect, it } from 'vitest'
import { unwrap } from '../../src/domain/unwrap.ts'
import { refusal } from '../../src/testing/expected-refusal.ts'
import { Scene } from '../../src/testing/scene.ts'
import { closeStores, openStore, STORE_KINDS } from '../support/stores.ts'

/** More than a two-byte number counts. */
const MANY = 32_768 + 2

afterAll(closeStores)

describe.each(STORE_KINDS)('more tool calls than a small number counts: %s', (kind) => {
  it('are recorded in one message, in order; a handoff names the last of them, and not all of them', async () => {
    const scene = new Scene(await openStore(kind))
    const toolCalls = Array.from({ length: MANY }, (_, n) => ({ callId: `call-${n}`, toolName: 'read_file' }))
    const messages = [{ role: 'assistant' as const, text: 'Reading all of it', toolCalls }]
    const worked = unwrap(await scene.service.recordTurn({ ...(await scene.session()), messages }))
    const callIds = toolCalls.map(({ callId }) => callId)
    const request = { ...worked, targetAgent: scene.name('opus'), reason: 'Too much' }
    const refused = refusal(await scene.service.initiateHandoff({ ...request, toolCalls: callIds }))
    expect(refused).toMatchObject({ code: 'input.invalid', fields: [{ field: 'toolCalls' }] })
    const { handoff } = unwrap(await scene.service.initiateHandoff({ ...request, toolCalls: callIds.slice(-2) }))
    const found = await scene.store.handoffs.find(handoff.id)
    expect(found?.triggeringToolCalls.map(({ callId }) => callId)).toEqual(callIds.slice(-2))
    const turn = await scene.store.messages.findTurn(handoff.priorTurnId)
    expect(turn?.toolCalls.map(({ callId }) => callId)).toEqual(callIds)
  })
})
