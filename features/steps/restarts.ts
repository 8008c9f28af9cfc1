import assert from 'node:assert/strict'
import { Then } from '@cucumber/cucumber'
import type { HandoffWorld } from '../support/world.ts'

Then(
  'handoff {int} leads from session {int} to session {int}',
  async function (this: HandoffWorld, number: number, from: number, to: number) {
    const handoff = await this.kept.handoffNumber(number)
    assert.deepEqual([handoff.kind, handoff.status], ['context_restart', 'completed'])
    assert.equal(handoff.sourceSessionId, (await this.kept.sessionNumber(from)).id)
    assert.equal(handoff.status === 'completed' && handoff.targetSessionId, (await this.kept.sessionNumber(to)).id)
  },
)

Then(
  'handoff {int} names turn {int} of session {int} and the tools {tools}',
  async function (this: HandoffWorld, number: number, turn: number, session: number, tools: string[]) {
    const { priorTurnId, triggeringToolCalls } = await this.kept.handoffNumber(number)
    assert.equal(priorTurnId, (await this.kept.turnsIn(session))[turn - 1]?.id)
    assert.deepEqual(
      triggeringToolCalls.map(({ toolName }) => toolName),
      tools,
    )
  },
)

Then('the checkpoint of handoff {int} is {string}', async function (this: HandoffWorld, number: number, text: string) {
  assert.equal((await this.kept.handoffNumber(number)).document, text)
})

Then('handoff {int} has no checkpoint', async function (this: HandoffWorld, number: number) {
  assert.equal((await this.kept.handoffNumber(number)).document, undefined)
})

Then('handoff {int} is flagged {list}', async function (this: HandoffWorld, number: number, flags: string[]) {
  assert.deepEqual(
    (await this.kept.handoffNumber(number)).flags.map((flag) => flag.replaceAll('_', ' ')),
    flags,
  )
})

Then(
  'it was asked {int} times for the checkpoint of handoff {int}',
  async function (this: HandoffWorld, times: number, number: number) {
    assert.equal((await this.kept.handoffNumber(number)).checkpoint?.attempts, times)
  },
)

Then(
  'asked for checkpoint {int}, it was shown the calls {list}',
  function (this: HandoffWorld, number: number, calls: string[]) {
    const lines = this.runs.checkpointsAsked[number - 1]?.split('\n') ?? []
    assert.deepEqual(
      lines
        .slice(lines.indexOf('Tool calls on record, latest last:'))
        .flatMap((line) => /^- \S+ (.*)$/.exec(line)?.[1] ?? []),
      calls,
    )
  },
)

Then('asked for checkpoint {int}, it was told {string}', function (this: HandoffWorld, number: number, words: string) {
  const prompt = this.runs.checkpointsAsked[number - 1] ?? ''
  assert.ok(prompt.includes(words), prompt)
})

Then(
  'checkpoint {int} cites a call of session {int}',
  async function (this: HandoffWorld, number: number, session: number) {
    const { document = '', checkpoint } = await this.kept.handoffNumber(number)
    const calls = (await this.kept.turnsIn(session)).flatMap(({ toolCalls }) => toolCalls)
    assert.ok(
      calls.some(({ callId }) => document.includes(`[call:${callId}]`)),
      document,
    )
    assert.equal(checkpoint?.statements?.miscited, 0)
  },
)

Then(
  'handoff {int} says why there is none: {string}',
  async function (this: HandoffWorld, number: number, why: string) {
    assert.equal((await this.kept.handoffNumber(number)).checkpoint?.reason, why)
  },
)

Then('handoff {int} happened because {string}', async function (this: HandoffWorld, number: number, reason: string) {
  assert.equal((await this.kept.handoffNumber(number)).reason, reason)
})

Then(
  'of what the checkpoint says was done, {int} cites a recorded call, {int} cites none, and {int} a call that nobody made',
  async function (this: HandoffWorld, cited: number, uncited: number, miscited: number) {
    const { exempt: _, ...about } = (await this.kept.handoff()).checkpoint?.statements ?? { exempt: 0 }
    assert.deepEqual(about, { cited, uncited, miscited })
  },
)

Then(
  'the turn that filled the window, its milestone and the handoff were stored in one commit',
  async function (this: HandoffWorld) {
    const record = await this.kept.record()
    const commands = record.flatMap(({ event, commandId }) => (event.type === 'handoff.initiated' ? [commandId] : []))
    const together = record.filter(({ commandId }) => commandId === commands[0]).map(({ event }) => event.type)
    assert.ok(together.includes('turn.recorded') && together.includes('context.milestone_reached'), together.join())
  },
)
