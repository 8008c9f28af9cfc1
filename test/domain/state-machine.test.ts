import { describe, expect, it } from 'vitest'
import { HANDOFF_TRANSITIONS } from '../../src/domain/handoff/handoff.ts'
import {
  nextState,
  statesOf,
  type TransitionTable,
  terminalStates,
  toMermaid,
} from '../../src/domain/kernel/state-machine.ts'
import { SESSION_TRANSITIONS } from '../../src/domain/session/agent-session.ts'

type State = 'closed' | 'open' | 'broken'
type Command = 'push' | 'kick'

const DOOR: TransitionTable<State, Command> = {
  closed: { push: 'open', kick: 'broken' },
  open: { push: 'closed' },
  broken: {},
}

describe('a lifecycle table', () => {
  it('says where a command leads, or nothing', () => {
    expect(nextState(DOOR, 'closed', 'push')).toBe('open')
    expect(nextState(DOOR, 'open', 'kick')).toBeUndefined()
    expect(nextState(DOOR, 'broken', 'push')).toBeUndefined()
  })

  it('derives the states and the terminal ones', () => {
    expect(statesOf(DOOR)).toEqual(['closed', 'open', 'broken'])
    expect(terminalStates(DOOR)).toEqual(['broken'])
  })

  it('draws itself as a Mermaid diagram', () => {
    expect(toMermaid(DOOR, 'closed')).toBe(
      [
        'stateDiagram-v2',
        '  [*] --> closed',
        '  closed --> open: push',
        '  closed --> broken: kick',
        '  open --> closed: push',
        '  broken --> [*]',
      ].join('\n'),
    )
  })

  it('draws one arrow per cell, one beginning and one end per terminal state', () => {
    for (const [table, initial] of [
      [SESSION_TRANSITIONS, 'active'],
      [HANDOFF_TRANSITIONS, 'initiated'],
    ] as const) {
      const drawn = toMermaid<string, string>(table, initial).split('\n')
      const arrows = Object.values(table).flatMap((row) => Object.keys(row)).length
      const ends = terminalStates<string, string>(table).length
      expect(drawn).toHaveLength(2 + arrows + ends)
      expect(drawn[1]).toBe(`  [*] --> ${initial}`)
      expect(new Set(drawn).size).toBe(drawn.length)
    }
  })
})
