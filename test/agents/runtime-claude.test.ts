import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import * as sdk from '@anthropic-ai/claude-agent-sdk'
import { agentSdkRuntime } from '../../src/adapters/claude/runtime/agent-sdk-runtime.ts'
import type { RuntimeStep } from '../../src/ports/agent/agent-runtime.ts'
import {
  bash,
  collect,
  type Make,
  NEEDS_PROC,
  RUNTIMES,
  runningIn,
  stage,
  TOO_LONG,
  transcriptOf,
  uses,
} from './claude-stage.ts'
import { PATIENT } from './patience.ts'

const PROMPT = 'Say the word quokka.'
const QUESTION = 'CHECKPOINT: what is done, and what is not?'
const TURNS = [
  { tool: bash('echo one'), usage: uses(12, 20_000, 0, 40) },
  { text: 'Quokka.', usage: uses(9, 300, 20_000, 50) },
]

for (const [backend, make] of Object.entries(RUNTIMES)) {
  describe(`the runtime ${backend}, for real`, PATIENT, () => {
    it('starts a session by the name it is given, uses a tool and comes to rest', async (t) => {
      const { runtime, launch, home, api } = await stage(t, make, { turns: TURNS })
      equal(runtime.backend, backend)
      equal(await runtime.has?.(launch()), false)
      const steps = await collect(runtime.start(launch()))
      deepEqual(new Set(steps.flatMap(({ providerSessionId: id = [] }) => id)), new Set([launch().providerSessionId]))
      deepEqual(api.asked, ['turn', 'turn'])
      const events = steps.flatMap((step) => step.events)
      // The start of an answer and each of its blocks say what its request sent.
      deepEqual(
        [...new Set(events.flatMap((event) => (event.type === 'request' ? [event.promptTokens] : [])))],
        [20_012, 20_309],
      )
      ok(events.some((event) => event.type === 'window' && event.tokens === 200_000))
      deepEqual(
        steps.flatMap(({ texts }) => texts),
        [
          { role: 'tool', text: 'one', id: 'toolu_1' },
          { role: 'assistant', text: 'Quokka.', id: 'msg_2' },
        ],
      )
      deepEqual(
        steps.flatMap(({ end = [] }) => end),
        [{ type: 'idle' }],
      )
      const { totals, end } = steps.at(-1) ?? {}
      equal(end?.type, 'idle')
      const cache = { cacheReadTokens: 20_000, cacheWriteTokens: 20_300 }
      deepEqual({ ...totals, costUsd: 0 }, { inputTokens: 40_321, outputTokens: 90, requests: 2, ...cache, costUsd: 0 })
      equal(await runtime.has?.(launch()), true)
      deepEqual(runningIn(home), [])
    })

    it('goes on in a session, and counts only what it used since', async (t) => {
      const { runtime, launch, api } = await stage(t, make, { turns: TURNS })
      await collect(runtime.start(launch()))
      const steps = (await runtime.resume?.(launch('And now wombat.'))) ?? {
        steps: [] as never,
        interrupt: async () => {},
      }
      const { totals, end, providerSessionId } = (await collect(steps)).at(-1) ?? {}
      equal(end?.type, 'idle')
      equal(providerSessionId, launch().providerSessionId)
      deepEqual(api.asked, ['turn', 'turn', 'turn'])
      const sent = JSON.stringify(api.requests.at(-1)?.messages)
      ok(sent.includes(PROMPT) && sent.includes('And now wombat.'))
      const cache = { cacheReadTokens: 20_000, cacheWriteTokens: 300 }
      deepEqual({ ...totals, costUsd: 0 }, { inputTokens: 20_309, outputTokens: 50, requests: 1, ...cache, costUsd: 0 })
      ok((totals?.costUsd ?? 0) < 0.05, `${totals?.costUsd} USD is the price of one request`)
    })

    it('is interrupted in the middle of a tool, and leaves nothing running', NEEDS_PROC, async (t) => {
      const turns = [TURNS[0], { tool: bash('tail -f /dev/null'), usage: uses(9, 300, 20_000, 50) }].flatMap(
        (a) => a ?? [],
      )
      const { runtime, launch, home } = await stage(t, make, { turns })
      const agent = runtime.start(launch())
      const seen: RuntimeStep<unknown>[] = []
      for await (const step of agent.steps) {
        seen.push(step)
        if (step.events.some((event) => event.type === 'tool_call' && event.callId === 'toolu_2')) {
          while (!runningIn(home).some((line) => line.includes('tail'))) await pause(25)
          await agent.interrupt()
        }
      }
      deepEqual(seen.at(-1)?.end, { type: 'interrupted' })
      // On a busy machine the command now and then ends, with exit code 0, before it has said its result.
      const hasResult = seen.some(({ message }) => (message as { type?: string } | undefined)?.type === 'result')
      ok(hasResult || backend === 'claude_code', 'the SDK says what an interrupted run has used')
      equal(seen.at(-1)?.totals?.requests, hasResult ? 2 : undefined)
      deepEqual(runningIn(home), [])
      equal(await runtime.has?.(launch()), true)
    })

    for (const how of ['aborted', 'left early']) {
      it(`leaves nothing running once it is ${how}`, NEEDS_PROC, async (t) => {
        const turns = [{ tool: bash('tail -f /dev/null'), usage: uses(9, 300, 20_000, 50) }]
        const { runtime, launch, home, stop } = await stage(t, make, { turns })
        let last: RuntimeStep<unknown> | undefined
        for await (const step of runtime.start(launch()).steps) {
          last = step
          if (!step.events.some(({ type }) => type === 'tool_call')) continue
          while (!runningIn(home).some((line) => line.includes('tail'))) await pause(25)
          if (how === 'left early') break
          stop.abort()
        }
        if (how === 'aborted') deepEqual(last?.end, { type: 'interrupted' })
        deepEqual(runningIn(home), [])
      })
    }

    it('says that its window is full', async (t) => {
      const { runtime, launch } = await stage(t, make, { turns: [{ usage: uses(0, 0, 0, 0), error: TOO_LONG }] })
      const steps = await collect(runtime.start(launch()))
      equal(steps.at(-1)?.end?.type, 'overflow')
      deepEqual(
        steps.flatMap(({ texts }) => texts),
        [],
      )
    })

    it('says why it could not go on in a session that is not there', async (t) => {
      const { runtime, launch } = await stage(t, make, { turns: TURNS })
      const missing = runtime.resume?.(launch())
      ok(missing)
      const end = (await collect(missing)).at(-1)?.end
      ok(end?.type === 'failed' && end.message.includes('No conversation found'), JSON.stringify(end))
    })

    it('asks an old session, which answers from its conversation and stays as it was', async (t) => {
      const question = { prompt: QUESTION, text: 'All done.', usage: uses(5, 100, 20_600, 7) }
      const { runtime, launch, api, home } = await stage(t, make, { turns: TURNS, question })
      await collect(runtime.start(launch()))
      const before = transcriptOf(home, launch().providerSessionId)
      const reply = await runtime.ask?.(launch(QUESTION))
      equal(reply?.text, 'All done.')
      const cache = { cacheReadTokens: 20_600, cacheWriteTokens: 100 }
      const used = { inputTokens: 20_705, outputTokens: 7, requests: 1, ...cache, costUsd: 0 }
      deepEqual({ ...reply?.totals, costUsd: 0 }, used)
      deepEqual(api.asked, ['turn', 'turn', 'question'])
      const { tools = [], messages = [] } = api.requests.at(-1) ?? {}
      deepEqual(tools, [])
      const sent = JSON.stringify(messages)
      ok(sent.includes(PROMPT) && sent.includes('Quokka.') && sent.includes('toolu_1'), 'the old conversation is asked')
      equal(transcriptOf(home, launch().providerSessionId), before)
      deepEqual(runningIn(home), [])
    })

    it('lets an asked session use no tool, and asks it once', async (t) => {
      const question = { prompt: QUESTION, tool: bash('touch made-by-a-tool'), usage: uses(5, 100, 20_600, 7) }
      const { runtime, launch, api, home } = await stage(t, make, { turns: TURNS, question })
      await collect(runtime.start(launch()))
      await rejects(runtime.ask?.(launch(QUESTION)) ?? Promise.resolve(), { code: 'runtime.no_words' })
      deepEqual(api.asked, ['turn', 'turn', 'question'])
      ok(!existsSync(join(home, 'made-by-a-tool')))
    })

    it('says that a question does not fit into the old session, and compacts nothing', async (t) => {
      const question = { prompt: QUESTION, error: TOO_LONG, usage: uses(0, 0, 0, 0) }
      const { runtime, launch, api } = await stage(t, make, { turns: TURNS, question })
      await collect(runtime.start(launch()))
      await rejects(runtime.ask?.(launch(QUESTION)) ?? Promise.resolve(), { code: 'runtime.prompt_too_long' })
      deepEqual(api.asked, ['turn', 'turn', 'question'])
    })
  })
}

describe('the window of the Agent SDK', PATIENT, () => {
  /** Work whose second answer comes once the window was told: it is told in the middle of the work. */
  const work = async (t: TestContext, make: Make): Promise<readonly RuntimeStep<unknown>[]> => {
    const told = new AbortController()
    const after = async () => told.signal.aborted || once(told.signal, 'abort')
    const [first, second] = TURNS
    ok(first && second)
    const { runtime, launch } = await stage(t, make, { turns: [first, { ...second, after }] })
    const steps: RuntimeStep<unknown>[] = []
    for await (const step of runtime.start(launch()).steps) {
      steps.push(step)
      if (isOfWindow(step)) told.abort()
    }
    return steps
  }
  /** An answer's parts are steps without a message too. */
  const isOfWindow = ({ message, events }: RuntimeStep<unknown>): boolean =>
    message === undefined && events.some(({ type }) => type === 'window')
  const windowSteps = (steps: readonly RuntimeStep<unknown>[]) => steps.filter(isOfWindow)

  it('is told in the middle of the work, with where it will be compacted', async (t) => {
    const steps = await work(t, RUNTIMES.claude_agent_sdk as Make)
    deepEqual(
      windowSteps(steps).map(({ events }) => events),
      [
        [
          { type: 'window', tokens: 200_000 },
          { type: 'auto_compact_at', tokens: 167_000 },
        ],
      ],
    )
    ok(steps.findIndex(isOfWindow) < steps.length - 1)
  })

  for (const where of ['by an object', 'in a file']) {
    it(`is compacted by nobody when that is switched off, beside settings given ${where}`, async (t) => {
      const make: Make = (env) => {
        const file = join(env.HOME ?? '', 'settings.json')
        writeFileSync(file, '{"autoCompactEnabled":true}')
        const options = {
          env,
          settingSources: [],
          settings: where === 'in a file' ? file : { autoCompactEnabled: true },
        }
        return agentSdkRuntime({ sdk, model: 'claude-sonnet-4-5', autoCompact: false, options })
      }
      const steps = await work(t, make)
      deepEqual(
        windowSteps(steps).map(({ events }) => events),
        [[{ type: 'window', tokens: 200_000 }]],
      )
    })
  }
})
