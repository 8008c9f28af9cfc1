import assert from 'node:assert/strict'
import { Given, Then, When } from '@cucumber/cucumber'
import type { HandoffWorld } from '../support/world.ts'

Given('an agent has come half way in the thread {string}', function (this: HandoffWorld, name: string) {
  return this.threads.begin(name)
})

Given('a model writes the summaries', function (this: HandoffWorld) {
  this.threads.summariesByModel()
})

Given('summaries cannot be made', function (this: HandoffWorld) {
  this.threads.summariesFail()
})

Given('a summary waits for a moment only', function (this: HandoffWorld) {
  this.threads.waitAtMost(1)
})

Given('that moment has passed', function (this: HandoffWorld) {
  this.threads.passTime()
})

Given('summaries cannot be mirrored', function (this: HandoffWorld) {
  this.threads.mirrorFails()
})

Given('the memory file cannot be written any more', function (this: HandoffWorld) {
  this.threads.makeReadOnly(true)
})

Given('the memory file can be written again', function (this: HandoffWorld) {
  this.threads.makeReadOnly(false)
})

Given('a summary of the thread {string} is/was shown', function (this: HandoffWorld, name: string) {
  return this.threads.preview(name)
})

When('a summary of the thread {string} is asked for', function (this: HandoffWorld, name: string) {
  return this.threads.preview(name)
})

When('the person wants {string} in it', function (this: HandoffWorld, feedback: string) {
  return this.threads.refine(feedback)
})

When('the person writes {string} instead', function (this: HandoffWorld, text: string) {
  return this.threads.edit(text)
})

When('the person accepts it for the thread {string}', function (this: HandoffWorld, name: string) {
  return this.threads.accept(name)
})

When(
  'both are accepted at once, for the threads {string} and {string}',
  function (this: HandoffWorld, one: string, other: string) {
    return this.threads.acceptBoth(one, other)
  },
)

When('the person rejects it and begins the thread {string}', function (this: HandoffWorld, name: string) {
  return this.threads.reject(name)
})

When(
  'the person continues {string} without a handoff, in the thread {string}',
  function (this: HandoffWorld, parent: string, name: string) {
    return this.threads.continueWithout(parent, name)
  },
)

When('an editor adds {string} to the memory file', function (this: HandoffWorld, text: string) {
  this.threads.editFile(text)
})

When('an agent has worked in the thread {string}', function (this: HandoffWorld, name: string) {
  return this.threads.run(name)
})

When('the agent of the first thread says {string}', function (this: HandoffWorld, text: string) {
  return this.threads.workOn(text)
})

When('the workspace is cleaned up', async function (this: HandoffWorld) {
  await this.threads.cleanUp()
})

When('the store is away for the next command', function (this: HandoffWorld) {
  this.plan('unavailable')
})

Then('nothing was written: {string} has one session and no handoff', async function (this: HandoffWorld, name: string) {
  const kept = this.keptOf(name)
  assert.equal((await kept.sessions()).length, 1)
  assert.equal((await kept.handoffs()).length, 0)
  assert.equal(this.threads.text(), '# House rules\n\nBe kind.\n')
})

Then(
  'the thread {string} is a child of {string} and waits for its first exchange',
  async function (this: HandoffWorld, name: string, parent: string) {
    const child = await this.keptOf(name).conversation()
    const { id } = await this.keptOf(parent).conversation()
    assert.equal(child.parentId, id)
    const note = child.metadata as Readonly<Record<string, unknown>>
    assert.deepEqual([note.handoff_pending, note.handoff_source_thread_id], [true, id])
    const block = this.threads.block()
    assert.equal(block.state === 'held' && block.held.threadKey, this.named(name))
  },
)

Then(
  'its handoff from {string} names the last turn, the tool {string} and what was shown',
  async function (this: HandoffWorld, parent: string, tool: string) {
    const kept = this.keptOf(parent)
    const handoff = (await kept.handoffs()).at(-1)
    const turns = (await kept.sessions()).map(({ progress }) => progress.lastTurnId)
    assert.deepEqual([handoff?.kind, handoff?.status], ['thread', 'completed'])
    assert.ok(turns.includes(handoff?.priorTurnId))
    assert.deepEqual(
      handoff?.triggeringToolCalls.map(({ toolName }) => toolName),
      [tool],
    )
    assert.equal(handoff?.document, this.threads.draft().summary.text)
  },
)

Then('nothing of {string} was copied into {string}', async function (this: HandoffWorld, parent: string, name: string) {
  const said = (await this.keptOf(parent).messages()).map(({ text }) => text)
  const copied = (await this.keptOf(name).messages()).filter(({ text }) => said.includes(text))
  assert.ok(said.length > 0)
  assert.deepEqual(copied, [])
})

Then('the memory file has {string} for {string}', async function (this: HandoffWorld, text: string, name: string) {
  const block = this.threads.block()
  assert.ok(block.state === 'held' && block.held.summary.includes(text), block.state)
  assert.equal((await this.keptOf(name).conversation()).externalKey, this.named(name))
})

Then(
  'the history has the summary {string} of {string}, by {string}',
  async function (this: HandoffWorld, text: string, parent: string, model: string) {
    const [kept] = await this.keptOf(parent).summaries()
    assert.deepEqual([kept?.summary, kept?.modelUsed], [text, model])
  },
)

Then(
  'the history has no summary of {string}, whose thread {string} is open',
  async function (this: HandoffWorld, parent: string, name: string) {
    const child = await this.keptOf(name).conversation()
    assert.equal((await this.keptOf(parent).summaries()).length, 0)
    assert.equal(child.parentId, (await this.keptOf(parent).conversation()).id)
    assert.ok(this.threads.warnings[0]?.includes('the mirror is away'), this.threads.warnings.join())
  },
)

Then('the rest of the memory file has {string}', function (this: HandoffWorld, text: string) {
  assert.ok(this.threads.text().includes(`\n${text}\n`), this.threads.text())
})

Then(
  'the thread {string} is a child of {string}, without a summary or a handoff',
  async function (this: HandoffWorld, name: string, parent: string) {
    const child = await this.keptOf(name).conversation()
    assert.equal(child.parentId, (await this.keptOf(parent).conversation()).id)
    assert.equal((await this.keptOf(parent).handoffs()).length, 0)
    assert.equal((await this.keptOf(name).sessions()).length, 0)
    assert.equal(this.threads.text(), '# House rules\n\nBe kind.\n')
  },
)

Then('the thread handoff is refused as {string}', function (this: HandoffWorld, code: string) {
  assert.deepEqual(this.threads.refused, [code])
})

Then('the refusal says {string}', function (this: HandoffWorld, words: string) {
  assert.ok(this.shown(this.threads.told).includes(words), this.threads.told)
})

Then(
  'the draft is the first one, with its time, refined {int} times',
  async function (this: HandoffWorld, count: number) {
    const [first, last] = [this.threads.draft(1), this.threads.draft()]
    assert.deepEqual([last.id, last.createdAt, last.refinements], [first.id, first.createdAt, count])
    const source = await this.kept.conversation()
    assert.equal(last.source.conversationId, source.id)
  },
)

Then(
  'there is no thread {string}, and the block of {string} is free',
  async function (this: HandoffWorld, name: string, parent: string) {
    const kept = this.keptOf(parent)
    assert.equal((await kept.sessions()).length, 1)
    assert.equal((await kept.handoffs()).length, 0)
    await assert.rejects(this.keptOf(name).conversation())
    assert.equal(this.threads.block().state, 'free')
  },
)

Then(
  'one of {string} and {string} is open, and has the block',
  async function (this: HandoffWorld, one: string, other: string) {
    const block = this.threads.block()
    assert.ok(block.state === 'held')
    const winner = this.named(one) === block.held.threadKey ? one : other
    const loser = winner === one ? other : one
    assert.equal((await this.keptOf(winner).sessions()).length, 1)
    await assert.rejects(this.keptOf(loser).conversation())
  },
)

Then('the agent of {string} was launched with the summary', async function (this: HandoffWorld, name: string) {
  assert.equal(this.threads.launchedWith(name), 'held')
  const [session] = await this.keptOf(name).sessions()
  assert.ok((session?.progress.turns ?? 0) > 0)
})

Then('the agent of {string} was launched without a summary', async function (this: HandoffWorld, name: string) {
  assert.equal(this.threads.launchedWith(name), 'free')
  const [session] = await this.keptOf(name).sessions()
  assert.ok((session?.progress.turns ?? 0) > 0)
})

Then('the summary of {string} is out of the memory file', async function (this: HandoffWorld, name: string) {
  assert.equal(this.threads.block().state, 'free')
  const { metadata } = await this.keptOf(name).conversation()
  assert.equal((metadata as Readonly<Record<string, unknown>> | undefined)?.handoff_pending, false)
})

Then(
  'the summary of {string} is still in the memory file, and over',
  async function (this: HandoffWorld, name: string) {
    assert.equal(this.threads.block().state, 'held')
    const { metadata } = await this.keptOf(name).conversation()
    assert.equal((metadata as Readonly<Record<string, unknown>> | undefined)?.handoff_pending, false)
  },
)

Then(
  'the terminal {string} is the first session of the thread {string}',
  async function (this: HandoffWorld, terminal: string, name: string) {
    const sessions = await this.keptOf(name).sessions()
    assert.deepEqual(
      sessions.map(({ providerSessionId, progress }) => [providerSessionId, progress.turns]),
      [[this.terminals.idOf(terminal), 1]],
    )
  },
)

Then('the thread {string} has not begun', async function (this: HandoffWorld, name: string) {
  const [session] = await this.keptOf(name).sessions()
  assert.equal(session?.state, 'active')
  assert.equal(session?.providerSessionId, undefined)
})
