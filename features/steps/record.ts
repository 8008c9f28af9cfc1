import assert from 'node:assert/strict'
import { type DataTable, Then } from '@cucumber/cucumber'
import type { Conversation } from '../../src/domain/conversation/conversation.ts'
import { foldHistory } from '../../src/domain/history/history.ts'
import type { LineageBranch } from '../../src/domain/history/lineage.ts'
import { withholdTexts } from '../../src/domain/kernel/texts.ts'
import type { HandoffWorld } from '../support/world.ts'

Then('the record reads:', async function (this: HandoffWorld, table: DataTable) {
  assert.deepEqual(await this.kept.recordInWords(), table.raw().flat())
})

Then('the record ends with:', async function (this: HandoffWorld, table: DataTable) {
  const expected = table.raw().flat()
  assert.deepEqual((await this.kept.recordInWords()).slice(-expected.length), expected)
})

Then('the record of the thread reads:', async function (this: HandoffWorld, table: DataTable) {
  assert.deepEqual(await (await this.kept.thread()).recordInWords(), table.raw().flat())
})

Then('the record has {int} {string}', async function (this: HandoffWorld, count: number, words: string) {
  assert.equal((await this.kept.recordInWords()).filter((entry) => entry === words).length, count)
})

Then('the record is numbered without a gap', async function (this: HandoffWorld) {
  const positions = (await this.kept.record()).map(({ position }) => position)
  assert.deepEqual(
    positions,
    positions.map((_, index) => index + 1),
  )
})

Then('the record does not mention {string}', async function (this: HandoffWorld, word: string) {
  const record = await this.kept.record()
  assert.ok(record.length > 0 && !JSON.stringify(record).includes(word))
})

Then('replaying the record gives the sessions and handoffs that are stored', async function (this: HandoffWorld) {
  const replayed = foldHistory((await this.kept.record()).map(({ event }) => event))
  assert.deepEqual([...replayed.sessions.values()], withholdTexts(await this.kept.sessions()))
  assert.deepEqual([...replayed.handoffs.values()], withholdTexts(await this.kept.handoffs()))
})

Then('the lineage shows the sessions:', async function (this: HandoffWorld, table: DataTable) {
  const { sessions } = await this.kept.lineage()
  assert.deepEqual(
    sessions.map(({ epoch, agentName, state }) => [`${epoch}`, this.shown(agentName), state.replace('_', ' ')]),
    table.rows(),
  )
})

Then('the lineage shows the handoffs:', async function (this: HandoffWorld, table: DataTable) {
  const { handoffs } = await this.kept.lineage()
  assert.deepEqual(
    handoffs.map((handoff) => [this.shown(handoff.sourceAgent), this.shown(handoff.targetAgent), handoff.status]),
    table.rows(),
  )
})

Then('each handoff of the lineage ended one session and began the next', async function (this: HandoffWorld) {
  const { sessions, handoffs } = await this.kept.lineage()
  const ids = handoffs.map(({ id }) => id)
  assert.ok(ids.length > 0)
  assert.deepEqual(
    sessions.map((session) => [
      session.initiatedByHandoff,
      session.state === 'handed_off' ? session.terminatedByHandoff : undefined,
    ]),
    sessions.map((_, index) => [ids[index - 1], ids[index]]),
  )
})

Then('the threads under the conversation are {path}', async function (this: HandoffWorld, tasks: string[]) {
  assert.deepEqual(tasksUnder(await this.kept.lineage()), tasks)
})

Then('the job {string} came from {path}', async function (this: HandoffWorld, job: string, tasks: string[]) {
  assert.deepEqual((await this.keptOf(job).lineage()).ancestors.map(taskOf), tasks)
})

const taskOf = ({ originalTask }: Conversation): string => originalTask

/** The tasks of the threads that grew out of a conversation, each before those that grew out of it. */
const tasksUnder = ({ threads }: LineageBranch): readonly string[] =>
  threads.flatMap((thread) => [taskOf(thread.conversation), ...tasksUnder(thread)])
