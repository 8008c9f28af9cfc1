import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createBatonpass } from '../../src/index.ts'
import { codexAt } from './codex-stage.ts'
import { type CodexAnswer, startResponsesApi } from './responses-api.ts'

const TASK = 'Say the words quokka and numbat, one after the other.'
const CHECKPOINT = '<checkpoint>\n## Completed work\n- Said quokka\n</checkpoint>'

describe('a run of the real Codex through the runner', { timeout: 120_000 }, () => {
  it('fills its window, writes a checkpoint and goes on in a fresh thread', async (t) => {
    const prompts: string[] = []
    let late = 0
    const answer = async (sent: string): Promise<CodexAnswer> => {
      prompts.push(sent)
      if (sent.includes('Reply with the checkpoint alone'))
        return { text: CHECKPOINT, input: 240_000, cached: 0, output: 90 }
      if (sent.includes('fresh window')) return { text: 'Quokka, numbat.', input: 12_000, cached: 0, output: 40 }
      if (!sent.includes('function_call_output'))
        return { command: 'echo quokka', input: 240_000, cached: 0, output: 40 }
      // What it would say next takes its time, as real answers do: it is interrupted before that.
      late += 1
      await pause(20_000, undefined, { ref: false })
      return { text: 'Late.', input: 241_000, cached: 0, output: 40 }
    }
    await using api = await startResponsesApi(answer)
    const home = mkdtempSync(join(tmpdir(), 'batonpass-codex-'))
    t.after(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
    await using batonpass = await createBatonpass({ store: 'memory' })
    const workspace = { workingDirectory: home }
    const about = { agent: 'codex', prompt: TASK, model: 'gpt-5.5', workspace }
    const run = batonpass.run({ runtime: codexAt(api.url, home), policy: 'auto', ...about })
    const summary = await run.finish()
    deepEqual([summary.outcome, summary.reason, summary.restarts], ['completed', undefined, 1])
    const { items: sessions } = await batonpass.handoffs.sessions(summary.conversationId)
    deepEqual(
      sessions.map(({ state }) => state),
      ['handed_off', 'completed'],
    )
    ok(sessions[0]?.providerSessionId !== sessions[1]?.providerSessionId)
    const { items: handoffs } = await batonpass.handoffs.handoffs(summary.conversationId)
    deepEqual([handoffs[0]?.status, handoffs[0]?.flags], ['completed', []])
    deepEqual(
      handoffs[0]?.triggeringToolCalls.map(({ toolName }) => toolName),
      ['exec_command'],
    )
    const asked = prompts.find((sent) => sent.includes('Reply with the checkpoint alone'))
    match(asked ?? '', /echo quokka/)
    const last = prompts.at(-1) ?? ''
    match(last, /Said quokka/)
    match(last, new RegExp(TASK))
    ok(!last.includes('echo quokka'))
    ok(late <= 1)
    equal(sessions[0]?.progress.turns, 1)
  })
})
