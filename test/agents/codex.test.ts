import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, it } from 'node:test'
import { rolloutReader } from '../../src/adapters/codex/readers/rollout-reader.ts'
import { DEFAULT_MILESTONES } from '../../src/domain/window/milestone.ts'
import { RecordedWindow } from '../../src/services/replay/recorded-window.ts'
import { PATIENT } from './patience.ts'
import { type CodexAnswer, startResponsesApi } from './responses-api.ts'
import { type CodexRun, runCodex } from './run-codex.ts'

const TURNS: readonly CodexAnswer[] = [
  { command: 'echo one', input: 11_000, cached: 0, output: 40 },
  { command: 'echo two', input: 12_000, cached: 11_000, output: 50 },
  { text: 'One, two.', input: 13_000, cached: 12_000, output: 60 },
]

const historyOf = ({ rollout }: CodexRun) => {
  const followed = new RecordedWindow({ milestones: DEFAULT_MILESTONES })
  followed.take(rollout.flatMap((line) => rolloutReader.read(line)))
  return followed.result()
}

describe('a real run of Codex', PATIENT, () => {
  it('is read from its rollout as what was sent', async () => {
    await using api = await startResponsesApi(TURNS)
    const run = await runCodex(api.url)
    deepEqual(api.asked, ['turn', 'turn', 'turn'])
    const { turns, lastContext, toolCalls, compactions, window, model } = historyOf(run)
    deepEqual(
      { turns, lastContext, toolCalls, compactions },
      { turns: 3, lastContext: 13_000, toolCalls: 2, compactions: [] },
    )
    equal(window?.source, 'runtime')
    ok((window?.tokens ?? 0) > 100_000, `a window of ${window?.tokens}`)
    equal(model, 'gpt-5.5')
    ok(rolloutReader.recognises(run.rollout[0]))
  })

  it('tells sums of its requests while it runs, and no window', async () => {
    await using api = await startResponsesApi(TURNS)
    const { events } = await runCodex(api.url)
    const completed = events.flatMap((event) => (event.type === 'turn.completed' ? [event.usage] : []))
    deepEqual(
      completed.map(({ input_tokens, cached_input_tokens }) => [input_tokens, cached_input_tokens]),
      [[36_000, 23_000]],
    )
    const tools = events.filter((event) => event.type === 'item.completed' && event.item.type === 'command_execution')
    equal(tools.length, 2)
    ok(!JSON.stringify(events).includes('context_window'))
  })

  it('compacts once', async () => {
    const summary: CodexAnswer = { text: 'One was said.', input: 12_100, cached: 12_000, output: 70 }
    const after: CodexAnswer = { text: 'Two.', input: 9_000, cached: 0, output: 5 }
    await using api = await startResponsesApi([...TURNS.slice(0, 2), after], summary)
    const run = await runCodex(api.url, { model_auto_compact_token_limit: 11_500 })
    deepEqual(api.asked, ['turn', 'turn', 'summary', 'turn'])
    const { compactions, lastContext } = historyOf(run)
    equal(compactions.length, 1)
    equal(compactions[0]?.contextAfter, 9_000)
    equal(lastContext, 9_000)
  })
})
