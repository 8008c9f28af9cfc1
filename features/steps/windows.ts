import assert from 'node:assert/strict'
import { Given, Then, When } from '@cucumber/cucumber'
import type { PressurePolicy } from '../../src/domain/window/context-monitor.ts'
import { monitoredPressure } from '../../src/domain/window/context-monitor.ts'
import { milestonesAt } from '../../src/domain/window/milestone.ts'
import type { HandoffWorld } from '../support/world.ts'

Given('{agent} is working with a window of {int} tokens', function (this: HandoffWorld, agent: string, tokens: number) {
  return this.windows.begin(agent, tokens)
})

Given(
  '{agent} is working with a window of {int} tokens under the policy {string}',
  function (this: HandoffWorld, agent: string, tokens: number, policy: PressurePolicy) {
    return this.windows.begin(agent, tokens, policy)
  },
)

Given(
  '{agent} has started the session of {agent} elsewhere',
  function (this: HandoffWorld, parent: string, agent: string) {
    return this.windows.beginChild(agent, parent)
  },
)

Given('the watch over its window is switched off', function (this: HandoffWorld) {
  return this.windows.choose({ isEnabled: false })
})

When('its window is read at {list} percent', function (this: HandoffWorld, percents: string[]) {
  return this.windows.read(percents.map(Number))
})

When('the window of {agent} is read at {int} percent', function (this: HandoffWorld, agent: string, percent: number) {
  return this.windows.read([percent], agent)
})

When('another process reads its window at {list} percent', function (this: HandoffWorld, [percent]: string[]) {
  return this.windows.readElsewhere(Number(percent))
})

When(
  'a sample of {int} percent arrives that was taken at second {int}',
  function (this: HandoffWorld, percent: number, second: number) {
    return this.windows.readAt(percent, second)
  },
)

When('its runtime reports a compaction', function (this: HandoffWorld) {
  return this.windows.compacted()
})

When('its runtime reports a compaction at second {int}', function (this: HandoffWorld, second: number) {
  return this.windows.compacted(second)
})

When('the runtime of {agent} reports a compaction', function (this: HandoffWorld, agent: string) {
  return this.windows.compactedIn(agent)
})

When('its milestones become {list}', function (this: HandoffWorld, fractions: string[]) {
  return this.windows.choose({ milestones: milestonesAt(fractions.map(Number)) })
})

When(
  'it does a turn that fills {int} percent of its window, using {tools}',
  function (this: HandoffWorld, percent: number, tools: string[]) {
    return this.windows.fills(percent, tools)
  },
)

When('the restart is cancelled', function (this: HandoffWorld) {
  return this.windows.cancelRestart()
})

When('{agent} acknowledges what is urgent', function (this: HandoffWorld, agent: string) {
  return this.windows.acknowledgeUrgent(agent)
})

Then('{agent} was told of {list}', async function (this: HandoffWorld, agent: string, milestones: string[]) {
  const told = await this.keptWith(agent).signals(agent)
  assert.deepEqual(
    told.flatMap(({ kind, milestone, aboutId, recipientId }) =>
      kind === 'milestone' && aboutId === recipientId ? [milestone] : [],
    ),
    milestones,
  )
})

Then(/^"([^"]*)" was told "(.*)"$/, async function (this: HandoffWorld, agent: string, text: string) {
  const told = await this.kept.signals(this.named(agent))
  const shown = told.map((signal) => this.shown(signal.text).replace(/session [0-9a-f-]+/, 'session …'))
  assert.deepEqual(shown, [text])
})

Then('every listener was told that once', function (this: HandoffWorld) {
  assert.deepEqual(
    this.windows.announced.map(({ kind }) => kind),
    ['compaction'],
  )
})

Then(
  'the signal(s) {list} is/are waiting for {agent}',
  async function (this: HandoffWorld, milestones: string[], agent: string) {
    const waiting = await this.kept.waiting(agent)
    assert.deepEqual(
      waiting.map(({ milestone }) => milestone),
      milestones,
    )
  },
)

Then('no signal is waiting for {agent}', async function (this: HandoffWorld, agent: string) {
  assert.deepEqual(await this.kept.waiting(agent), [])
})

Then("{agent}'s window is {int} percent full", async function (this: HandoffWorld, agent: string, percent: number) {
  const pressure = monitoredPressure(await this.kept.monitor(agent))
  assert.equal(pressure.state === 'known' && pressure.ratio, percent / 100)
})

Then("nobody knows how full {agent}'s window is", async function (this: HandoffWorld, agent: string) {
  assert.equal(monitoredPressure(await this.kept.monitor(agent)).state, 'unknown')
})

Then(
  'the handoff is a context restart from {agent} to {agent} and is initiated',
  async function (this: HandoffWorld, source: string, target: string) {
    const { kind, status, sourceAgent, targetAgent } = await this.kept.handoff()
    assert.deepEqual([kind, status, sourceAgent, targetAgent], ['context_restart', 'initiated', source, target])
  },
)

Then(
  'the handoff names the last turn of {agent} and the tool calls {tools}',
  async function (this: HandoffWorld, agent: string, tools: string[]) {
    const { priorTurnId, triggeringToolCalls } = await this.kept.handoff()
    assert.equal(priorTurnId, (await this.kept.turns(agent)).at(-1)?.id)
    assert.deepEqual(
      triggeringToolCalls.map(({ toolName }) => toolName),
      tools,
    )
  },
)

Then('the session of {agent} is active and no handoff is open', async function (this: HandoffWorld, agent: string) {
  assert.equal((await this.kept.session(agent)).state, 'active')
  assert.equal(await this.kept.openHandoff(agent), undefined)
})

Then(
  'there are {int} restarts, of which {int} is open',
  async function (this: HandoffWorld, all: number, open: number) {
    const restarts = (await this.kept.handoffs()).filter(({ kind }) => kind === 'context_restart')
    assert.deepEqual([restarts.length, restarts.filter(({ status }) => status === 'initiated').length], [all, open])
  },
)
