import { deepEqual, equal, match, ok } from 'node:assert/strict'
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

const TASK = 'Say the words quokka and numbat, one after the other.'
const CHECKPOINT = '<checkpoint>\n## Completed work\n- Said quokka\n</checkpoint>'
/** Words of the built-in request for a checkpoint, and of a continuation. */
const ASKS = 'Reply with the checkpoint alone'
const CONTINUES = 'fresh window'
/** Far longer than anything else in the test: whoever waits for it is seen to have waited. */
const LONG_MS = 25_000

const FULL = { input: 240_000, cached: 0, output: 40 }

interface Work {
  /** The request it is, from 1, in the window that fills. */
  readonly number: number
  /** A command that leaves a word where the test finds it. */
  readonly leaving: (word: string) => string
  readonly said: string[]
  /** Aborts when nobody waits for the answer any more. */
  readonly gone: AbortSignal
}

/** Runs the real Codex through a window that fills and one in which the work ends. */
const run = async (t: TestContext, work: (asked: Work) => Promise<CodexAnswer> | CodexAnswer) => {
  const home = mkdtempSync(join(tmpdir(), 'batonpass-codex-'))
  t.after(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
  const log = join(home, 'ran')
  const leaving = (word: string): string => `echo ${word} >> ${log}`
  const prompts: string[] = []
  const said: string[] = []
  let number = 0
  await using api = await startResponsesApi((sent, gone) => {
    prompts.push(sent)
    if (sent.includes(ASKS)) {
      said.push('asked for a checkpoint')
      return { text: CHECKPOINT, input: 240_000, cached: 0, output: 90 }
    }
    if (sent.includes(CONTINUES)) {
      said.push('continued')
      return { text: 'Quokka, numbat.', input: 12_000, cached: 0, output: 40 }
    }
    number += 1
    return work({ number, leaving, said, gone })
  })
  const store = new MemoryStore({ clock: systemClock })
  await using batonpass = await createBatonpass({ store })
  const workspace = { workingDirectory: home }
  const about = { agent: 'codex', prompt: TASK, model: 'gpt-5.5', workspace }
  const summary = await batonpass.run({ runtime: codexAt(api.url, home), policy: 'auto', ...about }).finish()
  const { conversationId: id } = summary
  const { items: sessions } = await batonpass.history.sessions(id)
  const { items: handoffs } = await batonpass.history.handoffs(id)
  const ran = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []
  const recorded = (await store.messages.findToolCalls(id, ran)).map(({ callId }) => callId)
  const checkpointPrompt = prompts.find((sent) => sent.includes(ASKS)) ?? ''
  deepEqual([summary.outcome, summary.reason, summary.restarts], ['completed', undefined, 1])
  deepEqual(
    sessions.map(({ state }) => state),
    ['handed_off', 'completed'],
  )
  equal(handoffs.length, 1)
  deepEqual([handoffs[0]?.status, handoffs[0]?.flags], ['completed', []])
  return { sessions, handoff: handoffs[0], prompts, said, ran, recorded, checkpointPrompt }
}

describe('a run of the real Codex through the runner', PATIENT, () => {
  it('fills its window, writes a checkpoint and goes on in a fresh thread, though its next answer takes 25 s', async (t) => {
    const { sessions, handoff, prompts, said, ran, recorded, checkpointPrompt } = await run(
      t,
      async ({ number, leaving, said, gone }) => {
        if (number === 1) return { command: leaving('call_1'), ...FULL }
        await pause(LONG_MS, undefined, { signal: gone })
        said.push('answered after all')
        return { text: 'Late.', ...FULL }
      },
    )
    // The fresh thread was under way before the old one would have had its answer.
    deepEqual(said, ['asked for a checkpoint', 'continued'])
    ok(sessions[0]?.providerSessionId !== sessions[1]?.providerSessionId)
    deepEqual(
      handoff?.triggeringToolCalls.map(({ callId, toolName }) => [callId, toolName]),
      [['call_1', 'exec_command']],
    )
    deepEqual([ran, recorded], [['call_1'], ['call_1']])
    match(checkpointPrompt, /call_1/)
    const last = prompts.at(-1) ?? ''
    match(last, /Said quokka/)
    match(last, new RegExp(TASK))
    ok(!last.includes('echo call_1'))
    equal(sessions[0]?.progress.turns, 1)
  })

  it('has every command of a burst that ran on record, and cuts none off', async (t) => {
    const burst = ['call_1', 'call_1_2', 'call_1_3', 'call_1_4']
    const { sessions, handoff, said, ran, recorded } = await run(t, async ({ number, leaving, said, gone }) => {
      if (number === 1) return { commands: burst.map(leaving), ...FULL }
      await pause(LONG_MS, undefined, { signal: gone })
      said.push('answered after all')
      return { text: 'Late.', ...FULL }
    })
    deepEqual(said, ['asked for a checkpoint', 'continued'])
    // On a busy machine Codex tells of a command so late that those before it are done: then it is not begun any more.
    deepEqual([...recorded].sort(), [...ran].sort())
    ok(ran.length > 0 && ran.every((callId) => burst.includes(callId)), `${ran} ran`)
    // The agent has called those as well, so they may be cited.
    const cited = handoff?.triggeringToolCalls.map(({ callId }) => callId) ?? []
    ok(cited.length > 0 && cited.every((callId) => burst.includes(callId)), `${cited} cited`)
    equal(sessions[0]?.progress.turns, 1)
    t.diagnostic(`${ran.length} of ${burst.length} commands ran`)
  })

  it('restarts once though each answer comes at once and runs another command', async (t) => {
    const { handoff, said, ran, recorded, checkpointPrompt } = await run(t, ({ number, leaving }) =>
      number <= 40 ? { command: leaving(`call_${number}`), ...FULL } : { text: 'Late.', ...FULL },
    )
    deepEqual(said, ['asked for a checkpoint', 'continued'])
    deepEqual(
      handoff?.triggeringToolCalls.map(({ callId }) => callId),
      ['call_1'],
    )
    ok(recorded.includes('call_1'))
    // A held session takes no turns: what ran between the reading and the interruption is known to the checkpoint.
    for (const callId of ran) ok(checkpointPrompt.includes(`echo ${callId} `), `${callId} ran, and nobody knows`)
    t.diagnostic(`${ran.length} commands ran, ${recorded.length} on record`)
  })
})
