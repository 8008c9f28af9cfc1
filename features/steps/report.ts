import assert from 'node:assert/strict'
import { Then } from '@cucumber/cucumber'
import type { HandoffWorld } from '../support/world.ts'

Then('the report tells of a failed job, because {string}', async function (this: HandoffWorld, reason: string) {
  const { state, failures } = await this.kept.job()
  assert.deepEqual([state, failures.map((failure) => failure.reason)], ['failed', [reason]])
})

Then('the report tells of a job that waits for {agent}', async function (this: HandoffWorld, agent: string) {
  const { state, waits } = await this.kept.job()
  assert.deepEqual([state, waits.map((wait) => wait.for)], ['waiting', [{ agent }]])
})

Then(
  'the report tells of one job with {int} windows, of {agent} and {agent}',
  async function (this: HandoffWorld, windows: number, one: string, other: string) {
    const job = await this.kept.job()
    assert.deepEqual([job.windows.length, job.agents], [windows, [one, other]])
  },
)

Then(
  'the report tells of a finished job with {int} restart(s), for {float} dollars',
  async function (this: HandoffWorld, restarts: number, costUsd: number) {
    const job = await this.kept.job()
    assert.deepEqual([job.state, job.restarts, job.costUsd], ['finished', restarts, costUsd])
  },
)

Then('the report tells of an orphaned job', async function (this: HandoffWorld) {
  assert.equal((await this.kept.job()).state, 'orphaned')
})
