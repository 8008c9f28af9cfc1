import assert from 'node:assert/strict'
import { Given, Then, When } from '@cucumber/cucumber'
import type { AuditEvent } from '../../src/domain/audit-event.ts'
import type { Kept } from '../support/kept.ts'
import type { HandoffWorld } from '../support/world.ts'

Given(
  '{string} hands the job {string} to {string}, leaving {string}',
  function (this: HandoffWorld, agent: string, job: string, to: string, document: string) {
    return this.fleet.hand(agent, job, to, document)
  },
)

Given('{string} hands {int} jobs to {string}', function (this: HandoffWorld, agent: string, count: number, to: string) {
  return this.fleet.handMany(agent, count, to)
})

Given(
  '{string} hands what it has done to {string}, leaving {string}',
  function (this: HandoffWorld, agent: string, to: string, document: string) {
    this.fleet.passesOn(agent, to, document)
  },
)

const LOST = {
  'once it has claimed the handoff': 'handoff.accepted',
  'once it has taken up the handoff': 'handoff.completed',
  'once its agent has answered': 'turn.recorded',
} as const satisfies Record<string, AuditEvent['type']>

for (const [when, last] of Object.entries(LOST))
  Given(`a worker for {string} is lost ${when}`, function (this: HandoffWorld, agent: string) {
    return this.fleet.lose(agent, last)
  })

Given(
  '{int} workers claimed the job {string}, and were lost before they took it up',
  function (this: HandoffWorld, count: number, job: string) {
    return this.fleet.claimAndLose(job, count)
  },
)

When('a worker for {list} works until nothing waits', function (this: HandoffWorld, agents: string[]) {
  return this.fleet.workOff([agents])
})

When(
  'a worker for {string} works until nothing waits for {string}',
  function (this: HandoffWorld, agent: string, _waits: string) {
    return this.fleet.workOff([[agent]])
  },
)

When(
  '{int} workers for {string} work at once until nothing waits',
  function (this: HandoffWorld, count: number, agent: string) {
    return this.fleet.workOff(Array.from({ length: count }, () => [agent]))
  },
)

When(
  'a worker for {string} and a worker for {string} work at once until nothing waits',
  function (this: HandoffWorld, one: string, other: string) {
    return this.fleet.workOff([[one], [other]])
  },
)

When(
  'a worker for {string} that allows {int} claims works until nothing waits',
  function (this: HandoffWorld, agent: string, maxClaims: number) {
    return this.fleet.workOff([[agent]], { maxClaims })
  },
)

When('a worker for {string} is told to stop during its first job', function (this: HandoffWorld, agent: string) {
  return this.fleet.drain(agent)
})

/** One session after the other, each of the next agent, and one handoff between two of them. */
const doneBy = async (kept: Kept, agents: readonly string[]): Promise<void> => {
  const sessions = await kept.sessions()
  assert.deepEqual(
    sessions.map(({ agentName, state }) => [agentName, state]),
    agents.map((agent, index) => [agent, index < agents.length - 1 ? 'handed_off' : 'completed']),
  )
  assert.deepEqual(
    (await kept.handoffs()).map(({ status, targetAgent }) => [status, targetAgent]),
    agents.slice(1).map((agent) => ['completed', agent]),
  )
  for (const { epoch } of sessions) {
    const calls = (await kept.turnsIn(epoch)).flatMap(({ toolCalls }) => toolCalls)
    assert.equal(calls.length, 1, `the work of session ${epoch}, done once`)
  }
}

Then('the job {string} was done by {agents}', function (this: HandoffWorld, job: string, agents: string[]) {
  return doneBy(this.keptOf(job), agents)
})

Then(
  'each of the {int} jobs was done by {agents}',
  async function (this: HandoffWorld, count: number, agents: string[]) {
    assert.equal(this.fleet.jobs.length, count)
    for (const job of this.fleet.jobs) await doneBy(this.keptOf(job), agents)
  },
)

Then('{int} of the jobs was done by {agents}', async function (this: HandoffWorld, count: number, agents: string[]) {
  const sessions = await Promise.all(this.fleet.jobs.map((job) => this.keptOf(job).sessions()))
  const done = this.fleet.jobs.filter((_, index) => (sessions[index]?.length ?? 0) > 1)
  assert.equal(done.length, count)
  for (const job of done) await doneBy(this.keptOf(job), agents)
})

const wasTold = async (kept: Kept, words: readonly string[]): Promise<void> => {
  const last = (await kept.sessions()).at(-1)?.epoch ?? 0
  assert.ok(last > 1, 'somebody took it up')
  const opening = await kept.opening(last)
  for (const part of words) assert.ok(opening.includes(part), opening)
}

Then(
  'the worker that took the job {string} was told {string} and {string}',
  function (this: HandoffWorld, job: string, task: string, words: string) {
    return wasTold(this.keptOf(job), [task, words])
  },
)

Then(
  'the worker that took the job {string} last was told {string} and {string}',
  function (this: HandoffWorld, job: string, task: string, words: string) {
    return wasTold(this.keptOf(job), [task, words])
  },
)

Then(
  'in the job {string}, {agent} and {agent} had workers of their own',
  async function (this: HandoffWorld, job: string, one: string, other: string) {
    const kept = this.keptOf(job)
    const workers = [await kept.session(one), await kept.session(other)].map(({ backend }) => backend.split(' at ')[1])
    assert.equal(new Set(workers).size, 2, workers.join())
  },
)

Then(
  'the handoff of the job {string} has failed, because it {string}',
  async function (this: HandoffWorld, job: string, why: string) {
    const handoff = await this.keptOf(job).handoff()
    assert.ok(handoff.status === 'failed' && handoff.endReason.includes(why), JSON.stringify(handoff))
  },
)

Then('nobody took up the job {string}', async function (this: HandoffWorld, job: string) {
  assert.equal((await this.keptOf(job).sessions()).length, 1)
})

Then('the jobs were taken up by {agents}, in this order', async function (this: HandoffWorld, agents: string[]) {
  const taken = await Promise.all(this.fleet.jobs.map((job) => this.keptOf(job).sessionNumber(2)))
  assert.deepEqual(
    taken.toSorted((a, b) => Date.parse(a.startedAt) - Date.parse(b.startedAt)).map(({ agentName }) => agentName),
    agents,
  )
})
