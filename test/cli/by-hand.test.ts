import { expect, it } from 'vitest'
import { createBatonpass, unwrap } from '../../src/entry/index.ts'
import { database } from './spawned.ts'
import { batonOn } from './terminal.ts'

it('what was done by hand is shown in the audit trail and with the handoff', async () => {
  const url = await database()
  await using batonpass = await createBatonpass({ database: url })
  const { handoffs } = batonpass
  const work = async (externalKey: string) => {
    const { conversation } = unwrap(await handoffs.openConversation({ originalTask: 'Fix it', externalKey }))
    const agent = { agentName: 'claude-code', backend: 'scripted' }
    const started = unwrap(await handoffs.startSession({ conversationId: conversation.id, ...agent }))
    const messages = [{ role: 'assistant' as const, text: 'Half.' }]
    return unwrap(await handoffs.recordTurn({ ...started, messages }))
  }
  const to = { targetAgent: 'opus', reason: 'Stuck' }
  unwrap(await handoffs.initiateHandoff({ ...(await work('own')), ...to }))
  const { session } = await work('outside')
  const { handoff } = unwrap(await handoffs.initiateHandoff({ session: session.id, byHand: true, ...to }))
  unwrap(await handoffs.cancelHandoff({ handoff, reason: 'Not now' }))
  const baton = batonOn(url)
  expect((await baton('handoffs', 'show', '--key', 'own')).out).not.toContain('by hand')
  expect((await baton('handoffs', 'show', '--key', 'outside')).out).toMatch(/^done by hand +initiated, cancelled$/m)
  const json = JSON.parse((await baton('handoffs', 'show', '--key', 'outside', '--json')).out)
  expect(json.byHand).toEqual(['initiated', 'cancelled'])
  const trail = (await baton('audit', 'trail', '--key', 'outside')).out
  expect(trail).toMatch(/ initiated.*\(by hand\)$/m)
  expect((await baton('audit', 'trail', '--key', 'own')).out).not.toContain('(by hand)')
})
