import { Given, When } from '@cucumber/cucumber'
import type { HandoffWorld } from '../support/world.ts'

When('it hands the conversation to {agent}', async function (this: HandoffWorld, target: string) {
  await this.handoffs.handTo(target)
})

When('it hands the conversation to tabs and line ends', async function (this: HandoffWorld) {
  await this.handoffs.handTo('\t\r\n')
})

When('{agent} hands the conversation to {agent}', async function (this: HandoffWorld, agent: string, target: string) {
  await this.handoffs.handTo(target, {}, agent)
})

When(
  'it hands the conversation to {agent} because {string}',
  async function (this: HandoffWorld, target: string, reason: string) {
    await this.handoffs.handTo(target, { reason })
  },
)

When(
  'it hands the conversation to {agent}, leaving the note {string}',
  async function (this: HandoffWorld, target: string, document: string) {
    await this.handoffs.handTo(target, { document })
  },
)

When(
  'it hands the conversation to {agent}, naming turn {int} and the tools {tools}',
  async function (this: HandoffWorld, target: string, turn: number, tools: string[]) {
    await this.handoffs.handToNaming(target, turn, tools)
  },
)

When(
  'it hands the conversation to {agent}, naming a turn of the other conversation',
  async function (this: HandoffWorld, target: string) {
    await this.handoffs.handToNamingTurnOf(this.named('stranger'), target)
  },
)

When(
  'it hands the conversation to {agent}, naming a tool call of the other conversation',
  async function (this: HandoffWorld, target: string) {
    await this.handoffs.handToNaming(target, 1, ['read_file', 'foreign'])
  },
)

When(
  'it hands the conversation to {agent}, naming a tool call that never happened',
  async function (this: HandoffWorld, target: string) {
    await this.handoffs.handTo(target, { toolCalls: ['never'] })
  },
)

When('somebody hands off an unknown session', async function (this: HandoffWorld) {
  await this.handoffs.handOffUnknown(this.named('opus'))
})

When('it restarts in a fresh window', async function (this: HandoffWorld) {
  await this.handoffs.restart()
})

Given('the conversation has passed to {agent}', async function (this: HandoffWorld, agent: string) {
  await this.handoffs.passTo(agent)
})

When('{agent} takes the handoff', async function (this: HandoffWorld, claimant: string) {
  await this.handoffs.take(claimant)
})

When(
  'the handoff is taken without a claim, opening with {string}',
  async function (this: HandoffWorld, continuation: string) {
    await this.handoffs.take(undefined, continuation)
  },
)

When('{agent} takes the handoff under the same command id', async function (this: HandoffWorld, claimant: string) {
  await this.handoffs.takeUnderLastId(claimant)
})

When('somebody takes an unknown handoff', async function (this: HandoffWorld) {
  await this.handoffs.takeUnknown(this.named('somebody'))
})

When('the handoff is cancelled because {string}', async function (this: HandoffWorld, reason: string) {
  await this.handoffs.cancel(reason)
})

When('the handoff is given up because {string}', async function (this: HandoffWorld, reason: string) {
  await this.handoffs.giveUp(reason)
})

When(
  'it opens a thread for {agent}, leaving the note {string}',
  async function (this: HandoffWorld, target: string, document: string) {
    await this.handoffs.openThread(target, { document })
  },
)

When(
  'it opens the thread {string} for {agent} to {string}',
  async function (this: HandoffWorld, key: string, target: string, originalTask: string) {
    await this.handoffs.openThread(target, { child: { externalKey: this.named(key), originalTask } })
  },
)

When(
  'the former process of {agent} hands the conversation to {agent}',
  async function (this: HandoffWorld, agent: string, target: string) {
    await this.handoffs.handAsFormer(agent, target)
  },
)

When(
  'somebody hands the conversation of {agent} to {agent} by hand',
  async function (this: HandoffWorld, agent: string, target: string) {
    await this.handoffs.handFromOutside(agent, target, { byHand: true })
  },
)

When(
  'somebody hands the conversation of {agent} to {agent} and says nothing of who they are',
  async function (this: HandoffWorld, agent: string, target: string) {
    await this.handoffs.handFromOutside(agent, target, {})
  },
)
