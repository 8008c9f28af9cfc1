import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type * as sdk from '@openai/codex-sdk'
import { DEFAULT_MILESTONES } from '../../src/domain/window/milestone.ts'
import type { RunningAgent, RuntimeStep } from '../../src/ports/agent/agent-runtime.ts'
import { RecordedWindow } from '../../src/services/replay/recorded-window.ts'
import { codexAt } from './codex-stage.ts'
import { PATIENT } from './patience.ts'
import { type CodexAnswer, startResponsesApi } from './responses-api.ts'

type Step = RuntimeStep<sdk.ThreadEvent>

const TURNS: readonly CodexAnswer[] = [
  { command: 'echo one', input: 11_000, cached: 0, output: 40 },
  { text: 'One.', input: 12_000, cached: 11_000, output: 50 },
  { text: 'Two.', input: 13_000, cached: 12_000, output: 60 },
  { text: 'It is going well.', input: 14_000, cached: 13_000, output: 70 },
]

const folder = (t: TestContext): string => {
  const made = mkdtempSync(join(tmpdir(), 'batonpass-codex-'))
  t.after(() => rmSync(made, { recursive: true, force: true, maxRetries: 5 }))
  return made
}

const launchIn = (home: string, signal = new AbortController().signal) => ({
  prompt: 'Say a word.',
  model: 'gpt-5.5',
  workspace: { workingDirectory: home },
  signal,
})

const all = async ({ steps }: RunningAgent<sdk.ThreadEvent>): Promise<readonly Step[]> => {
  const said: Step[] = []
  for await (const step of steps) said.push(step)
  return said
}

const threadOf = (steps: readonly Step[]): string => {
  const thread = steps.find(({ providerSessionId }) => providerSessionId !== undefined)?.providerSessionId
  ok(thread !== undefined, 'no step named the thread')
  return thread
}

const requestsIn = (steps: readonly Step[]) =>
  steps.flatMap(({ events }) => events).flatMap((event) => (event.type === 'request' ? [event] : []))

const processesOf = (home: string): string =>
  execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(home))
    .join('\n')

describe('the Codex runtime and the real Codex', PATIENT, () => {
  it('starts, resumes and is asked, with every request read as it was sent', async (t) => {
    await using api = await startResponsesApi(TURNS)
    const home = folder(t)
    const runtime = codexAt(api.url, home)

    const first = await all(runtime.start(launchIn(home)))
    const thread = threadOf(first)
    deepEqual(
      requestsIn(first).map(({ promptTokens, outputTokens }) => [promptTokens, outputTokens]),
      [
        [11_000, 40],
        [12_000, 50],
      ],
    )
    deepEqual(first.at(-1)?.end, { type: 'idle' })
    deepEqual(first.filter(({ end }) => end !== undefined).length, 1)
    const used = { inputTokens: 23_000, outputTokens: 90, cacheReadTokens: 11_000 }
    deepEqual(first.findLast(({ totals }) => totals !== undefined)?.totals, used)
    const followed = new RecordedWindow({ milestones: DEFAULT_MILESTONES })
    followed.take(first.flatMap(({ events }) => events))
    const { turns, lastContext, toolCalls, window, model } = followed.result()
    deepEqual(
      { turns, lastContext, toolCalls, model },
      { turns: 2, lastContext: 12_000, toolCalls: 1, model: 'gpt-5.5' },
    )
    ok((window?.tokens ?? 0) > 100_000, `a window of ${window?.tokens}`)
    const texts = first.flatMap((step) => step.texts)
    deepEqual(texts.filter(({ text }) => text === 'Say a word.').length, 1)
    deepEqual(
      texts.filter(({ role }) => role === 'assistant'),
      [{ role: 'assistant', text: 'One.', id: 'msg_2' }],
    )
    match(texts.find(({ role }) => role === 'tool')?.text ?? '', /one/)

    equal(await runtime.has({ providerSessionId: thread }), true)
    equal(await runtime.has({ providerSessionId: '01a1e3d1-0000-7000-8000-000000000000' }), false)

    const second = await all(runtime.resume({ ...launchIn(home), providerSessionId: thread }))
    equal(threadOf(second), thread)
    deepEqual(
      requestsIn(second).map(({ promptTokens }) => promptTokens),
      [13_000],
    )
    const more = { inputTokens: 13_000, outputTokens: 60, cacheReadTokens: 12_000 }
    deepEqual(second.findLast(({ totals }) => totals !== undefined)?.totals, more)
    deepEqual(second.at(-1)?.end, { type: 'idle' })

    const asked = { ...launchIn(home), providerSessionId: thread, prompt: 'How is it going?' }
    deepEqual(await runtime.ask(asked), {
      text: 'It is going well.',
      totals: { inputTokens: 14_000, outputTokens: 70, cacheReadTokens: 13_000 },
    })
    // The one that no switch takes away; the sandbox refuses what it does.
    deepEqual(api.tools.at(-1), ['apply_patch'])
    ok(api.tools[0]?.includes('exec_command'))
  })

  it('throws away an answer that uses a tool all the same', async (t) => {
    await using api = await startResponsesApi([{ text: 'Hello.', input: 9_000, cached: 0, output: 5 }, ...TURNS])
    const home = folder(t)
    const runtime = codexAt(api.url, home)
    const providerSessionId = threadOf(await all(runtime.start(launchIn(home))))
    await rejects(runtime.ask({ ...launchIn(home), providerSessionId }), {
      code: 'runtime.no_words',
      message: /exec_command/,
    })
    equal(processesOf(home), '')
  })

  it('says that the window took no more', async (t) => {
    await using api = await startResponsesApi([{ error: 'context_length_exceeded', input: 0, cached: 0, output: 0 }])
    const home = folder(t)
    const steps = await all(codexAt(api.url, home).start(launchIn(home)))
    const end = steps.at(-1)?.end
    equal(end?.type, 'overflow', JSON.stringify(end))
    equal(processesOf(home), '')
  })

  it('is at rest when it got over an error', async (t) => {
    await using api = await startResponsesApi([
      { error: 'server_error', input: 0, cached: 0, output: 0 },
      { text: 'Done.', input: 9_000, cached: 0, output: 5 },
    ])
    const home = folder(t)
    const steps = await all(codexAt(api.url, home, 1).start(launchIn(home)))
    deepEqual(
      steps.flatMap(({ message }) => (message?.type === 'error' ? [message.type] : [])),
      ['error'],
    )
    deepEqual(steps.at(-1)?.end, { type: 'idle' })
  })

  it('leaves no process behind, interrupted, aborted or left early', async (t) => {
    const sleeping = { command: 'sleep 291', input: 11_000, cached: 0, output: 40 }
    const stops = {
      interrupted: (run: RunningAgent<sdk.ThreadEvent>) => run.interrupt(),
      aborted: (_: unknown, aborter: AbortController) => aborter.abort(),
      left: () => 'leave',
    }
    for (const [name, stop] of Object.entries(stops)) {
      await using api = await startResponsesApi([sleeping])
      const home = folder(t)
      const aborter = new AbortController()
      const run = codexAt(api.url, home).start(launchIn(home, aborter.signal))
      let end: Step['end']
      for await (const step of run.steps) {
        end = step.end
        if (step.message?.type !== 'item.started') continue
        match(processesOf(home), /codex/, name)
        if ((await stop(run, aborter)) === 'leave') break
      }
      equal(processesOf(home), '', name)
      deepEqual(end, name === 'left' ? undefined : { type: 'interrupted' })
    }
    equal(processesOf('sleep 291'), '')
  })
})
