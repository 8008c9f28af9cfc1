import assert from 'node:assert/strict'
import { type DataTable, Given, Then } from '@cucumber/cucumber'
import { taskOf } from '../../src/domain/conversation/conversation.ts'
import type { HandoffWorld } from '../support/world.ts'

Given('each prompt starts in a fresh window', function (this: HandoffWorld) {
  this.runs.alwaysFresh()
})

Then('sessions {int} and {int} share a window', async function (this: HandoffWorld, one: number, another: number) {
  const [first, second] = [await this.kept.sessionNumber(one), await this.kept.sessionNumber(another)]
  assert.ok(first.providerSessionId !== undefined)
  assert.equal(second.providerSessionId, first.providerSessionId)
})

Then(
  'sessions {int} and {int} do not share a window',
  async function (this: HandoffWorld, one: number, another: number) {
    const [first, second] = [await this.kept.sessionNumber(one), await this.kept.sessionNumber(another)]
    assert.ok(second.providerSessionId !== undefined)
    assert.notEqual(second.providerSessionId, first.providerSessionId)
  },
)

Then('there is no handoff', async function (this: HandoffWorld) {
  assert.deepEqual(await this.kept.handoffs(), [])
})

Then(
  'session {int} is told {string} and nothing else',
  async function (this: HandoffWorld, number: number, words: string) {
    assert.equal(await this.kept.opening(number), words)
  },
)

Then(
  'session {int} ends its opening with {string}',
  async function (this: HandoffWorld, number: number, words: string) {
    const opening = await this.kept.opening(number)
    assert.ok(opening.endsWith(words), opening)
  },
)

Then(
  'session {int} is told these words of the person, in this order:',
  async function (this: HandoffWorld, number: number, table: DataTable) {
    const opening = await this.kept.opening(number)
    const places = table.raw().map(([words = '']) => opening.indexOf(words))
    assert.ok(!places.includes(-1), opening)
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    )
  },
)

Then('the person said {string} once', async function (this: HandoffWorld, words: string) {
  const said = (await this.kept.messages()).filter(({ origin, text }) => origin === 'person' && text === words)
  assert.equal(said.length, 1)
})

Then('the task of the conversation is {string}', async function (this: HandoffWorld, words: string) {
  assert.equal(taskOf(await this.kept.conversation()), words)
})
