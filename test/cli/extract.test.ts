import { expect, it } from 'vitest'
import { createBatonpass, unwrap } from '../../src/entry/index.ts'
import { database } from './spawned.ts'
import { batonOn } from './terminal.ts'

it('baton handoffs show prints what was read back of a session that was left', async () => {
  const url = await database()
  await using batonpass = await createBatonpass({ database: url })
  const { handoffs } = batonpass
  const { conversation } = unwrap(await handoffs.openConversation({ originalTask: 'Fix it', externalKey: 'left' }))
  const agent = { conversationId: conversation.id, agentName: 'claude-code', backend: 'scripted' }
  const started = unwrap(await handoffs.startSession(agent))
  const messages = [{ role: 'assistant', text: 'Half of it.' }] as const
  const worked = unwrap(await handoffs.recordTurn({ ...started, messages }))
  const { handoff } = unwrap(await handoffs.initiateHandoff({ ...started, ...worked, targetAgent: 'opus' }))
  expect((await batonOn(url)('handoffs', 'show', handoff.id)).out).not.toContain('Read back')
  unwrap(await handoffs.keepExtract({ handoff, extract: 'assistant: I was about to\n\ntool call: Bash (toolu_7)' }))
  const { out } = await batonOn(url)('handoffs', 'show', '--key', 'left')
  expect(out).toMatch(/^Read back from its transcript:\n {2}assistant: I was about to$/m)
  expect(out).toMatch(/^ {2}tool call: Bash \(toolu_7\)$/m)
})
