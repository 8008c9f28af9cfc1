import { describe, expect, it } from 'vitest'
import { endOf, resultIn, totalsOf } from '../../src/adapters/claude/readers/claude-result.ts'
import { answer, result } from './claude-messages.ts'

const read = (more: Readonly<Record<string, unknown>> = {}) => {
  const said = resultIn(result(more))
  if (said === undefined) throw new Error('It is a result')
  return said
}

describe('how a result ends a run', () => {
  const failed = { subtype: 'error_during_execution', is_error: true, result: undefined, terminal_reason: undefined }

  it.each<[string, Readonly<Record<string, unknown>>, object]>([
    ['success', {}, { type: 'idle' }],
    ['a success that talks about it', { result: 'Prompt is too long, says the log.' }, { type: 'idle' }],
    [
      'a success that is an error',
      { is_error: true, result: 'API Error: 500', terminal_reason: 'api_error' },
      { type: 'failed', message: 'API Error: 500', code: 'api_error' },
    ],
    ['a prompt that is too long', { ...failed, terminal_reason: 'prompt_too_long' }, { type: 'overflow' }],
    ['the same, said in words only', { ...failed, errors: ['Prompt is too long'] }, { type: 'overflow' }],
    ['a blocking limit', { terminal_reason: 'blocking_limit' }, { type: 'overflow', message: 'The window is full.' }],
    ['a window that fills at once', { ...failed, terminal_reason: 'rapid_refill_breaker' }, { type: 'overflow' }],
    ['an answer at the end of the window', { stop_reason: 'model_context_window_exceeded' }, { type: 'overflow' }],
    ['tools that were aborted', { ...failed, terminal_reason: 'aborted_tools' }, { type: 'interrupted' }],
    ['an answer that was aborted', { ...failed, terminal_reason: 'aborted_streaming' }, { type: 'interrupted' }],
    [
      'too many turns',
      { ...failed, subtype: 'error_max_turns' },
      { type: 'failed', message: 'The agent has used all the turns it was given.', code: 'error_max_turns' },
    ],
    [
      'notes that are not for people',
      { ...failed, errors: ['[ede_diagnostic] result_type=user'] },
      { type: 'failed', message: 'The agent ended with an error (error_during_execution).' },
    ],
    ['damage', { subtype: 7, is_error: 'yes', errors: 'none', usage: [] }, { type: 'failed' }],
  ])('%s', (_, more, end) => {
    expect(endOf(read(more), false)).toMatchObject(end)
  })

  it('as interrupted when we did it, whatever the error is called', () => {
    expect(endOf(read(failed), true)).toEqual({ type: 'interrupted' })
    expect(endOf(read({ ...failed, terminal_reason: 'prompt_too_long' }), true).type).toBe('overflow')
    expect(endOf(read(), true)).toEqual({ type: 'idle' })
  })

  it('only when it is one', () => {
    expect(resultIn(answer('msg_1', 'Half.'))).toBeUndefined()
    expect(resultIn('result')).toBeUndefined()
  })
})

describe('what a launch used', () => {
  const usage = { input_tokens: 1, cache_creation_input_tokens: 20, cache_read_input_tokens: 300, output_tokens: 4 }
  const model = (inputTokens: number, costUSD: number) => ({
    inputTokens,
    outputTokens: 10,
    cacheReadInputTokens: 1_000,
    cacheCreationInputTokens: 100,
    costUSD,
    contextWindow: 200_000,
  })
  const counted = (requests: number) => ({ inputTokens: 0, outputTokens: 0, requests })
  const fresh = { isResumed: false, counted: counted(3) }
  const resumed = { isResumed: true, counted: counted(1) }

  it('is summed over its models, cached parts included', () => {
    const modelUsage = { opus: model(5, 0.5), haiku: model(2, 0.25) }
    const totals = {
      inputTokens: 2_207,
      outputTokens: 20,
      requests: 3,
      costUsd: 0.75,
      cacheReadTokens: 2_000,
      cacheWriteTokens: 200,
    }
    expect(totalsOf(read({ usage, modelUsage }), fresh)).toEqual(totals)
  })

  it('leaves out what a resumed session had used before', () => {
    const modelUsage = { opus: model(5, 0.5) }
    const since = { opus: model(1, 0.125) }
    expect(totalsOf(read({ usage, modelUsage, model_usage_since_last_result: since }), resumed)).toEqual({
      inputTokens: 1_101,
      outputTokens: 10,
      requests: 1,
      cacheReadTokens: 1_000,
      cacheWriteTokens: 100,
      costUsd: 0.125,
    })
    const older = read({ usage, modelUsage, total_cost_usd: 0.5 })
    expect(totalsOf(older, resumed)).toMatchObject({ inputTokens: 321, outputTokens: 4, requests: 1 })
  })

  it('is what the main thread used where models are not told, or nothing where nothing is', () => {
    const told = read({ usage, total_cost_usd: 0.5 })
    expect(totalsOf(told, fresh)).toMatchObject({ inputTokens: 321, outputTokens: 4, requests: 3, costUsd: 0.5 })
    expect(totalsOf(read(), { isResumed: false, counted: counted(0) })).toBeUndefined()
  })
})
