import assert from 'node:assert/strict'
import { type DataTable, Given, Then, When } from '@cucumber/cucumber'
import type { AuditEvent } from '../../src/domain/audit-event.ts'
import type { HandoffWorld } from '../support/world.ts'

Given(
  'these agents take part, in windows of {int} tokens:',
  function (this: HandoffWorld, tokens: number, table: DataTable) {
    this.casts.takePart(tokens, table.rows())
  },
)

When('{string} begins with {string}', function (this: HandoffWorld, agent: string, task: string) {
  return this.casts.begin(agent, task)
})

When(
  '{string} begins with {string}, and after its turn 1 somebody hands the work to {string}',
  function (this: HandoffWorld, agent: string, task: string, target: string) {
    return this.casts.beginWhile(agent, task, target)
  },
)

When(
  '{string} begins with {string}, and its process is lost after {string}',
  function (this: HandoffWorld, agent: string, task: string, last: string) {
    return this.casts.lose(agent, task, last as AuditEvent['type'])
  },
)

When('the same agents are run again', function (this: HandoffWorld) {
  return this.casts.runAgain()
})

Then('the sessions are of {list}', async function (this: HandoffWorld, agents: string[]) {
  assert.deepEqual(
    (await this.kept.sessions()).map(({ agentName }) => agentName),
    agents.map((agent) => this.named(agent)),
  )
})

Then('session {int} is told who handed the work over', async function (this: HandoffWorld, number: number) {
  const [source, opening] = [await this.kept.sessionNumber(number - 1), await this.kept.opening(number)]
  assert.ok(opening.includes(JSON.stringify(source.agentName)), opening)
})

Then(
  '1 handoff waits for {string}, with the checkpoint {string}',
  async function (this: HandoffWorld, agent: string, checkpoint: string) {
    const waiting = await this.pendingFor(this.named(agent))
    assert.deepEqual(
      waiting.map(({ document }) => document),
      [checkpoint],
    )
  },
)

Then('its last session has failed, because neither does anything', async function (this: HandoffWorld) {
  const last = (await this.kept.sessions()).at(-1)
  assert.ok(last?.state === 'failed' && last.endReason.includes('neither does anything'), JSON.stringify(last))
})

Then(
  'the conversation has {int} handoffs, and the last one failed',
  async function (this: HandoffWorld, count: number) {
    const handoffs = await this.kept.handoffs()
    assert.deepEqual([handoffs.length, handoffs.at(-1)?.status], [count, 'failed'])
  },
)

Then(
  'handoff {int} was carried out from session {int} to session {int}',
  async function (this: HandoffWorld, number: number, source: number, target: number) {
    const handoff = (await this.kept.handoffs())[number - 1]
    const [from, to] = [await this.kept.sessionNumber(source), await this.kept.sessionNumber(target)]
    assert.deepEqual(
      [handoff?.kind, handoff?.sourceSessionId, handoff?.status === 'completed' && handoff.targetSessionId],
      ['agent_transfer', from.id, to.id],
    )
  },
)
