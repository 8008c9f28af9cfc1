import { expect, it } from 'vitest'
import { createBatonpass, everyPage, unwrap } from '../../src/entry/index.ts'
import { FixedClock } from '../../src/entry/testing.ts'

it('finds words in all conversations, the newest first, page by page, each message once', async () => {
  const clock = new FixedClock('2026-11-16T03:45:00Z')
  await using batonpass = await createBatonpass({ store: 'memory', clock })
  const { handoffs, history } = batonpass
  for (const name of ['one', 'two', 'three']) {
    clock.advance(60_000)
    const { conversation } = unwrap(await handoffs.openConversation({ originalTask: `Job ${name}` }))
    const agent = { agentName: 'claude-code', backend: 'scripted' }
    const started = unwrap(await handoffs.startSession({ conversationId: conversation.id, ...agent }))
    const turns = [1, 2].map((number) => ({ messages: [{ role: 'user' as const, text: `${name} flaky ${number}` }] }))
    unwrap(await handoffs.recordTurns({ ...started, turns }))
  }
  const found = ['three flaky 2', 'three flaky 1', 'two flaky 2', 'two flaky 1', 'one flaky 2', 'one flaky 1']
  for (const limit of [1, 2, 3, 100]) {
    const texts: string[] = []
    for await (const { passage } of everyPage((page) => history.search('FLAKY', page), { limit }))
      texts.push(passage.text)
    expect(texts).toEqual(found)
  }
  const { items } = await history.search('two flaky')
  expect(items.map(({ title }) => title)).toEqual(['Job two', 'Job two'])
  expect(await history.search('zebra')).toEqual({ items: [] })
  const { next } = await history.search('flaky', { limit: 1 })
  await expect(history.search('two', { after: next ?? '' })).rejects.toThrow(/cursor/)
  await expect(history.search(' ')).rejects.toThrow(/blank/)
})
