import assert from 'node:assert/strict'
import { type DataTable, Given, Then, When } from '@cucumber/cucumber'
import type { SessionState } from '../../src/domain/session/agent-session.ts'
import { type MessageSummary, totalMessages } from '../../src/domain/turn/message-summary.ts'
import type { TurnInput } from '../../src/domain/turn/turn.ts'
import { listed } from '../support/parameter-types.ts'
import { plainTurns, turnHolding, turnOf } from '../support/turns.ts'
import type { HandoffWorld } from '../support/world.ts'

Given('a conversation about {string}', async function (this: HandoffWorld, task: string) {
  await this.agents.open(task)
})

Given('the job {string} is opened to {string}', async function (this: HandoffWorld, job: string, task: string) {
  await this.agents.open(task, job)
})

Given('{agent} is working on a conversation', async function (this: HandoffWorld, agent: string) {
  await this.agents.begin(agent)
})

Given('{agent} is working on {string}', async function (this: HandoffWorld, agent: string, task: string) {
  await this.agents.begin(agent, task)
})

Given(
  '{agent} is working on {string} in the worktree {string}',
  async function (this: HandoffWorld, agent: string, task: string, worktreePath: string) {
    await this.agents.begin(agent, task, { worktreePath })
  },
)

Given('it has done {int} turn(s)', async function (this: HandoffWorld, count: number) {
  await this.agents.does(plainTurns(count))
})

Given('it has done these turns:', async function (this: HandoffWorld, table: DataTable) {
  await this.agents.usesTools(
    table.hashes().map(({ answering = '', tools = '' }) => ({ answering, tools: listed(tools) })),
  )
})

Given(
  'it has done a turn that sent {int} tokens and added {int}',
  async function (this: HandoffWorld, promptTokens: number, outputTokens: number) {
    await this.agents.does([{ ...turnOf('user'), usage: { state: 'metered', promptTokens, outputTokens } }])
  },
)

Given(
  '{int} user and {int} assistant messages were exchanged',
  async function (this: HandoffWorld, user: number, assistant: number) {
    assert.equal(user, assistant, 'each user message is answered')
    await this.agents.does(plainTurns(user))
  },
)

Given('its window holds {summary}', async function (this: HandoffWorld, summary: MessageSummary) {
  if (totalMessages(summary) > 0) await this.agents.does([turnHolding(summary)])
})

Given('another conversation has turns and tool calls too', async function (this: HandoffWorld) {
  await this.workElsewhere()
})

When('{agent} starts a session', async function (this: HandoffWorld, agent: string) {
  await this.agents.start(agent)
})

When(
  '{agent} starts a session with the prompt {string}',
  async function (this: HandoffWorld, agent: string, prompt: string) {
    await this.agents.start(agent, prompt)
  },
)

When('{agent} and {agent} start a session at once', async function (this: HandoffWorld, one: string, other: string) {
  await this.agents.startTogether(one, other)
})

When('somebody starts a session in an unknown conversation', async function (this: HandoffWorld) {
  await this.agents.startNowhere(this.named('somebody'))
})

When('{agent} does {int} turn(s)', async function (this: HandoffWorld, agent: string, count: number) {
  await this.agents.does(plainTurns(count), agent)
})

When('it records {report}', async function (this: HandoffWorld, turns: readonly TurnInput[]) {
  await this.agents.does(turns)
})

When('it records a turn on the copy of the session it was given at the start', async function (this: HandoffWorld) {
  await this.agents.doesOnFirstCopy()
})

When("a new process takes over {agent}'s session", async function (this: HandoffWorld, agent: string) {
  await this.agents.takeOver(agent)
})

When('the former process of {agent} records a turn', async function (this: HandoffWorld, agent: string) {
  await this.agents.doesAsFormer(agent)
})

When('it pauses its session', async function (this: HandoffWorld) {
  await this.agents.pause()
})

When('it pauses its session in favour of {agent}', async function (this: HandoffWorld, agent: string) {
  await this.agents.pause()
  await this.agents.start(agent)
})

When('{agent} resumes its session', async function (this: HandoffWorld, agent: string) {
  await this.agents.resume(agent)
})

When('it completes its session', async function (this: HandoffWorld) {
  await this.agents.complete()
})

When('it gives its session up because {string}', async function (this: HandoffWorld, reason: string) {
  await this.agents.fail(reason)
})

Then("{agent}'s session is {state}", async function (this: HandoffWorld, agent: string, state: SessionState) {
  assert.equal((await this.kept.session(agent)).state, state)
})

Then(
  "{agent}'s session is number {int} in the conversation",
  async function (this: HandoffWorld, agent: string, epoch: number) {
    assert.equal((await this.kept.session(agent)).epoch, epoch)
  },
)

Then("{agent}'s session begins with message {int}", async function (this: HandoffWorld, agent: string, place: number) {
  assert.equal((await this.kept.session(agent)).startSequence, place)
})

Then("{agent}'s session ended with message {int}", async function (this: HandoffWorld, agent: string, place: number) {
  const session = await this.kept.session(agent)
  assert.equal('endSequence' in session && session.endSequence, place)
})

Then("{agent}'s session failed because {string}", async function (this: HandoffWorld, agent: string, reason: string) {
  const session = await this.kept.session(agent)
  assert.equal(session.state === 'failed' && session.endReason, reason)
})

const LEFT_OVERS = ['heldBy', 'endedAt', 'endSequence', 'endReason', 'terminatedByHandoff']

Then("{agent}'s session has no end and no handoff behind it", async function (this: HandoffWorld, agent: string) {
  const session = await this.kept.session(agent)
  assert.deepEqual(
    [...LEFT_OVERS, 'initiatedByHandoff'].filter((fact) => fact in session),
    [],
  )
})

Then("{agent}'s session is active with nothing left over", async function (this: HandoffWorld, agent: string) {
  const session = await this.kept.session(agent)
  assert.equal(session.state, 'active')
  assert.deepEqual(
    LEFT_OVERS.filter((fact) => fact in session),
    [],
  )
})

Then("{agent}'s session has {int} turn(s)", async function (this: HandoffWorld, agent: string, count: number) {
  const numbers = (await this.kept.turns(agent)).map((turn) => turn.number)
  assert.deepEqual(
    numbers,
    Array.from({ length: count }, (_, index) => index + 1),
  )
})

Then('nobody is at work on the conversation', async function (this: HandoffWorld) {
  assert.equal(await this.kept.activeSession(), undefined)
})

Then("the conversation's sessions are those of {agents}", async function (this: HandoffWorld, agents: string[]) {
  assert.deepEqual(
    (await this.kept.sessions()).map(({ agentName }) => agentName),
    agents,
  )
})

Then(
  'the conversation has {int} sessions, of which {int} is active',
  async function (this: HandoffWorld, count: number, active: number) {
    const states = (await this.kept.sessions()).map(({ state }) => state)
    assert.deepEqual([states.length, states.filter((state) => state === 'active').length], [count, active])
  },
)
