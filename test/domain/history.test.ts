import { describe, expect, it } from 'vitest'
import type { AuditEvent } from '../../src/domain/audit-event.ts'
import { originOf } from '../../src/domain/handoff/handoff.ts'
import { foldHistory } from '../../src/domain/history/history.ts'
import { sessionIdentityOf } from '../../src/domain/session/agent-session.ts'
import { captureWindow } from '../../src/domain/session/context-snapshot.ts'
import {
  AT,
  CLAIM,
  CONVERSATION,
  conversationOf,
  HANDOFF,
  HANDOFFS,
  LATER,
  SESSION,
  SESSIONS,
  SNAPSHOT,
  TARGET,
} from './samples.ts'

const about = { version: 1, conversationId: CONVERSATION } as const
const snapshot = captureWindow(SESSIONS.active, { id: SNAPSHOT, type: 'handoff_initiated', at: AT })

const KEPT = { document: 'Half done', flags: ['no_progress'], checkpoint: { outcome: 'kept' } } as const

const EVENTS: readonly AuditEvent[] = [
  { type: 'conversation.opened', ...about, at: AT, conversation: conversationOf() },
  { type: 'session.started', ...about, at: AT, session: sessionIdentityOf(SESSIONS.active) },
  { type: 'handoff.initiated', ...about, at: AT, handoff: { ...originOf(HANDOFFS.initiated), flags: [] } },
  { type: 'session.held', ...about, at: AT, sessionId: SESSION, handoffId: HANDOFF },
  { type: 'snapshot.captured', ...about, at: AT, snapshot },
  { type: 'handoff.checkpointed', ...about, at: AT, handoffId: HANDOFF, ...KEPT },
  { type: 'handoff.accepted', ...about, at: AT, handoffId: HANDOFF, claim: CLAIM },
  {
    type: 'handoff.prepared',
    ...about,
    at: AT,
    handoffId: HANDOFF,
    by: CLAIM.claimant,
    prepared: { sessionId: TARGET, continuation: 'Go' },
  },
  { type: 'session.handed_off', ...about, at: LATER, sessionId: SESSION, handoffId: HANDOFF },
  { type: 'handoff.completed', ...about, at: LATER, handoffId: HANDOFF, by: CLAIM.claimant, targetSessionId: TARGET },
]

describe('folding history', () => {
  it('gives the state the events add up to', () => {
    const { conversations, sessions, handoffs, snapshots } = foldHistory(EVENTS)
    expect(conversations.get(CONVERSATION)).toStrictEqual(conversationOf())
    expect(sessions.get(SESSION)).toMatchObject({ state: 'handed_off', version: 3, terminatedByHandoff: HANDOFF })
    expect(handoffs.get(HANDOFF)).toStrictEqual({
      ...originOf(HANDOFFS.initiated),
      ...KEPT,
      version: 5,
      status: 'completed',
      claim: CLAIM,
      targetSessionId: TARGET,
      endedAt: LATER,
    })
    expect(snapshots.get(SNAPSHOT)).toStrictEqual(snapshot)
  })

  it('of a session says under which name it runs and what it used', () => {
    const started = { type: 'session.started', ...about, at: AT, session: sessionIdentityOf(SESSIONS.active) } as const
    const totals = { inputTokens: 900, outputTokens: 80, costUsd: 0.25 }
    const said: readonly AuditEvent[] = [
      started,
      { type: 'session.attached', ...about, at: AT, sessionId: SESSION, providerSessionId: 'provider-1' },
      { type: 'session.accounted', ...about, at: AT, sessionId: SESSION, totals },
    ]
    const { sessions } = foldHistory(said)
    expect(sessions.get(SESSION)).toMatchObject({
      version: 3,
      state: 'active',
      providerSessionId: 'provider-1',
      totals,
    })
    const named = foldHistory([{ ...started, providerSessionId: 'provider-2' }])
    expect(named.sessions.get(SESSION)?.providerSessionId).toBe('provider-2')
  })

  it('passes over hooks that were called: they change nothing', () => {
    const called = { sessionId: SESSION, moment: 'after_run', hook: 'notify', hookType: 'shell' } as const
    const event: AuditEvent = { type: 'hook.delivered', ...about, at: AT, ...called, ok: true, durationMs: 12 }
    expect(foldHistory([...EVENTS, event])).toStrictEqual(foldHistory(EVENTS))
    expect(foldHistory([event]).sessions.size).toBe(0)
  })

  it('of half the events is the state half way', () => {
    const { sessions, handoffs } = foldHistory(EVENTS.slice(0, 4))
    expect(sessions.get(SESSION)).toMatchObject({ state: 'paused', heldBy: HANDOFF })
    expect(handoffs.get(HANDOFF)).toMatchObject({ status: 'initiated' })
  })

  it('of nothing is nothing', () => {
    const { conversations, sessions, handoffs, snapshots } = foldHistory([])
    expect([conversations.size, sessions.size, handoffs.size, snapshots.size]).toEqual([0, 0, 0, 0])
  })

  it('refuses an event about something no earlier event began', () => {
    expect(() => foldHistory(EVENTS.slice(3, 4))).toThrow(SESSION)
    expect(() => foldHistory(EVENTS.slice(5, 6))).toThrow(HANDOFF)
  })
})
