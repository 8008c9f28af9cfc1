import assert from 'node:assert/strict'
import { type DataTable, Given, Then } from '@cucumber/cucumber'
import type { HandoffWorld } from '../support/world.ts'

Given('only {int} thread may be open', function (this: HandoffWorld, maxOpen: number) {
  this.casts.limit({ fanOut: { maxOpen } })
})

Given('the agents get no fresh windows', function (this: HandoffWorld) {
  this.casts.limit({ budget: { maxRestarts: 0 } })
})

Then('the conversation has these threads:', async function (this: HandoffWorld, table: DataTable) {
  const { threads } = await this.kept.lineage()
  assert.deepEqual(
    threads.map(({ conversation, sessions, openedBy }) => ({
      task: conversation.originalTask,
      agent: sessions.at(-1)?.agentName,
      session: sessions.at(-1)?.state,
      flags: openedBy?.flags,
    })),
    table.hashes().map(({ task, agent = '', session }) => ({
      task,
      agent: this.named(agent),
      session,
      flags: ['delegated'],
    })),
  )
})

Then(
  'its thread {int} has the thread {string} of {string}',
  async function (this: HandoffWorld, number: number, task: string, agent: string) {
    const { threads } = await this.kept.lineage()
    const below = threads[number - 1]?.threads.map(({ conversation, sessions }) => [
      conversation.originalTask,
      sessions[0]?.agentName,
    ])
    assert.deepEqual(below, [[task, this.named(agent)]])
  },
)

Then('session {int} is told the outcome of each thread, once', async function (this: HandoffWorld, number: number) {
  const { id } = await this.kept.sessionNumber(number)
  const reports = await this.kept.reports()
  const handoffs = (await this.kept.handoffs()).filter(({ kind }) => kind === 'thread')
  assert.notEqual(handoffs.length, 0)
  assert.deepEqual(
    reports.map(({ sessionId, reports: handoff, origin }) => [sessionId, handoff, origin]),
    handoffs.map((handoff) => [id, handoff.id, 'batonpass']),
  )
})

Then(
  'the outcome of thread {int} has the words {string}',
  async function (this: HandoffWorld, number: number, words: string) {
    const report = (await this.kept.reports())[number - 1]
    assert.ok(report?.text.includes(words), report?.text)
  },
)
