import assert from 'node:assert/strict'
import { Given, Then, When } from '@cucumber/cucumber'
import { claimOf } from '../../src/domain/handoff/handoff.ts'
import type { Deed } from '../support/handoffs-under-way.ts'
import { A_MOMENT_MS, type HandoffWorld } from '../support/world.ts'

Given('{int} conversations wait for {agent}', async function (this: HandoffWorld, count: number, agent: string) {
  await this.workers.queue(count, agent)
})

Given('{agent} waits for work for {agent}', function (this: HandoffWorld, claimant: string, agent: string) {
  this.workers.waitFor(agent, claimant)
})

Given('{agent} is told to stop waiting', async function (this: HandoffWorld, claimant: string) {
  await this.workers.stop(claimant)
})

When('{agent} has found work', async function (this: HandoffWorld, claimant: string) {
  await this.workers.found(claimant)
})

When('{agent} claims the handoff', async function (this: HandoffWorld, claimant: string) {
  await this.handoffs.claim(claimant)
})

When('{agent} claims the handoff for a moment', async function (this: HandoffWorld, claimant: string) {
  await this.handoffs.claim(claimant, A_MOMENT_MS)
})

When('{agent} renews its claim', async function (this: HandoffWorld, claimant: string) {
  await this.handoffs.renewClaim(claimant)
})

When('the deadline passes', async function (this: HandoffWorld) {
  await this.passDeadline()
})

When(
  '{agent} claims the next handoff for {agent}, for a moment',
  async function (this: HandoffWorld, claimant: string, agent: string) {
    await this.handoffs.claimNext(agent, claimant, A_MOMENT_MS)
  },
)

When(
  '{agent} claims the next handoff for {agent}',
  async function (this: HandoffWorld, claimant: string, agent: string) {
    await this.handoffs.claimNext(agent, claimant)
  },
)

When('{agent} tries to {deed} the handoff', async function (this: HandoffWorld, by: string, deed: Deed) {
  await this.handoffs.try(deed, by)
})

When('{int} workers claim the handoff at once', async function (this: HandoffWorld, count: number) {
  await this.handoffs.claimAtOnce(this.names('worker', count))
})

When('one claims, one takes, one cancels and one gives up the handoff at once', async function (this: HandoffWorld) {
  await this.handoffs.everythingAtOnce(this.named('worker-1'), this.named('worker-2'))
})

When(
  '{int} workers claim what waits for {agent} until nothing is left',
  async function (this: HandoffWorld, count: number, agent: string) {
    await this.workers.claimAll(agent, this.names('worker', count))
  },
)

Then('{int} handoff(s) wait(s) for {agent}', async function (this: HandoffWorld, count: number, agent: string) {
  assert.equal((await this.pendingFor(agent)).length, count)
})

Then('each of the waiting conversations was claimed exactly once', async function (this: HandoffWorld) {
  const records = await Promise.all(this.keptAll().map((kept) => kept.recordInWords()))
  const claims = records.map((record) => record.filter((entry) => entry === 'handoff accepted').length)
  assert.ok(claims.length > 0 && claims.every((count) => count === 1), `claims per conversation: ${claims}`)
})

Then('each of them is told who won', async function (this: HandoffWorld) {
  const winner = claimOf(await this.kept.handoff())?.claimant
  const named = this.attempts.refusals.map((refusal) => 'claimant' in refusal && refusal.claimant)
  assert.ok(winner !== undefined && named.length > 0 && named.every((claimant) => claimant === winner), `${named}`)
})

/** What the record says after a handoff was initiated, for each way it can be decided, and what its source is then. */
const DECIDED: Readonly<Record<string, string>> = {
  'handoff accepted': 'paused',
  'handoff accepted, handoff completed': 'handed_off',
  'handoff cancelled': 'active',
  'handoff failed': 'active',
}

Then('exactly one of the four decided what became of the handoff', async function (this: HandoffWorld) {
  const record = await this.kept.recordInWords()
  const after = record.slice(record.indexOf('handoff initiated') + 1).filter((entry) => entry.startsWith('handoff'))
  const { status } = await this.kept.handoff()
  const [source] = await this.kept.sessions()
  assert.equal(after.at(-1), `handoff ${status}`)
  assert.equal(DECIDED[after.join(', ')], source?.state)
  assert.equal(this.attempts.refusals.length, 3)
})
