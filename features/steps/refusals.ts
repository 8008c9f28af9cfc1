import assert from 'node:assert/strict'
import { Given, Then, When } from '@cucumber/cucumber'
import type { HandoffWorld } from '../support/world.ts'

Given("the store's next reply will be lost", function (this: HandoffWorld) {
  this.plan('reply_lost')
})

Given('the store will be down for a moment', function (this: HandoffWorld) {
  this.plan('unavailable')
})

Given('the next commit will be acknowledged, and lost with its server', function (this: HandoffWorld) {
  this.plan('acknowledged_and_lost')
})

When('the same command is sent again', async function (this: HandoffWorld) {
  await this.attempts.again()
})

When('the command that was refused is sent again', async function (this: HandoffWorld) {
  await this.attempts.refusedAgain()
})

Then('that is refused as {list}', function (this: HandoffWorld, codes: string[]) {
  assert.deepEqual(
    this.attempts.reasons.map(({ code }) => code),
    codes,
  )
})

Then('{int} is/are refused as {string}', function (this: HandoffWorld, count: number, code: string) {
  assert.deepEqual(
    this.attempts.refusals.map((refusal) => refusal.code),
    Array.from({ length: count }, () => code),
  )
})

Then('the person is told {string}', function (this: HandoffWorld, words: string) {
  assert.ok(this.told.includes(words), this.told)
})

Then('the refusal names what is in the way', async function (this: HandoffWorld) {
  const [reason] = this.attempts.reasons
  assert.ok(reason !== undefined)
  if ('handoffId' in reason) assert.equal(reason.handoffId, (await this.kept.handoff()).id)
  else assert.equal('sessionId' in reason && reason.sessionId, (await this.kept.activeSession())?.id)
})

Then('nothing was stored', async function (this: HandoffWorld) {
  assert.ok(this.attempts.before.length > 0, 'there was nothing to compare with')
  assert.deepEqual(await this.look(), this.attempts.before)
})

Then('the caller is told that the store failed and may be tried again', function (this: HandoffWorld) {
  assert.deepEqual([this.attempts.failure.code, this.attempts.failure.retryable], ['store.unavailable', true])
})

Then('the caller is told that the store was set back, which is not to be tried again', function (this: HandoffWorld) {
  assert.deepEqual([this.attempts.failure.code, this.attempts.failure.retryable], ['store.set_back', false])
})

Then('the failure names {string} and {string}', function (this: HandoffWorld, had: string, has: string) {
  for (const words of [had, has])
    assert.ok(this.attempts.failure.message.includes(words), this.attempts.failure.message)
})
