import assert from 'node:assert/strict'
import { Given, Then, When } from '@cucumber/cucumber'
import type { SessionState } from '../../src/domain/session/agent-session.ts'
import type { HandoffWorld } from '../support/world.ts'

const AGENT = 'claude-code'

Given('the terminal {string} starts', function (this: HandoffWorld, name: string) {
  return this.terminals.start(name)
})

Given(
  'the terminal {string} has started the terminal {string}',
  function (this: HandoffWorld, parent: string, name: string) {
    return this.terminals.startChild(name, parent)
  },
)

Given('the terminal {string} ends', function (this: HandoffWorld, name: string) {
  return this.terminals.end(name)
})

Given(
  'its agent has answered {string} with {int} tokens sent',
  function (this: HandoffWorld, text: string, tokens: number) {
    this.terminals.answers(text, tokens)
  },
)

Given(
  'its agent has asked for a handoff to {string} with the document {string}',
  function (this: HandoffWorld, agent: string, document: string) {
    return this.terminals.requestHandoff(document, agent)
  },
)

When('the terminal {string} is resumed', function (this: HandoffWorld, name: string) {
  return this.terminals.start(name, 'resume')
})

When(
  'the terminal {string} is cleared and continues as {string}',
  function (this: HandoffWorld, name: string, next: string) {
    return this.terminals.clear(name, next)
  },
)

When('the service is started again', function (this: HandoffWorld) {
  return this.terminals.restartService()
})

When(
  'the terminal {string} reports a window that is {int} percent full',
  function (this: HandoffWorld, name: string, percent: number) {
    return this.terminals.draw(name, percent)
  },
)

When('its person asks something, and its agent is told all that waits', function (this: HandoffWorld) {
  return this.terminals.ask()
})

When('its agent stops', function (this: HandoffWorld) {
  return this.terminals.stop()
})

When('the window of the terminal {string} is compacted', function (this: HandoffWorld, name: string) {
  return this.terminals.compact(name)
})

When(
  'the window of the terminal {string} is compacted at {int} tokens',
  function (this: HandoffWorld, name: string, tokens: number) {
    return this.terminals.compact(name, tokens)
  },
)

Then('its person was told {string}', function (this: HandoffWorld, sentence: string) {
  assert.equal(this.terminals.notice, sentence)
})

Then(
  'the terminal {string} has {int} session(s), the last of which is {state}',
  async function (this: HandoffWorld, name: string, count: number, state: SessionState) {
    const sessions = await this.keptTerminal(name).sessions()
    assert.deepEqual([sessions.length, sessions.at(-1)?.state], [count, state])
  },
)

Then('only the terminal {string} is on record', async function (this: HandoffWorld, name: string) {
  const { sessionId } = (await this.keptTerminal(name).monitor(AGENT)) ?? {}
  assert.deepEqual(
    (await this.keptTerminal(name).sessions()).map(({ id }) => id),
    [sessionId],
  )
})

Then('the terminal {string} is told that nobody knows it', async function (this: HandoffWorld, name: string) {
  assert.equal(this.terminals.answer?.outcome, 'unknown_session')
  await assert.rejects(this.keptTerminal(name).conversation())
})

Then(
  '{list} wait(s) for the agent of the terminal {string}',
  async function (this: HandoffWorld, milestones: string[], name: string) {
    const waiting = await this.keptTerminal(name).waiting(AGENT)
    assert.deepEqual(
      waiting.map(({ milestone }) => milestone),
      milestones,
    )
  },
)

Then('nothing waits for the agent of the terminal {string}', async function (this: HandoffWorld, name: string) {
  assert.deepEqual(await this.keptTerminal(name).waiting(AGENT), [])
})

Then(
  'the agent of the terminal {string} was told of {list}',
  async function (this: HandoffWorld, name: string, milestones: string[]) {
    const told = await this.keptTerminal(name).signals(AGENT)
    assert.deepEqual(
      told.filter(({ status }) => status === 'delivered').map(({ milestone }) => milestone),
      milestones,
    )
  },
)

Then(
  '{list} was/were withdrawn from the agent of the terminal {string}',
  async function (this: HandoffWorld, milestones: string[], name: string) {
    const all = await this.keptTerminal(name).signals(AGENT)
    assert.deepEqual(
      all.filter(({ status }) => status === 'withdrawn').map(({ milestone }) => milestone),
      milestones,
    )
  },
)

Then('the window of the terminal {string} was truncated once', async function (this: HandoffWorld, name: string) {
  const snapshots = await this.keptTerminal(name).snapshots(AGENT)
  assert.equal(snapshots.filter(({ type }) => type === 'truncation').length, 1)
})

Then(
  'the agent of the terminal {string} is in cycle {int}',
  async function (this: HandoffWorld, name: string, cycle: number) {
    assert.equal((await this.keptTerminal(name).monitor(AGENT)).cycle, cycle)
  },
)

Then(
  'the agent of the terminal {string} has said {string}',
  async function (this: HandoffWorld, name: string, text: string) {
    const messages = await this.keptTerminal(name).messages()
    assert.deepEqual(
      messages.filter(({ role }) => role === 'assistant').map((message) => message.text),
      [text],
    )
  },
)

When('the agent in the terminal {string} becomes idle', function (this: HandoffWorld, name: string) {
  return this.terminals.stops(name)
})

Then(
  'the words of the terminal {string} are on record with {string} and without {string}',
  async function (this: HandoffWorld, name: string, mark: string, secret: string) {
    const said = (await this.keptTerminal(name).messages()).map(({ text }) => text).join('\n')
    assert.ok(said.includes(mark), `"${mark}" is not in "${said}"`)
    assert.ok(!said.includes(secret), `"${secret}" is on record`)
  },
)
