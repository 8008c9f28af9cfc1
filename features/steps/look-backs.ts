import assert from 'node:assert/strict'
import { type DataTable, Given, Then, When } from '@cucumber/cucumber'
import type { MessageInput } from '../../src/domain/turn/turn.ts'
import type { HandoffWorld } from '../support/world.ts'

const calling = (toolName: string, argument: string, callId: string): MessageInput => ({
  ...{ role: 'assistant', text: '', toolCalls: [{ callId, toolName, argument }] },
})

Given(
  'it calls {string} on {string} as {string}, and the result is {string}',
  async function (this: HandoffWorld, tool: string, argument: string, callId: string, text: string) {
    const result = { role: 'tool', text, providerMessageId: callId } as const
    await this.agents.does([{ messages: [calling(tool, argument, callId)] }, { messages: [result] }])
  },
)

Given(
  'it calls {string} on {string} as {string}, and no result comes',
  async function (this: HandoffWorld, tool: string, argument: string, callId: string) {
    await this.agents.does([{ messages: [calling(tool, argument, callId)] }])
  },
)

When('{agent} looks back at the call {string}', async function (this: HandoffWorld, agent: string, callId: string) {
  await this.lookBacks.ask(agent, { by: 'call', callId })
})

When('{agent} looks back for the words {string}', async function (this: HandoffWorld, agent: string, words: string) {
  await this.lookBacks.ask(agent, { by: 'words', words })
})

When('{agent} looks back for the file {string}', async function (this: HandoffWorld, agent: string, name: string) {
  await this.lookBacks.ask(agent, { by: 'file', name })
})

/** Compares the answer with the record: each hit stands there as it was told. */
const foundTexts = async ({ lookBacks, kept }: HandoffWorld): Promise<readonly string[]> => {
  const messages = await kept.messages()
  return lookBacks.answer.found.map(({ sequenceNumber, passage }) => {
    const recorded = messages.find((message) => message.sequenceNumber === sequenceNumber)
    assert.equal(recorded?.text, passage.text)
    return passage.text
  })
}

Then(
  'it finds the recorded result {string} in window {int}',
  async function (this: HandoffWorld, text: string, window: number) {
    assert.equal((await foundTexts(this)).at(-1), text)
    assert.equal(this.lookBacks.answer.found.at(-1)?.epoch, window)
    assert.equal(this.lookBacks.answer.isWhole, true)
  },
)

Then('it finds the recorded texts {list}', async function (this: HandoffWorld, texts: string[]) {
  assert.deepEqual(await foundTexts(this), texts)
})

Then('it finds the recorded calls {list}', async function (this: HandoffWorld, callIds: string[]) {
  await foundTexts(this)
  assert.deepEqual(
    this.lookBacks.answer.found.flatMap(({ calls }) => calls.map(({ callId }) => callId)),
    callIds,
  )
})

Then('it is told that no result of the call is on record', async function (this: HandoffWorld) {
  assert.equal((await foundTexts(this)).length, 1)
  assert.equal(this.lookBacks.answer.isResultMissing, true)
})

Then('it finds nothing, and the question is on record in its thread', async function (this: HandoffWorld) {
  assert.deepEqual(this.lookBacks.answer.found, [])
  assert.equal((await (await this.kept.thread()).lookBacks()).length, 1)
  assert.equal((await this.kept.lookBacks()).length, 0)
})

Then('the questions on record are:', async function (this: HandoffWorld, table: DataTable) {
  const asked = await this.kept.lookBacks()
  assert.deepEqual(
    asked.map(({ epoch, by, text, found }) => [`${epoch}`, by, text, `${found}`]),
    table.rows(),
  )
})

Then('no question is on record', async function (this: HandoffWorld) {
  assert.deepEqual(await this.kept.lookBacks(), [])
})

Then(
  'the handoff to {agent} is the one whose successor looked back {int} time(s)',
  async function (this: HandoffWorld, agent: string, times: number) {
    const handoff = await this.kept.handoff()
    assert.equal(handoff.targetAgent, agent)
    const asked = await this.kept.lookBacks()
    assert.equal(asked.filter(({ handoffId }) => handoffId === handoff.id).length, times)
  },
)
