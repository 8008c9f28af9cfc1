import { describe, expect, it } from 'vitest'
import { deadlineOf, describeLimit, type RestartBudget } from '../../src/domain/budget/restart-budget.ts'
import { later } from '../../src/domain/kernel/instant.ts'
import { sequenceNumber } from '../../src/domain/kernel/sequence.ts'
import {
  exhaustedBy,
  madeProgress,
  type RestartUse,
  type SessionToRestart,
} from '../../src/domain/restart/restart-use.ts'
import type { AgentSession } from '../../src/domain/session/agent-session.ts'
import { AT, SESSIONS, sessionOf } from './samples.ts'

const BUDGET: RestartBudget = { maxRestarts: 3, deadlineMs: 60_000, maxCostUsd: 2, whenExhausted: 'stop' }
const UNUSED: RestartUse = { restarts: 0, takeovers: 0, firstStartedAt: AT, costUsd: 0 }

const { progress } = SESSIONS.active
const worked = (turns: number, exchangeStart = 1): AgentSession =>
  sessionOf({ state: 'active' }, { progress: { ...progress, turns, exchangeStart: sequenceNumber(exchangeStart) } })

/** Works on, uses tools, and is nobody's successor. */
const BUSY: SessionToRestart = { session: worked(5), hasToolCalls: true }
/** Has spoken for five turns and done nothing. */
const IDLE: SessionToRestart = { session: worked(5), hasToolCalls: false }

const limit = (use: Partial<RestartUse>, restarted = BUSY, at = later(AT, 59_999), budget = BUDGET) =>
  exhaustedBy(budget, { ...UNUSED, ...use }, restarted, at)

const RESTARTED = { cameFrom: { kind: 'context_restart', flags: [] } } as const
const GOT_NOWHERE = { cameFrom: { kind: 'context_restart', flags: ['no_progress'] } } as const

describe('each limit of a budget', () => {
  it('counts restarts up to the last one that is allowed', () => {
    expect(limit({ restarts: 2 })).toBeUndefined()
    expect(limit({ restarts: 3 })).toBe('restarts')
    expect(limit({ restarts: 4 })).toBe('restarts')
    expect(limit({}, BUSY, AT, { maxRestarts: 0, whenExhausted: 'stop' })).toBe('restarts')
  })

  it('counts time from the first session, to the millisecond', () => {
    expect(limit({}, BUSY, later(AT, 59_999))).toBeUndefined()
    expect(limit({}, BUSY, later(AT, 60_000))).toBe('deadline')
    expect(deadlineOf(BUDGET, AT)).toBe(later(AT, 60_000))
  })

  it('counts dollars up to the sum that is allowed', () => {
    expect(limit({ costUsd: 1.999 })).toBeUndefined()
    expect(limit({ costUsd: 2 })).toBe('cost')
  })

  it('has no deadline and no price unless one is set', () => {
    const plain: RestartBudget = { maxRestarts: 3, whenExhausted: 'stop' }
    expect(limit({ costUsd: 1e9 }, BUSY, later(AT, 1e12), plain)).toBeUndefined()
    expect(deadlineOf(plain, AT)).toBeUndefined()
  })

  it('names the first in order when several are used up', () => {
    const over = later(AT, 60_000)
    const all = { restarts: 3, costUsd: 2, ...GOT_NOWHERE }
    expect(limit(all, IDLE, over)).toBe('restarts')
    expect(limit({ ...all, restarts: 0 }, IDLE, over)).toBe('deadline')
    expect(limit({ ...all, restarts: 0 }, IDLE)).toBe('cost')
    expect(limit({ ...all, restarts: 0, costUsd: 0 }, IDLE)).toBe('no_progress')
  })

  it.each([
    ['restarts', 'its 3 restarts are used up'],
    ['deadline', 'its time of 60000 ms is over'],
    ['cost', 'it has cost the 2 dollars it may'],
    ['no_progress', 'restarting it gets nowhere'],
  ] as const)('says what stands against a restart: %s', (name, sentence) => {
    expect(describeLimit(name, BUDGET)).toContain(sentence)
    expect(describeLimit(name, BUDGET)).toMatch(/^The context window is full, .*\.$/)
  })
})

describe('getting nowhere', () => {
  it.each([0, 1])('is a window after a restart that is full with turn %i, whatever was done in it', (turns) => {
    expect(limit(RESTARTED, { session: worked(turns), hasToolCalls: true })).toBe('no_progress')
    expect(limit(RESTARTED, { session: worked(turns, 2), hasToolCalls: false })).toBe('no_progress')
  })

  it('is not one that lasted two turns', () => {
    expect(limit(RESTARTED, { session: worked(2), hasToolCalls: true })).toBeUndefined()
    expect(limit(RESTARTED, { session: worked(2), hasToolCalls: false })).toBeUndefined()
  })

  it('is the second in a row without progress, not the first', () => {
    expect(limit(RESTARTED, IDLE)).toBeUndefined()
    expect(limit(GOT_NOWHERE, IDLE)).toBe('no_progress')
  })

  it('ends with progress: a tool call, or a second exchange', () => {
    expect(limit(GOT_NOWHERE, BUSY)).toBeUndefined()
    expect(limit(GOT_NOWHERE, { session: worked(5, 3), hasToolCalls: false })).toBeUndefined()
  })

  it.each([
    ['nobody', undefined],
    ['another agent', 'agent_transfer'],
    ['a thread', 'thread'],
  ] as const)('is never said of a session that came from %s', (_, kind) => {
    const use = kind === undefined ? {} : { cameFrom: { kind, flags: ['no_progress'] as const } }
    for (const turns of [0, 1, 5]) expect(limit(use, { session: worked(turns), hasToolCalls: false })).toBeUndefined()
  })
})

describe('progress', () => {
  it('is a tool call, or an exchange that came to its end', () => {
    expect(madeProgress(BUSY)).toBe(true)
    expect(madeProgress(IDLE)).toBe(false)
    expect(madeProgress({ session: worked(5, 2), hasToolCalls: false })).toBe(true)
  })

  it('is none while nobody has spoken to the session', () => {
    const { exchangeStart: _, ...silent } = progress
    expect(madeProgress({ session: sessionOf({ state: 'active' }, { progress: silent }), hasToolCalls: false })).toBe(
      false,
    )
  })
})
