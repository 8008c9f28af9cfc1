import { describe, expect, it } from 'vitest'
import type { RestartBudget } from '../../src/domain/budget/restart-budget.ts'
import type { SourceFacts } from '../../src/domain/facts.ts'
import type { HandoffMetadata } from '../../src/domain/handoff/handoff.ts'
import { sequenceNumber } from '../../src/domain/kernel/sequence.ts'
import { type BeginRestart, beginRestart } from '../../src/domain/restart/begin-restart.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { refusal } from '../../src/testing/expected-refusal.ts'
import {
  AT,
  CONVERSATION,
  conversationOf,
  HANDOFF,
  HOLDER,
  LATER,
  MESSAGE,
  OTHER_HANDOFF,
  proofOf,
  SESSION,
  SESSIONS,
  SNAPSHOT,
  sessionOf,
  TURN,
} from './samples.ts'

const CALL = { callId: 'call-1', toolName: 'read_file', messageId: MESSAGE, sequenceNumber: sequenceNumber(2) }

const facts = (budget: Partial<RestartBudget> = {}, over: Partial<SourceFacts> = {}): SourceFacts => ({
  working: { session: SESSIONS.active, holder: HOLDER.digest },
  conversation: conversationOf({ restartBudget: { maxRestarts: 3, whenExhausted: 'stop', ...budget } }),
  priorTurnId: TURN,
  namedToolCalls: [],
  exchangeToolCalls: [CALL],
  lastToolCalls: [],
  restarts: { restarts: 0, takeovers: 0, firstStartedAt: AT, costUsd: 0 },
  now: AT,
  ...over,
})

const begin = (given: SourceFacts, more: Partial<BeginRestart> = {}) =>
  beginRestart(
    given,
    { sessionId: SESSION, holder: HOLDER, reason: 'Full', ...more },
    { ids: { handoffId: OTHER_HANDOFF, snapshotId: SNAPSHOT }, at: LATER },
  )

const EXHAUSTED = { maxRestarts: 0 } as const
const REFUSED = {
  type: 'context.restart_refused',
  version: 1,
  conversationId: CONVERSATION,
  sessionId: SESSION,
  at: LATER,
  limit: 'restarts',
}

describe('a restart within its budget', () => {
  it('is a handoff to the same agent that holds the session', () => {
    const { answer, changes, events } = unwrap(begin(facts(), { flags: ['window_overflowed'] }))
    expect(answer.handoff).toMatchObject({
      id: OTHER_HANDOFF,
      kind: 'context_restart',
      sourceAgent: 'claude-code',
      targetAgent: 'claude-code',
      reason: 'Full',
      priorTurnId: TURN,
      triggeringToolCalls: [CALL],
      flags: ['window_overflowed'],
    })
    expect(answer.session).toMatchObject({ state: 'paused', heldBy: OTHER_HANDOFF })
    expect(Object.keys(answer)).not.toContain('holder')
    expect(Object.keys(answer)).not.toContain('refusedBy')
    expect(changes.map(({ type }) => type)).toEqual(['add_handoff', 'move_session', 'add_snapshot'])
    expect(events.map(({ type }) => type)).toEqual(['handoff.initiated', 'session.held', 'snapshot.captured'])
  })

  it('says why by itself when nobody does', () => {
    const { reason } = unwrap(
      beginRestart(
        facts(),
        { sessionId: SESSION, holder: HOLDER },
        { ids: { handoffId: OTHER_HANDOFF, snapshotId: SNAPSHOT }, at: LATER },
      ),
    ).answer.handoff as HandoffMetadata
    expect(reason).toBe('The work continues in a fresh context window.')
  })

  it('carries where it came from in a trace', () => {
    const traceContext = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
    expect(unwrap(begin(facts(), { traceContext })).answer.handoff?.traceContext).toStrictEqual(traceContext)
  })

  it('says that the window before it got nowhere: no tool call, no second exchange', () => {
    const idle = facts({}, { exchangeToolCalls: [] })
    expect(unwrap(begin(idle)).answer.handoff?.flags).toEqual(['no_progress'])
    const flagged = unwrap(begin(idle, { flags: ['decided_by_hook'] }))
    expect(flagged.answer.handoff?.flags).toEqual(['decided_by_hook', 'no_progress'])
    const earlier = facts({}, { exchangeToolCalls: [], lastToolCalls: [CALL] })
    expect(unwrap(begin(earlier)).answer.handoff?.flags).toEqual([])
  })
})

describe('a restart beyond its budget', () => {
  it('under "stop" fails the session, with the reason kept, and drops its lease', () => {
    const { answer, changes, events } = unwrap(begin(facts(EXHAUSTED)))
    const endReason = 'The context window is full, and the conversation is not restarted: its 0 restarts are used up.'
    expect(answer).toMatchObject({ refusedBy: 'restarts', session: { state: 'failed', endReason, endedAt: LATER } })
    expect(Object.keys(answer)).not.toContain('handoff')
    expect(changes).toMatchObject([
      {
        type: 'move_session',
        working: { session: answer.session, holder: HOLDER.digest },
        expected: { version: 3, holder: HOLDER.digest, token: HOLDER.token },
      },
      { type: 'drop_lease', session: { id: SESSION, conversationId: CONVERSATION } },
    ])
    expect(events).toMatchObject([
      { ...REFUSED, whenExhausted: 'stop' },
      { type: 'session.failed', endReason },
    ])
  })

  it('under "carry_on" leaves the session alone, and logs that it was refused', () => {
    const { answer, changes, events } = unwrap(begin(facts({ ...EXHAUSTED, whenExhausted: 'carry_on' })))
    expect(answer).toStrictEqual({ session: SESSIONS.active, refusedBy: 'restarts' })
    expect(changes).toMatchObject([
      { type: 'expect_session', expected: { version: 3, holder: HOLDER.digest, token: HOLDER.token } },
    ])
    expect(events).toStrictEqual([{ ...REFUSED, whenExhausted: 'carry_on' }])
  })

  it('names what is used up', () => {
    const restarts = { restarts: 1, takeovers: 0, firstStartedAt: AT, costUsd: 7 }
    expect(unwrap(begin(facts({ maxCostUsd: 7 }, { restarts }))).answer.refusedBy).toBe('cost')
    expect(unwrap(begin(facts({ deadlineMs: 1_000 }, { restarts }))).answer.refusedBy).toBe('deadline')
    const cameFrom = { kind: 'context_restart', flags: [] } as const
    const atOnce = facts({}, { restarts: { ...restarts, cameFrom } })
    expect(unwrap(begin(atOnce)).answer.refusedBy).toBe('no_progress')
  })
})

describe('a restart that cannot be', () => {
  const budgets = [{}, EXHAUSTED, { ...EXHAUSTED, whenExhausted: 'carry_on' }] as const

  it.each(budgets)('of a session that is over, paused or being handed off is refused as such, under %o', (budget) => {
    const of = (session: keyof typeof SESSIONS) =>
      refusal(begin(facts(budget, { working: { session: SESSIONS[session], holder: HOLDER.digest } })))
    expect(of('completed')).toStrictEqual({ code: 'session.not_active', sessionId: SESSION, state: 'completed' })
    expect(of('paused')).toStrictEqual({ code: 'session.not_active', sessionId: SESSION, state: 'paused' })
    expect(of('held')).toStrictEqual({ code: 'handoff.already_open', sessionId: SESSION, handoffId: HANDOFF })
  })

  it('is refused to a caller that no longer holds the session, and of one nobody knows', () => {
    expect(refusal(begin(facts(EXHAUSTED), { holder: proofOf(99) })).code).toBe('session.superseded')
    const { working: _, ...unknown } = facts()
    expect(refusal(begin(unknown)).code).toBe('session.not_found')
  })

  it('is refused for what any handoff is refused for', () => {
    const session = sessionOf({ state: 'active' }, { progress: { ...SESSIONS.active.progress, turns: 0 } })
    const unspoken = facts({}, { working: { session, holder: HOLDER.digest } })
    expect(refusal(begin(unspoken))).toStrictEqual({ code: 'session.no_turns', sessionId: SESSION })
  })
})
