import { describe, expect, it } from 'vitest'
import { terminalTask, titleBegins, titleOf } from '../../src/domain/conversation/title.ts'
import type { Conversation } from '../../src/entry/index.ts'

const asked = (prompt: string, first?: string): NonNullable<Conversation['asked']> => ({
  ...{ mark: 1, prompt, restarts: 0, takeovers: 0 },
  sequence: 1 as NonNullable<Conversation['asked']>['sequence'],
  ...(first !== undefined && { first: { prompt: first } }),
})

describe('a title', () => {
  it('is the first line of the first words, whatever was asked later', () => {
    const originalTask = '\n  Fix the flaky\ttest\nIt fails on Mondays'
    expect(titleOf({ originalTask })).toBe('Fix the flaky test')
    expect(titleOf({ originalTask, asked: asked('Now the docs') })).toBe('Fix the flaky test')
  })

  it('of a terminal conversation is its first prompt, and the task until there is one', () => {
    const originalTask = terminalTask('claude-code', '/home/me/shop')
    expect(titleOf({ originalTask })).toBe('Terminal session of claude-code in /home/me/shop')
    expect(titleOf({ originalTask, asked: asked('Now the docs', 'Fix it') })).toBe('Fix it')
    expect(titleOf({ originalTask, asked: asked('Now the docs') })).toBe('Now the docs')
  })

  it('has 60 characters at most, and none is cut in half', () => {
    const title = titleOf({ originalTask: '😀'.repeat(100) })
    expect([...title]).toHaveLength(60)
    expect(title).toMatch(/^(😀)+…$/u)
  })

  it('cannot steer a terminal', () => {
    expect(titleOf({ originalTask: 'red \u001b[31malert' })).not.toContain('\u001b')
  })

  it.each([
    ['Fix the flaky test', 'fix THE', true],
    ['Fix the flaky test', 'Fix the flaky test', true],
    ['Fix the flaky test', 'Fix the flaky test now', false],
    ['Fix the flaky test', 'flaky', false],
    ['Fix the flaky test', ' ', false],
    ['Fix the fl…', 'Fix the flaky test', true],
    ['Fix the fl…', 'Fix the other test', false],
  ])('%s begins with %s: %s', (title, words, expected) => {
    expect(titleBegins(title, words)).toBe(expected)
  })
})
