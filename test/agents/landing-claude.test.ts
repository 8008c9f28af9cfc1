import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createBatonpass, everyPage, type HandoffMetadata } from '../../src/entry/index.ts'
import type { Message } from '../../src/entry/ports.ts'
import { bash, NEEDS_PROC, RUNTIMES, runningIn, stage, uses } from './claude-stage.ts'
import type { Body } from './messages-api.ts'
import { PATIENT } from './patience.ts'

const EMPTY = uses(12, 20_000, 0, 40)
/** Above the critical milestone of either runtime's window, and below the one for a restart. */
const FILLING = uses(10, 1_000, 120_000, 60)
const CHECKPOINT = '<checkpoint>\n## Completed work\n- Said quokka [call:toolu_1]\n</checkpoint>'
const ASKS = 'Reply with the checkpoint alone'
const LAND = 'Bring it to an end, quokka.'

const textOf = (body: Body | undefined): string => JSON.stringify(body?.messages)

for (const [backend, make] of Object.entries(RUNTIMES)) {
  describe(`a soft landing of ${backend}, for real`, PATIENT, () => {
    it('is heard with the next tool result, and the work goes on in a fresh session', NEEDS_PROC, async (t) => {
      const windows = [
        [
          { tool: bash('echo quokka'), usage: EMPTY },
          { tool: bash('echo still-quokka'), usage: FILLING },
          // A tool that is at work while the agent is told: it ends once that was said.
          { tool: bash('until [ -e told ]; do sleep 0.1; done; sleep 0.5; echo heard'), usage: FILLING },
          { text: 'Saved it.\n\n[landed]', usage: FILLING },
        ],
        [{ text: 'Quokka, numbat.', usage: EMPTY }],
      ]
      const question = { prompt: ASKS, text: CHECKPOINT, usage: FILLING }
      const { api, home, runtime } = await stage(t, make, { windows, question })
      const batonpass = await createBatonpass({ store: 'memory' })
      t.after(() => batonpass.close())
      const about = { agent: 'claude', prompt: 'Say quokka and numbat.', policy: 'auto', softLanding: LAND } as const
      const run = batonpass.run({ runtime, workspace: { workingDirectory: home }, ...about })
      const told: string[] = []
      run.on(({ type }) => {
        if (type !== 'context:landing') return
        told.push(type)
        writeFileSync(join(home, 'told'), '')
      })
      const summary = await run.finish()
      deepEqual([summary.outcome, summary.restarts, summary.sessions, told.length], ['completed', 1, 2, 1])
      const turns = api.requests.filter((_, index) => api.asked[index] === 'turn')
      deepEqual(
        turns.map((body) => textOf(body).includes(LAND)),
        [false, false, false, true, false],
      )
      match(textOf(turns[3]), /make \[landed\] the last line of your answer/)
      ok(!textOf(turns[3]).includes('[Request interrupted'), 'nothing was cut')
      ok(textOf(turns[4]).includes('Said quokka'), 'the successor has the checkpoint')
      const messages: Message[] = []
      const passed: HandoffMetadata[] = []
      const { history, audit } = batonpass
      for await (const one of everyPage((page) => history.messages(summary.conversationId, page))) messages.push(one)
      for await (const one of everyPage((page) => history.handoffs(summary.conversationId, page))) passed.push(one)
      equal(messages.filter(({ role, text }) => role === 'system' && text.startsWith(LAND)).length, 1)
      equal(messages.filter(({ text }) => text.includes(LAND)).length, 1)
      match(passed[0]?.reason ?? '', /soft landing/)
      const verdict = await audit.verify(summary.conversationId)
      ok(verdict.ok && verdict.value.intact)
      deepEqual(runningIn(home), [])
    })

    it('that comes too late makes an agent that is done do nothing more', NEEDS_PROC, async (t) => {
      const turns = [
        { tool: bash('echo quokka'), usage: FILLING },
        { text: 'Quokka.', usage: FILLING },
        { text: 'This should not be asked for.', usage: FILLING },
      ]
      const { api, home, runtime } = await stage(t, make, { turns })
      const batonpass = await createBatonpass({ store: 'memory' })
      t.after(() => batonpass.close())
      const about = { agent: 'claude', prompt: 'Say quokka.', policy: 'auto', softLanding: LAND } as const
      const summary = await batonpass.run({ runtime, workspace: { workingDirectory: home }, ...about }).finish()
      deepEqual([summary.outcome, summary.restarts], ['completed', 0])
      equal(api.asked.filter((who) => who === 'turn').length, 2)
      deepEqual(runningIn(home), [])
    })
  })
}
