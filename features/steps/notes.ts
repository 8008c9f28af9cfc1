import assert from 'node:assert/strict'
import { Given, Then, When } from '@cucumber/cucumber'
import type { HandoffWorld } from '../support/world.ts'

Given('the conversation is closed', async function (this: HandoffWorld) {
  await this.agents.close()
})

When('the conversation is reopened', async function (this: HandoffWorld) {
  await this.agents.reopen()
})

When('the conversation is noted with the ticket {string}', async function (this: HandoffWorld, ticket: string) {
  await this.agents.note({ ticket: this.named(ticket) })
})

Then('the conversation is closed on record', async function (this: HandoffWorld) {
  assert.notEqual((await this.kept.conversation()).closedAt, undefined)
})

Then('the conversation is open on record', async function (this: HandoffWorld) {
  assert.equal((await this.kept.conversation()).closedAt, undefined)
})

Then('the conversation is found by the ticket {string}', async function (this: HandoffWorld, ticket: string) {
  const { id } = await this.kept.conversation()
  assert.deepEqual(await this.kept.foundByNote({ ticket: this.named(ticket) }), [id])
})

Then('no conversation is found by the ticket {string}', async function (this: HandoffWorld, ticket: string) {
  assert.deepEqual(await this.kept.foundByNote({ ticket: this.named(ticket) }), [])
})

Then('the last entry of the record was done by hand', async function (this: HandoffWorld) {
  assert.equal((await this.kept.record()).at(-1)?.event.byHand, true)
})

Then('the last entry of the record was done by its holder', async function (this: HandoffWorld) {
  const last = (await this.kept.record()).at(-1)
  assert.ok(last !== undefined, 'nothing is on record')
  assert.equal(last.event.byHand, undefined)
})
