import assert from 'node:assert/strict'
import { Given, Then } from '@cucumber/cucumber'
import type { HandoffWorld } from '../support/world.ts'

Given('its tool {string} answers {string}', function (this: HandoffWorld, tool: string, result: string) {
  this.runs.toolAnswers(tool, result)
})

Given(
  'it takes tools, and looks up the call of {string} that window 1 made',
  function (this: HandoffWorld, callOf: string) {
    this.runs.looksUp({ callOf })
  },
)

Given('it takes tools, and looks up the words {string}', function (this: HandoffWorld, words: string) {
  this.runs.looksUp({ words })
})

Given('it is not to look back', function (this: HandoffWorld) {
  this.runs.switchLookingBackOff()
})

Given('no tool can be served', function (this: HandoffWorld) {
  this.runs.servesNoTools()
})

Then(
  'the tool look_back told session {int} {string}',
  async function (this: HandoffWorld, number: number, words: string) {
    const results = await this.kept.saidIn(number, 'tool')
    assert.ok(results[0]?.split('\n').includes(words), results.join('\n'))
  },
)

Then(
  'session {int} has asked about the call of {string} of session {int}, and no other question is on record',
  async function (this: HandoffWorld, asking: number, tool: string, source: number) {
    const calls = (await this.kept.turnsIn(source)).flatMap(({ toolCalls }) => toolCalls)
    const callId = calls.find(({ toolName }) => toolName === tool)?.callId
    assert.ok(callId !== undefined)
    const asked = (await this.kept.lookBacks()).map(({ epoch, by, text }) => [epoch, by, text])
    assert.deepEqual(asked, [[asking, 'call', callId]])
  },
)

Then('nothing of the run can be reached any more', async function (this: HandoffWorld) {
  const { toolsOffered } = this.runs
  assert.ok(toolsOffered.length > 0)
  for (const { url } of toolsOffered) await assert.rejects(fetch(url, { method: 'POST' }))
})
