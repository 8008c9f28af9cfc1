import assert from 'node:assert/strict'
import { Given, Then } from '@cucumber/cucumber'
import type { MessageOrigin } from '../../src/domain/turn/message.ts'
import { listed } from '../support/parameter-types.ts'
import type { HandoffWorld } from '../support/world.ts'

const says = (origin: MessageOrigin) =>
  function (this: HandoffWorld, window: number, text: string) {
    this.runs.hears(window, { text, origin })
  }

Given('in its window {int} the agent prints {string} as the person', says('person'))
Given('in its window {int} the runtime says {string}', says('runtime'))
Given('in its window {int} a hook says {string}', says('hook'))

Given('the person says {string} to it', async function (this: HandoffWorld, text: string) {
  const answer = { role: 'assistant', text: 'Understood.' } as const
  await this.agents.does([{ messages: [{ role: 'user', text }, answer] }])
})

Given('the person sends it a text of {int} characters', async function (this: HandoffWorld, characters: number) {
  const answer = { role: 'assistant', text: 'Understood.' } as const
  await this.agents.does([{ messages: [{ role: 'user', text: 'x'.repeat(characters) }, answer] }])
})

Then(
  "session {int} is told the person's words {string}",
  async function (this: HandoffWorld, number: number, words: string) {
    const opening = await this.kept.opening(number)
    const [, , fenced = ''] = /<(words-[0-9a-f-]+)>\n([\s\S]*)\n<\/\1>/.exec(opening) ?? []
    const said = fenced.split('\n\n').map((entry) => entry.replace(/^\[\S+Z\]\n/, ''))
    assert.equal(said.join(', '), words)
    assert.ok(!opening.includes('<checkpoint-') || opening.indexOf(fenced) < opening.indexOf('<checkpoint-'), opening)
  },
)

Then(
  "the users' messages of session {int} come from {string}",
  async function (this: HandoffWorld, number: number, origins: string) {
    const { id } = await this.kept.sessionNumber(number)
    const said = (await this.kept.messages()).filter(({ sessionId, role }) => sessionId === id && role === 'user')
    assert.deepEqual(
      said.map(({ origin }) => origin),
      listed(origins),
    )
  },
)
