import { describe, expect, it } from 'vitest'
import { isBouncing, type PassedOn } from '../../src/domain/handoff/bouncing.ts'

const passed = (from: string, to: string, ...tools: readonly string[]): PassedOn =>
  ({
    kind: 'agent_transfer',
    status: 'completed',
    sourceAgent: from,
    targetAgent: to,
    triggeringToolCalls: tools.map((toolName) => ({ toolName })),
  }) as unknown as PassedOn

const there = passed('a', 'b', 'mcp__baton__handoff')
const back = passed('b', 'a', 'handoff')
const bounces = (count: number): readonly PassedOn[] =>
  Array.from({ length: count }, (_, index) => (index % 2 === 0 ? there : back))

describe('two agents that only hand the work to each other', () => {
  it('are allowed to do so for a while, and no longer', () => {
    expect(isBouncing([])).toBe(false)
    expect(isBouncing(bounces(6))).toBe(false)
    expect(isBouncing(bounces(7))).toBe(true)
  })

  it.each([
    ['a tool was used', passed('b', 'a', 'edit_file')],
    ['a third agent had the work', passed('c', 'a')],
    ['the window was full', { ...there, kind: 'context_restart' } as PassedOn],
    ['one was cancelled', { ...there, status: 'cancelled' } as PassedOn],
  ])('are not meant when %s in between', (_, between) => {
    expect(isBouncing([...bounces(3), between, ...bounces(6)])).toBe(false)
  })
})
