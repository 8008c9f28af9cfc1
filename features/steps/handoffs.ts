import assert from 'node:assert/strict'
import { Then } from '@cucumber/cucumber'
import { claimOf, type HandoffKind, type HandoffStatus } from '../../src/domain/handoff/handoff.ts'
import type { HandoffId } from '../../src/domain/kernel/ids.ts'
import type { MessageInHistory } from '../../src/domain/turn/message.ts'
import type { HandoffWorld } from '../support/world.ts'

Then('the handoff is {status}', async function (this: HandoffWorld, status: HandoffStatus) {
  assert.equal((await this.kept.handoff()).status, status)
})

Then('the handoff is a {kind}', async function (this: HandoffWorld, kind: HandoffKind) {
  assert.equal((await this.kept.handoff()).kind, kind)
})

Then("the conversation's handoffs are {list}", async function (this: HandoffWorld, statuses: string[]) {
  assert.deepEqual(
    (await this.kept.handoffs()).map(({ status }) => status),
    statuses,
  )
})

Then('the handoff goes from {agent} to {agent}', async function (this: HandoffWorld, source: string, target: string) {
  const { sourceAgent, targetAgent, sourceSessionId } = await this.kept.handoff()
  assert.deepEqual([sourceAgent, targetAgent], [source, target])
  assert.equal(sourceSessionId, (await this.kept.session(source)).id)
})

Then('the handoff happened because {string}', async function (this: HandoffWorld, reason: string) {
  assert.equal((await this.kept.handoff()).reason, reason)
})

Then('the handoff ended because {string}', async function (this: HandoffWorld, reason: string) {
  const handoff = await this.kept.handoff()
  assert.equal('endReason' in handoff && handoff.endReason, reason)
})

Then('the handoff points back to the last turn of {agent}', async function (this: HandoffWorld, agent: string) {
  assert.equal((await this.kept.handoff()).priorTurnId, (await this.kept.turns(agent)).at(-1)?.id)
})

Then(
  'the handoff points back to turn {int} of {agent}',
  async function (this: HandoffWorld, number: number, agent: string) {
    const turns = await this.kept.turns(agent)
    assert.equal((await this.kept.handoff()).priorTurnId, turns.find((turn) => turn.number === number)?.id)
  },
)

Then('the handoff names the tools {tools}', async function (this: HandoffWorld, tools: string[]) {
  assert.deepEqual(
    (await this.kept.handoff()).triggeringToolCalls.map(({ toolName }) => toolName),
    tools,
  )
})

Then(
  'the handoff refers to exactly the tool calls on record for {agent}',
  async function (this: HandoffWorld, agent: string) {
    const recorded = (await this.kept.turns(agent)).flatMap(({ toolCalls }) => toolCalls)
    assert.deepEqual((await this.kept.handoff()).triggeringToolCalls, recorded)
  },
)

Then('the handoff is claimed by {agent}', async function (this: HandoffWorld, claimant: string) {
  assert.equal(claimOf(await this.kept.handoff())?.claimant, claimant)
})

Then("{agent}'s session is held by the handoff", async function (this: HandoffWorld, agent: string) {
  const session = await this.kept.session(agent)
  assert.equal(session.state === 'paused' && session.heldBy, (await this.kept.handoff()).id)
})

Then("{agent}'s session was ended by the handoff", async function (this: HandoffWorld, agent: string) {
  const session = await this.kept.session(agent)
  assert.equal(session.state === 'handed_off' && session.terminatedByHandoff, (await this.kept.handoff()).id)
})

Then('{agent} has a new session that began with the handoff', async function (this: HandoffWorld, agent: string) {
  const [session, handoff] = [await this.kept.session(agent), await this.kept.handoff()]
  assert.equal(session.initiatedByHandoff, handoff.id)
  assert.equal(handoff.status === 'completed' && handoff.targetSessionId, session.id)
  assert.equal((await this.kept.activeSession())?.id, session.id)
})

Then("the handoff of {agent}'s session is open", async function (this: HandoffWorld, agent: string) {
  assert.equal((await this.kept.openHandoff(agent))?.id, (await this.kept.handoff()).id)
})

Then("no handoff of {agent}'s session is open", async function (this: HandoffWorld, agent: string) {
  assert.equal(await this.kept.openHandoff(agent), undefined)
})

Then(
  'only the messages {int} to {int} led to the handoff',
  async function (this: HandoffWorld, first: number, last: number) {
    const { id } = await this.kept.handoff()
    assert.deepEqual(
      span(await this.kept.messages(), id, ({ metadata }) => metadata.ledTo),
      [first, last],
    )
  },
)

Then(
  'only the messages {int} to {int} continue the handoff',
  async function (this: HandoffWorld, first: number, last: number) {
    const { id } = await this.kept.handoff()
    assert.deepEqual(
      span(await this.kept.messages(), id, ({ metadata }) => metadata.continues),
      [first, last],
    )
  },
)

/** The first and the last message that point at a handoff; anything else when there are gaps between them. */
const span = (
  messages: readonly MessageInHistory[],
  handoff: HandoffId,
  pointer: (message: MessageInHistory) => HandoffId | undefined,
): readonly (number | undefined)[] => {
  const pointing = messages.filter((message) => pointer(message) === handoff).map((message) => message.sequenceNumber)
  const [first, last] = [pointing[0], pointing.at(-1)]
  return pointing.length === Number(last) - Number(first) + 1 ? [first, last] : pointing
}
