import { describe, expect, it } from 'vitest'
import { believedWindow } from '../../../src/adapters/catalogue/model-catalogue.ts'

const tokensOf = (model: string): number | undefined => believedWindow(model)?.tokens

describe('the window a model is believed to have', () => {
  it.each([
    'claude-opus-4-6',
    'claude-sonnet-4-6',
    'claude-opus-4-6-20260205',
    'anthropic/claude-sonnet-4.6',
    'openrouter/anthropic/claude-opus-4.6',
    'claude-opus-4-6@default',
    'us.anthropic.claude-opus-4-6-v1:0',
    'anthropic.claude-sonnet-4-6-v1',
    'CLAUDE-OPUS-4-6',
  ])('%s has 200,000 tokens: the catalogue names what it has when it is asked for more', (model) => {
    expect(tokensOf(model)).toBe(200_000)
  })

  it('is what the name itself says, where it says so', () => {
    expect(believedWindow('claude-opus-4-6[1m]')).toEqual({ tokens: 1_000_000, source: 'suffix' })
    expect(believedWindow('us.anthropic.claude-sonnet-4-6-v1:0[1m]')).toEqual({ tokens: 1_000_000, source: 'suffix' })
  })

  it.each(['claude-opus-4-60', 'claude-opus-46', 'claude-opus-4-7', 'claude-opus-5'])(
    '%s is not taken for one of them',
    (model) => {
      expect(tokensOf(model) ?? 1_000_000).toBe(1_000_000)
    },
  )

  it.each(['claude-opus-4-8@20260401', 'eu.anthropic.claude-opus-5-v1:0', 'global.anthropic.claude-sonnet-5-v1:0'])(
    '%s is the smaller one: behind a cloud it may be less than the model takes',
    (model) => {
      expect(tokensOf(model)).toBe(200_000)
    },
  )

  it.each(['gpt-5.4', 'gpt-5.5', 'openai/gpt-5.5'])('%s is the smaller one: sources disagree', (model) => {
    expect(tokensOf(model)).toBe(272_000)
  })

  it.each(['', '[1m', 'a-model-nobody-knows', 'claude', '/', '@', 'anthropic.', '[0m]', '[000k]'])(
    'is not known for "%s"',
    (model) => {
      expect(believedWindow(model)).toBeUndefined()
    },
  )
})
