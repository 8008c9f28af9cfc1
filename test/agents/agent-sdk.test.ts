import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SDKMessage } from '@anthropic-ai/claude-agent-sdk'
import { agentSdkReader } from '../../src/adapters/claude/readers/agent-sdk-reader.ts'
import { DEFAULT_MILESTONES } from '../../src/domain/window/milestone.ts'
import { RecordedWindow } from '../../src/services/replay/recorded-window.ts'
import { type Script, startMessagesApi, type Usage } from './messages-api.ts'
import { PATIENT } from './patience.ts'
import { type AgentRun, runAgent } from './run-agent.ts'

const uses = (uncached: number, written: number, cached: number, output: number): Usage => ({
  input_tokens: uncached,
  cache_creation_input_tokens: written,
  cache_read_input_tokens: cached,
  output_tokens: output,
})

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Says a word' } })

/** Follows a real run message by message. */
const follow = async (script: Script, run: Partial<AgentRun> = {}) => {
  await using api = await startMessagesApi(script)
  const followed = new RecordedWindow({ milestones: DEFAULT_MILESTONES })
  const steps = []
  for await (const message of runAgent({ url: api.url, prompt: 'Say two words.', ...run })) {
    const events = agentSdkReader.read(message)
    followed.take(events)
    steps.push({ message, events, history: followed.result() })
  }
  const resultOf = steps.map(({ message }) => message).find((message) => message.type === 'result')
  equal(resultOf?.subtype, 'success')
  return { steps, asked: api.asked, history: followed.result() }
}

const isSystem = (message: SDKMessage, subtype: string) => message.type === 'system' && message.subtype === subtype

describe('a real run of the Agent SDK', PATIENT, () => {
  const turns = [
    { tool: bash('echo one'), usage: uses(12, 20_000, 0, 40) },
    { tool: bash('echo two'), usage: uses(9, 300, 20_000, 50) },
    { text: 'One, two.', usage: uses(4, 200, 20_300, 60) },
  ]

  for (const includePartialMessages of [false, true]) {
    it(`is read as what was sent, ${includePartialMessages ? 'with' : 'without'} partial messages`, async () => {
      const { steps, history, asked } = await follow({ turns }, { options: { includePartialMessages } })
      deepEqual(asked, ['turn', 'turn', 'turn'])
      const prompts = steps.flatMap(({ events }) =>
        events.flatMap((e) => (e.type === 'request' ? [e.promptTokens] : [])),
      )
      deepEqual([...new Set(prompts)], [20_012, 20_309, 20_504])
      equal(history.turns, 3)
      equal(history.lastContext, 20_504)
      equal(history.toolCalls, 2)
      equal(history.unmetered, 0)
      deepEqual(history.compactions, [])
    })
  }

  it('tells its window and model, but only with its result', async () => {
    const { steps, history } = await follow({ turns })
    const [before, last] = steps.slice(-2)
    equal(before?.history.window, undefined)
    equal(last?.message.type, 'result')
    deepEqual(history.window, { tokens: 200_000, source: 'runtime' })
    equal(history.model, 'claude-sonnet-4-5')
    ok(steps.every(({ message }) => agentSdkReader.recognises(message) || !('session_id' in message)))
  })

  it('is not read through its result, which sums', async () => {
    const { steps } = await follow({ turns })
    const result = steps.at(-1)
    const summed = result?.message.type === 'result' ? result.message.usage : undefined
    equal(summed?.cache_read_input_tokens, 40_300)
    deepEqual(
      result?.events.map(({ type }) => type),
      ['window'],
    )
  })

  it('keeps a subagent out of the main window', async () => {
    const prompt = 'Count the words of this sentence.'
    const input = { description: 'Counts', prompt, subagent_type: 'general-purpose', run_in_background: false }
    const { history, asked } = await follow(
      {
        turns: [
          { tool: { name: 'Task', input }, usage: uses(10, 20_000, 0, 40) },
          { text: 'Six.', usage: uses(10, 400, 20_000, 20) },
        ],
        subagent: { prompt, text: 'Six.', usage: uses(5, 90_000, 0, 30) },
      },
      { options: { forwardSubagentText: true } },
    )
    deepEqual(asked, ['turn', 'subagent', 'turn'])
    equal(history.subagentTurns, 1)
    equal(history.turns, 2)
    equal(history.peakContext, 20_410)
    equal(history.toolCalls, 1)
  })

  it('compacts once, and its summary is no turn of ours', async () => {
    const { steps, history, asked } = await follow(
      {
        turns: [
          { tool: bash('echo one'), usage: uses(12, 500, 20_000, 40) },
          { tool: bash('echo two'), usage: uses(2_000, 20_000, 100_000, 40) },
          { text: 'One, two.', usage: uses(10, 30_000, 0, 40) },
        ],
        summary: { text: '<summary>One was said.</summary>', usage: uses(110_000, 0, 0, 900) },
      },
      { env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' } },
    )
    deepEqual(asked, ['turn', 'turn', 'summary', 'turn'])
    const compacting = steps.findIndex(({ events }) => events.some(({ type }) => type === 'compacting'))
    const boundary = steps.findIndex(({ message }) => isSystem(message, 'compact_boundary'))
    ok(compacting > 0 && compacting < boundary, 'compacting comes before the boundary')

    const [seen, ...more] = steps[boundary]?.history.compactions ?? []
    deepEqual(more, [])
    equal(seen?.trigger, 'auto')
    equal(seen?.contextBefore, 122_000)
    ok((seen?.preTokens ?? 0) >= 122_040, `${seen?.preTokens} tokens before`)
    equal(seen?.contextAfter, undefined)
    equal(steps[boundary]?.history.turns, 2)

    deepEqual(history.compactions, [{ ...seen, contextAfter: 30_010 }])
    equal(history.turns, 3)
    equal(history.peakContext, 122_000)
    equal(history.lastContext, 30_010)
  })
})
