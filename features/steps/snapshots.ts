import assert from 'node:assert/strict'
import { type DataTable, Then, When } from '@cucumber/cucumber'
import { type MessageSummary, totalMessages } from '../../src/domain/turn/message-summary.ts'
import { listed } from '../support/parameter-types.ts'
import type { HandoffWorld } from '../support/world.ts'

When('a snapshot of its window is taken', async function (this: HandoffWorld) {
  await this.agents.snapshot()
})

Then("a snapshot of {agent}'s window was captured for the handoff", async function (this: HandoffWorld, agent: string) {
  const { type, range } = await this.kept.snapshot(agent)
  const last = (await this.kept.turns(agent)).at(-1)
  assert.deepEqual([type, range?.end], ['handoff_initiated', last?.range.end])
})

Then(
  "the snapshot of {agent}'s window shows {int} user and {int} assistant messages",
  async function (this: HandoffWorld, agent: string, user: number, assistant: number) {
    assert.deepEqual((await this.kept.snapshot(agent)).messages, { user, assistant, tool: 0, system: 0 })
  },
)

Then(
  "the snapshot of {agent}'s window counts {summary}",
  async function (this: HandoffWorld, agent: string, summary: MessageSummary) {
    assert.deepEqual((await this.kept.snapshot(agent)).messages, summary)
  },
)

Then(
  "the snapshot of {agent}'s window counts {int} messages in all",
  async function (this: HandoffWorld, agent: string, total: number) {
    assert.equal(totalMessages((await this.kept.snapshot(agent)).messages), total)
  },
)

Then(
  "the snapshot of {agent}'s window covers the messages {int} to {int}",
  async function (this: HandoffWorld, agent: string, start: number, end: number) {
    assert.deepEqual((await this.kept.snapshot(agent)).range, { start, end })
  },
)

Then(
  "the snapshots of {agent}'s window are for {list}",
  async function (this: HandoffWorld, agent: string, types: string[]) {
    const taken = await this.kept.snapshots(agent)
    assert.deepEqual(
      taken.map(({ type }) => type.replace('_', ' ')),
      types,
    )
  },
)

Then(
  'the tool calls in view of {agent} are {tools}',
  async function (this: HandoffWorld, agent: string, tools: string[]) {
    assert.deepEqual(
      (await this.kept.snapshot(agent)).visibleToolCalls.map(({ toolName }) => toolName),
      tools,
    )
  },
)

Then("the snapshots of {agent}'s window show:", async function (this: HandoffWorld, agent: string, table: DataTable) {
  const shown = (await this.kept.snapshots(agent)).map(({ messages, visibleToolCalls }) => ({
    messages: totalMessages(messages),
    tools: visibleToolCalls.map(({ toolName }) => toolName),
  }))
  const expected = table
    .hashes()
    .map(({ messages, 'tools in view': tools = '' }) => ({ messages: Number(messages), tools: listed(tools) }))
  assert.deepEqual(shown, expected)
})

Then("the snapshot of {agent}'s window does not know the tokens", async function (this: HandoffWorld, agent: string) {
  assert.deepEqual((await this.kept.snapshot(agent)).usage, { state: 'unknown' })
})

Then(
  "the snapshot of {agent}'s window says that {int} tokens were sent and {int} added",
  async function (this: HandoffWorld, agent: string, promptTokens: number, outputTokens: number) {
    assert.deepEqual((await this.kept.snapshot(agent)).usage, { state: 'metered', promptTokens, outputTokens })
  },
)
