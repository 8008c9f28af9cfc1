import assert from 'node:assert/strict'
import { Given, Then, When } from '@cucumber/cucumber'
import type { SessionState } from '../../src/domain/session/agent-session.ts'
import type { HandoffWorld } from '../support/world.ts'

Given('its person has said {string}, and its agent has answered', function (this: HandoffWorld, prompt: string) {
  return this.terminals.exchange(prompt)
})

Given(
  'the person at the terminal {string} has said {string}, and its agent has answered',
  function (this: HandoffWorld, name: string, prompt: string) {
    return this.terminals.exchange(prompt, name)
  },
)

Given('its agent has left the document {string} for the next session', function (this: HandoffWorld, document: string) {
  return this.terminals.requestHandoff(document)
})

Given(
  'its person has left the document {string} for the next session',
  function (this: HandoffWorld, document: string) {
    return this.terminals.requestHandoff(document)
  },
)

Then(
  'its person is told that the terminal {string} begins with a document',
  function (this: HandoffWorld, name: string) {
    assert.match(
      this.terminals.noticeFor(name) ?? '',
      /^Batonpass: this session begins with the document that "claude-code"/,
    )
  },
)

When('the document is withdrawn', function (this: HandoffWorld) {
  return this.terminals.withdraw()
})

Then(
  'the terminal {string} has begun with {string} and {string}',
  async function (this: HandoffWorld, name: string, document: string, words: string) {
    const text = this.terminals.begunWith(name) ?? ''
    for (const part of [document, words]) assert.ok(text.includes(part), `${part} is not in: ${text}`)
    const messages = await this.keptTerminal(this.terminals.first).messages()
    assert.ok(messages.some((message) => message.origin === 'person' && message.text === words))
  },
)

Then('the terminal {string} has begun with nothing', async function (this: HandoffWorld, name: string) {
  assert.equal(this.terminals.begunWith(name), undefined)
  assert.equal((await this.keptTerminal(this.terminals.first).sessions()).length, 1)
})

Then(
  'the terminal {string} continues the conversation of the terminal {string}',
  async function (this: HandoffWorld, name: string, before: string) {
    const kept = this.keptTerminal(before)
    const [source, target] = await kept.sessions()
    assert.equal(target?.providerSessionId, this.terminals.idOf(name))
    const [handoff] = await kept.handoffs()
    assert.deepEqual(
      [handoff?.status, handoff?.id, handoff?.sourceSessionId, handoff?.priorTurnId],
      ['completed', target?.initiatedByHandoff, source?.id, source?.progress.lastTurnId],
    )
  },
)

Then(
  'the terminal {string} has a conversation of its own, in which {string} was said',
  async function (this: HandoffWorld, name: string, words: string) {
    const kept = this.keptTerminal(name)
    assert.equal((await kept.sessions()).length, 1)
    const messages = await kept.messages()
    assert.deepEqual(
      messages.filter(({ origin }) => origin === 'person').map(({ text }) => text),
      [words],
    )
  },
)

Then('no document waits', async function (this: HandoffWorld) {
  assert.equal(await this.terminals.waiting(), undefined)
})

Then('the document {string} waits', async function (this: HandoffWorld, document: string) {
  assert.equal((await this.terminals.waiting())?.document, document)
})

Then(
  'the session of the terminal {string} is {state}',
  async function (this: HandoffWorld, name: string, state: SessionState) {
    assert.equal((await this.keptTerminal(name).sessionNumber(1)).state, state)
  },
)
