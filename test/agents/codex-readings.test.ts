import { deepEqual, equal, ok } from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '../../src/entry/container.ts'
import { createBatonpass } from '../../src/entry/index.ts'
import { MemoryStore } from '../../src/entry/memory.ts'
import { codexAt } from './codex-stage.ts'
import { PATIENT } from './patience.ts'
import { type CodexAnswer, startResponsesApi } from './responses-api.ts'

const REQUESTS = 8

/** What the API says a request used: of no two the same. */
const figures = (number: number) => ({ input: 10_000 + 1_000 * number, cached: 500 * number, output: 30 + number })

/** Runs the real Codex through so many requests, each of which runs these commands, and reads back what was recorded. */
const run = async (t: TestContext, { commands, waitMs }: { commands: number; waitMs: (number: number) => number }) => {
  const home = mkdtempSync(join(tmpdir(), 'batonpass-codex-'))
  t.after(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
  const log = join(home, 'ran')
  let number = 0
  await using api = await startResponsesApi(async (): Promise<CodexAnswer> => {
    number += 1
    await pause(waitMs(number))
    const own = number
    const names = Array.from({ length: commands }, (_, at) => (at === 0 ? `call_${own}` : `call_${own}_${at + 1}`))
    const said = own < REQUESTS ? { commands: names.map((name) => `echo ${name} >> ${log}`) } : { text: 'Done.' }
    return { ...said, ...figures(own) }
  })
  const store = new MemoryStore({ clock: systemClock })
  await using batonpass = await createBatonpass({ store })
  const about = { agent: 'codex', prompt: 'Do it.', model: 'gpt-5.5', workspace: { workingDirectory: home } }
  const summary = await batonpass.run({ runtime: codexAt(api.url, home), policy: 'auto', ...about }).finish()
  const { items: sessions } = await batonpass.history.sessions(summary.conversationId)
  ok(sessions[0])
  const { items: turns } = await batonpass.history.turns(sessions[0].id)
  const ran = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []
  const onRecord = (await store.messages.findToolCalls(summary.conversationId, ran)).map(({ callId }) => callId)
  return { summary, turns, ran, onRecord }
}

describe('what is read of the real Codex is what its API said, and what it ran is on record', PATIENT, () => {
  const ways: Readonly<Record<string, { commands: number; waitMs: (number: number) => number }>> = {
    'when answers come at once': { commands: 1, waitMs: () => 0 },
    'when answers take their time': { commands: 1, waitMs: () => 400 },
    'when several commands come at once': { commands: 4, waitMs: () => 0 },
    'when answers come in bursts, with pauses between': { commands: 2, waitMs: (n) => (n % 3 === 0 ? 600 : 0) },
  }
  for (const [how, way] of Object.entries(ways)) {
    it(how, async (t) => {
      const { summary, turns, ran, onRecord } = await run(t, way)
      deepEqual([summary.outcome, summary.restarts], ['completed', 0])
      deepEqual(
        turns.map(({ usage }) => usage.state === 'metered' && [usage.promptTokens, usage.outputTokens]),
        Array.from({ length: REQUESTS }, (_, at) => [figures(at + 1).input, figures(at + 1).output]),
      )
      equal(ran.length, (REQUESTS - 1) * way.commands)
      deepEqual([...onRecord].sort(), [...ran].sort())
    })
  }
})
