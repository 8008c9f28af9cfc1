import { describe, expect, it } from 'vitest'
import { agentSdkReader } from '../../src/adapters/claude/readers/agent-sdk-reader.ts'
import { execReader } from '../../src/adapters/codex/readers/exec-reader.ts'
import { commandRuntime } from '../../src/adapters/runtime/command-runtime.ts'
import { createBatonpass } from '../../src/entry/index.ts'
import type { RuntimeStep } from '../../src/entry/ports.ts'
import { play, recorded } from '../runner/played.ts'

const SESSION = { session_id: 's', parent_tool_use_id: null }

const answer = (id: string, usage: object, more: object = {}) => ({
  type: 'assistant',
  ...SESSION,
  message: { id, model: 'claude-sonnet-4-5', content: [], usage },
  ...more,
})

const used = (cached: number, output: number) => ({
  input_tokens: 10,
  cache_read_input_tokens: cached,
  cache_creation_input_tokens: 100,
  output_tokens: output,
})

/** A program that writes these lines. */
const writing = (...lines: readonly object[]) =>
  commandRuntime({
    command: [process.execPath, '-e', `for (const line of ${JSON.stringify(lines)}) console.log(JSON.stringify(line))`],
    readers: [execReader, agentSdkReader],
  })

const stepsOf = async (...lines: readonly object[]): Promise<readonly RuntimeStep<unknown>[]> => {
  const steps: RuntimeStep<unknown>[] = []
  const { steps: said } = writing(...lines).start({ prompt: 'Go', signal: new AbortController().signal })
  for await (const step of said) steps.push(step)
  return steps
}

const totalsIn = (steps: readonly RuntimeStep<unknown>[]) => steps.flatMap(({ totals = [] }) => totals)

describe('what Claude uses', () => {
  it('is counted with every request, each once, those of subagents too', async () => {
    const steps = await stepsOf(
      answer('m1', used(1_000, 1)),
      answer('m1', used(1_000, 5)),
      answer('m2', used(2_000, 7), { parent_tool_use_id: 'toolu_1' }),
      answer('m3', used(3_000, 9)),
    )
    expect(totalsIn(steps).at(-1)).toEqual({
      inputTokens: 6_330,
      outputTokens: 21,
      requests: 3,
      cacheReadTokens: 6_000,
      cacheWriteTokens: 300,
    })
  })

  it('counts the text that was written while its final figure is not there', async () => {
    const said = answer('m1', used(1_000, 1))
    const long = { ...said, message: { ...said.message, content: [{ type: 'text', text: 'x'.repeat(60_000) }] } }
    expect(totalsIn(await stepsOf(long)).at(-1)?.outputTokens).toBe(15_000)
    const delta = { type: 'message_delta', usage: { output_tokens: 16_000 } }
    const started = { type: 'message_start', message: said.message }
    const streamed = [started, delta].map((event) => ({ type: 'stream_event', ...SESSION, event }))
    expect(totalsIn(await stepsOf(...streamed)).at(-1)?.outputTokens).toBe(16_000)
  })

  it('says what its result says it cost, and the record keeps it', async () => {
    await using batonpass = await createBatonpass({ store: 'memory' })
    const result = { type: 'result', ...SESSION, subtype: 'success', is_error: false, total_cost_usd: 0.5 }
    const { summary } = await play(batonpass, writing(answer('m1', used(1_000, 5)), result))
    expect(summary).toMatchObject({ outcome: 'completed', totals: { costUsd: 0.5, requests: 1, inputTokens: 1_110 } })
    expect(summary.totals.estimatedUsd).toBeUndefined()
    expect((await recorded(batonpass, summary)).sessions).toMatchObject([{ totals: { costUsd: 0.5, requests: 1 } }])
  })

  it('is estimated from list prices, cached parts at their own, until the result says', async () => {
    await using batonpass = await createBatonpass({ store: 'memory' })
    const runtime = writing(answer('m1', used(1_000_000, 1_000)))
    const { summary } = await play(batonpass, runtime)
    // 10 at $3, a million read from the cache at $0.30, 100 written to it at $3.75, 1,000 out at $15, for a million each.
    const estimate = 0.000_03 + 0.3 + 0.000_375 + 0.015
    expect(summary.totals.costUsd).toBeGreaterThan(estimate * 0.99)
    expect(summary.totals.estimatedUsd).toBe(summary.totals.costUsd)
    expect((await recorded(batonpass, summary)).sessions[0]?.totals).toEqual(summary.totals)
  })
})

describe('what Codex uses', () => {
  it('is the sum that a completed turn tells', async () => {
    const usage = { input_tokens: 41_613, cached_input_tokens: 30_000, output_tokens: 90 }
    const steps = await stepsOf({ type: 'thread.started', thread_id: 't' }, { type: 'turn.completed', usage })
    expect(totalsIn(steps)).toEqual([{ inputTokens: 41_613, cacheReadTokens: 30_000, outputTokens: 90 }])
  })
})
