import assert from 'node:assert/strict'
import { Given, Then, When } from '@cucumber/cucumber'
import type { AuditEvent } from '../../src/domain/audit-event.ts'
import { Machine } from '../support/machine.ts'
import type { HandoffWorld } from '../support/world.ts'

Given('its agent is a process of the same machine', function (this: HandoffWorld) {
  this.runs.behave({ machine: new Machine() })
})

Given('each request costs {float} dollars', function (this: HandoffWorld, requestUsd: number) {
  this.runs.behave({ requestUsd })
})

Given('it falls silent after {int} answer(s)', function (this: HandoffWorld, silentAfter: number) {
  this.runs.behave({ silentAfter })
})

Given('an agent may say nothing for {int} milliseconds', function (this: HandoffWorld, milliseconds: number) {
  this.runs.mayBeSilentFor(milliseconds)
})

When(
  'it is run on {string}, and its process is killed on the same machine after {step}',
  function (this: HandoffWorld, task: string, last: AuditEvent['type']) {
    return this.runs.kill(task, last)
  },
)

Then('agent {int} is still at work', function (this: HandoffWorld, number: number) {
  assert.deepEqual(this.runs.machine.atWork, [number])
})

Then('agent {int} was ended before agent {int} began', function (this: HandoffWorld, left: number, next: number) {
  const { log } = this.runs.machine
  const [ended, began] = [log.indexOf(`agent ${left} is ended`), log.indexOf(`agent ${next} begins`)]
  assert.ok(ended !== -1 && ended < began, log.join(', '))
})

Then('no agent is at work', function (this: HandoffWorld) {
  assert.deepEqual(this.runs.machine.atWork, [])
})

Then('the conversation has cost {float} dollars', async function (this: HandoffWorld, dollars: number) {
  const costUsd = await this.kept.cost()
  assert.ok(Math.abs(costUsd - dollars) < 1e-9, String(costUsd))
})
