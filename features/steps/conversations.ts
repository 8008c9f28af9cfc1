import assert from 'node:assert/strict'
import { Then } from '@cucumber/cucumber'
import type { Kept } from '../support/kept.ts'
import type { HandoffWorld } from '../support/world.ts'

Then('the job {string} is to {string}', async function (this: HandoffWorld, job: string, task: string) {
  assert.equal((await this.keptOf(job).conversation()).originalTask, task)
})

Then(
  'the conversation has the messages {int} to {int} without a gap',
  async function (this: HandoffWorld, first: number, last: number) {
    assert.deepEqual(
      (await this.kept.messages()).map(({ sequenceNumber }) => sequenceNumber),
      places(first, last),
    )
  },
)

Then('the messages were recorded by {agents}', async function (this: HandoffWorld, agents: string[]) {
  const sessions = new Map((await this.kept.sessions()).map(({ id, agentName }) => [id, agentName]))
  assert.deepEqual(
    (await this.kept.messages()).map(({ metadata }) => sessions.get(metadata.sessionId)),
    agents,
  )
})

Then(
  'message {int} is a user message that says {string}',
  async function (this: HandoffWorld, place: number, text: string) {
    assert.deepEqual(await message(this.kept, place), { role: 'user', text })
  },
)

Then('message {int} is a user message that says:', async function (this: HandoffWorld, place: number, text: string) {
  assert.deepEqual(withNonce(await message(this.kept, place)), { role: 'user', text })
})

Then('the thread opens with:', async function (this: HandoffWorld, text: string) {
  assert.deepEqual(withNonce(await message(await this.kept.thread(), 1)), { role: 'user', text })
})

/**
 * A message whose fences are written with the word NONCE, and whose times with TIME: they are others each time. A second
 * fence has the nonce of the first and a zero.
 */
const withNonce = (said: Awaited<ReturnType<typeof message>>): typeof said => {
  const nonce = /<(?:words|document)-([0-9a-f-]{36})>/.exec(said.text ?? '')?.[1]
  if (nonce === undefined) return said
  return { ...said, text: said.text?.replaceAll(nonce, 'NONCE').replaceAll(/^\[\S+Z\]$/gm, '[TIME]') }
}

Then('the thread is about {string}', async function (this: HandoffWorld, task: string) {
  const thread = await (await this.kept.thread()).conversation()
  assert.deepEqual([thread.originalTask, thread.parentId], [task, (await this.kept.conversation()).id])
})

Then('the thread works in the worktree {string}', async function (this: HandoffWorld, worktreePath: string) {
  assert.deepEqual((await (await this.kept.thread()).conversation()).workspace, { worktreePath })
})

Then("the thread's only session is the target of the handoff", async function (this: HandoffWorld) {
  const handoff = await this.kept.handoff()
  const sessions = await (await this.kept.thread()).sessions()
  assert.deepEqual(
    sessions.map(({ id, agentName, epoch, state }) => ({ id, agentName, epoch, state })),
    [{ id: targetOf(handoff), agentName: handoff.targetAgent, epoch: 1, state: 'active' }],
  )
})

const targetOf = (handoff: Awaited<ReturnType<Kept['handoff']>>): string | undefined =>
  handoff.status === 'completed' ? handoff.targetSessionId : undefined

const message = async (kept: Kept, place: number) => {
  const found = (await kept.messages()).find(({ sequenceNumber }) => sequenceNumber === place)
  return { role: found?.role, text: found?.text }
}

const places = (first: number, last: number): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index)
