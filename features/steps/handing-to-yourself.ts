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

When('the document is withdrawn', function (this: HandoffWorld) {
  return this.terminals.withdraw()
})

Then(
  'the terminal {string} has begun with {string} and {string}',
  function (this: HandoffWorld, name: string, one: string, other: string) {
    const text = this.terminals.begunWith(name) ?? ''
    for (const part of [one, other]) assert.ok(text.includes(part), `${part} is not in: ${text}`)
  },
)

Then('the terminal {string} has begun with nothing', function (this: HandoffWorld, name: string) {
  assert.equal(this.terminals.begunWith(name), undefined)
})

Then(
  'the terminal {string} continues the conversation of the terminal {string}',
  async function (this: HandoffWorld, name: string, before: string) {
    const [source, target] = [await this.terminals.sessionOf(before), await this.terminals.sessionOf(name)]
    assert.equal(target.conversationId, source.conversationId)
    assert.equal(target.epoch, source.epoch + 1)
    const handoff = await this.terminals.handoffTo(name)
    assert.deepEqual(
      [handoff?.status, handoff?.sourceSessionId, handoff?.priorTurnId],
      ['completed', source.id, source.progress.lastTurnId],
    )
  },
)

Then(
  'the terminal {string} has a conversation of its own, in which {string} was said',
  async function (this: HandoffWorld, name: string, words: string) {
    const { epoch } = await this.terminals.sessionOf(name)
    const messages = await this.keptTerminal(name).messages()
    assert.equal(epoch, 1)
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
    assert.equal((await this.terminals.sessionOf(name)).state, state)
  },
)
