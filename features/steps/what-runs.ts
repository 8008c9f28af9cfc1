import assert from 'node:assert/strict'
import { Then } from '@cucumber/cucumber'
import { heldBy } from '../../src/domain/session/agent-session.ts'
import { levelOf } from '../../src/domain/window/window-level.ts'
import type { UnfinishedSession } from '../../src/ports/store/unfinished-session.ts'
import type { HandoffWorld } from '../support/world.ts'

/** The one unfinished session of an agent. */
const shown = async (world: HandoffWorld, agent: string): Promise<UnfinishedSession> => {
  const found = (await world.kept.unfinished()).filter(({ session }) => session.agentName === agent)
  assert.equal(found.length, 1)
  return found[0] as UnfinishedSession
}

Then(
  '{agent} is shown as active, with its window {int} percent full',
  async function (this: HandoffWorld, agent: string, percent: number) {
    const { session, monitor } = await shown(this, agent)
    assert.equal(session.state, 'active')
    const level = levelOf(monitor)
    assert.equal(level.state === 'known' && Math.round(level.ratio * 100), percent)
  },
)

Then(
  '{agent} is shown as active, with its window at an unknown level',
  async function (this: HandoffWorld, agent: string) {
    const { session, monitor } = await shown(this, agent)
    assert.deepEqual([session.state, levelOf(monitor).state], ['active', 'unknown'])
  },
)

Then(
  '{int} signal(s) is/are shown as waiting for {agent}',
  async function (this: HandoffWorld, count: number, agent: string) {
    assert.equal((await shown(this, agent)).waitingSignals.count, count)
  },
)

Then('{agent} is shown as held by the handoff', async function (this: HandoffWorld, agent: string) {
  const { id } = await this.kept.handoff()
  assert.equal(heldBy((await shown(this, agent)).session), id)
})

Then('nothing but the session of {agent} is shown as running', async function (this: HandoffWorld, agent: string) {
  const names = (await this.kept.unfinished()).map(({ session }) => session.agentName)
  assert.deepEqual(names, [agent])
})

Then('nothing is shown as running', async function (this: HandoffWorld) {
  assert.deepEqual(await this.kept.unfinished(), [])
})
