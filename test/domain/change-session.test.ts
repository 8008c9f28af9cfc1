import { describe, expect, it } from 'vitest'
import type { SessionFacts } from '../../src/domain/facts.ts'
import { later } from '../../src/domain/kernel/instant.ts'
import {
  accountSession,
  attachSession,
  changeSession,
  takeOverSession,
} from '../../src/domain/session/change-session.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import type { UsageTotals } from '../../src/domain/window/usage-reading.ts'
import { refusal } from '../../src/testing/expected-refusal.ts'
import { AT, CONVERSATION, DEADLINE, HOLDER, LATER, proofOf, SESSION, SESSIONS, sessionOf } from './samples.ts'

const NEXT = proofOf(30)
const active: SessionFacts = { working: { session: SESSIONS.active, holder: HOLDER.digest } }
const key = { id: SESSION, conversationId: CONVERSATION }

describe('taking a session over', () => {
  const take = (facts: SessionFacts, more: { leaseMs?: number; ifAbandoned?: true; deadRunner?: string } = {}) =>
    takeOverSession(facts, { sessionId: SESSION, ...more }, { holder: NEXT, at: LATER })
  const leaseOf = (decided: ReturnType<typeof take>) => unwrap(decided).changes.slice(1)
  const until = (now: typeof AT): SessionFacts => ({ ...active, lease: { until: DEADLINE, now } })

  it('gives it to a new holder, guarded by the one before', () => {
    const { answer, changes } = unwrap(take(active))
    expect(answer).toStrictEqual({ session: { ...SESSIONS.active, version: 4 }, holder: NEXT.token })
    expect(changes[0]).toMatchObject({ type: 'move_session', expected: { version: 3, holder: HOLDER.digest } })
  })

  it('replaces the lease, or drops it when none is asked for; by hand whether it has run out or not', () => {
    for (const facts of [active, until(AT), until(DEADLINE)]) {
      expect(leaseOf(take(facts))).toStrictEqual([{ type: 'drop_lease', session: key }])
      expect(leaseOf(take(facts, { leaseMs: 500 }))).toStrictEqual([
        { type: 'set_lease', session: key, holder: NEXT.digest, leaseMs: 500 },
      ])
    }
  })

  it('only if abandoned: once the lease has run out, to the millisecond, by the store’s clock', () => {
    const asked = { ifAbandoned: true, leaseMs: 500 } as const
    const before = until(later(DEADLINE, -1))
    expect(refusal(take(before, asked))).toStrictEqual({ code: 'session.leased', sessionId: SESSION, until: DEADLINE })
    expect(take(until(DEADLINE), asked).ok).toBe(true)
    expect(refusal(take(active, asked))).toStrictEqual({ code: 'session.not_leased', sessionId: SESSION })
  })

  it('only if abandoned: whatever is written to the lease asks the clock again', () => {
    expect(leaseOf(take(until(DEADLINE), { ifAbandoned: true, leaseMs: 500 }))).toStrictEqual([
      { type: 'set_lease', session: key, holder: NEXT.digest, leaseMs: 500, ifExpired: true },
    ])
    expect(leaseOf(take(until(DEADLINE), { ifAbandoned: true }))).toStrictEqual([
      { type: 'drop_lease', session: key, ifExpired: true },
    ])
  })

  it('only if abandoned: before the lease has run out, from the very runner that is gone and from no other', () => {
    const held = { ...active, lease: { until: DEADLINE, now: later(DEADLINE, -1), runner: 'the one that held it' } }
    const asked = { ifAbandoned: true, leaseMs: 500 } as const
    expect(leaseOf(take(held, { ...asked, deadRunner: 'the one that held it' }))).toStrictEqual([
      { type: 'set_lease', session: key, holder: NEXT.digest, leaseMs: 500 },
    ])
    expect(refusal(take(held, { ...asked, deadRunner: 'one before it' })).code).toBe('session.leased')
    expect(refusal(take(until(later(DEADLINE, -1)), { ...asked, deadRunner: 'one before it' })).code).toBe(
      'session.leased',
    )
  })

  it('refuses a session that is over or unknown', () => {
    const over = { working: { session: SESSIONS.failed, holder: HOLDER.digest } }
    expect(refusal(take(over)).code).toBe('session.illegal_transition')
    expect(refusal(take({})).code).toBe('session.not_found')
    expect(refusal(take({}, { ifAbandoned: true })).code).toBe('session.not_found')
  })
})

describe('what is done by hand', () => {
  it.each(['pause', 'complete', 'fail'] as const)('%s drops the lease', (type) => {
    const command = type === 'fail' ? { type, reason: 'Stuck', at: LATER } : { type, at: LATER }
    const { changes } = unwrap(changeSession(active, { sessionId: SESSION, byHand: true }, command))
    expect(changes.slice(1)).toStrictEqual([{ type: 'drop_lease', session: key }])
  })

  it('is said: without that a change needs the token, and never both', () => {
    const pause = (asked: object) =>
      changeSession(active, { sessionId: SESSION, ...asked }, { type: 'pause', at: LATER })
    expect(refusal(pause({}))).toEqual({ code: 'session.no_token', sessionId: SESSION })
    expect(refusal(pause({ holder: NEXT })).code).toBe('session.superseded')
    expect(refusal(pause({ holder: HOLDER, byHand: true }))).toMatchObject({
      code: 'input.invalid',
      fields: [{ field: 'byHand' }],
    })
    expect(pause({ holder: HOLDER }).ok && pause({ byHand: true }).ok).toBe(true)
  })
})

describe('attaching a provider session', () => {
  const attach = (facts: SessionFacts, providerSessionId = 'provider-1', holder = HOLDER) =>
    attachSession(facts, { sessionId: SESSION, holder }, { providerSessionId, at: LATER })
  const attached: SessionFacts = {
    working: { session: sessionOf({ state: 'active' }, { providerSessionId: 'provider-1' }), holder: HOLDER.digest },
  }

  it('says under which name the session runs', () => {
    const { answer, events, changes } = unwrap(attach(active))
    expect(answer.session).toMatchObject({ version: 4, providerSessionId: 'provider-1' })
    expect(Object.keys(answer)).toEqual(['session'])
    expect(events).toMatchObject([{ type: 'session.attached', providerSessionId: 'provider-1' }])
    expect(changes).toMatchObject([{ type: 'move_session', expected: { version: 3, holder: HOLDER.digest } }])
  })

  it('again under the same name changes nothing; under another it is refused', () => {
    expect(unwrap(attach(attached))).toStrictEqual({
      changes: [],
      events: [],
      answer: { session: attached.working?.session },
    })
    expect(refusal(attach(attached, 'provider-2'))).toStrictEqual({
      code: 'session.attached',
      sessionId: SESSION,
      providerSessionId: 'provider-1',
    })
  })

  it('is for the holder of an active session', () => {
    expect(refusal(attach(active, 'provider-1', NEXT)).code).toBe('session.superseded')
    const held = { working: { session: SESSIONS.held, holder: HOLDER.digest } }
    expect(refusal(attach(held)).code).toBe('session.illegal_transition')
    expect(refusal(attach({})).code).toBe('session.not_found')
  })
})

describe('saying what a session used', () => {
  const account = (facts: SessionFacts, totals: UsageTotals, holder = HOLDER) =>
    accountSession(facts, { sessionId: SESSION, holder }, { totals, at: LATER })
  const totals = { inputTokens: 900, outputTokens: 80, requests: 7, costUsd: 0.25 }

  it('replaces what was said before', () => {
    const once = unwrap(account(active, totals))
    expect(once.answer).toStrictEqual({ session: { ...SESSIONS.active, version: 4, totals } })
    expect(once.events).toMatchObject([{ type: 'session.accounted', totals }])
    const less = { inputTokens: 1, outputTokens: 1 }
    const working = { ...once.answer, holder: HOLDER.digest }
    expect(unwrap(account({ working }, less)).answer.session.totals).toStrictEqual(less)
  })

  it('is for the holder, also while a handoff holds the session, and not once it is over', () => {
    expect(refusal(account(active, totals, NEXT)).code).toBe('session.superseded')
    expect(account({ working: { session: SESSIONS.held, holder: HOLDER.digest } }, totals).ok).toBe(true)
    const over = { working: { session: SESSIONS.handed_off, holder: HOLDER.digest } }
    expect(refusal(account(over, totals)).code).toBe('session.illegal_transition')
  })
})
