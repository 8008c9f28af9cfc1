import { describe, expect, it } from 'vitest'
import { countRoles, EMPTY_SUMMARY, totalMessages } from '../../src/domain/turn/message-summary.ts'

describe('message summary', () => {
  it('of 3 user, 2 assistant, 1 tool, 0 system totals 6; an empty one totals 0', () => {
    expect(totalMessages({ user: 3, assistant: 2, tool: 1, system: 0 })).toBe(6)
    expect(totalMessages(EMPTY_SUMMARY)).toBe(0)
  })

  it('counts on top of an earlier count and leaves that one alone', () => {
    const first = countRoles(['user', 'assistant', 'tool', 'assistant'])
    expect(first).toStrictEqual({ user: 1, assistant: 2, tool: 1, system: 0 })
    expect(countRoles(['system', 'user'], first)).toStrictEqual({ user: 2, assistant: 2, tool: 1, system: 1 })
    expect(first.user).toBe(1)
    expect(EMPTY_SUMMARY).toStrictEqual({ user: 0, assistant: 0, tool: 0, system: 0 })
  })
})
