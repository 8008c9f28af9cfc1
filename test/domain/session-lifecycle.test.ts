import { describe, expect, it } from 'vitest'
import { sequenceNumber, sequenceRange } from '../../src/domain/kernel/sequence.ts'
import { nextState } from '../../src/domain/kernel/state-machine.ts'
import type { RefusalCode } from '../../src/domain/refusal.ts'
import {
  type AgentSession,
  hasBaton,
  heldBy,
  isTerminal,
  SESSION_STATES,
  SESSION_TRANSITIONS,
  type SessionCommandType,
  type SessionState,
  sessionIdentityOf,
  standingOf,
  TERMINAL_SESSION_STATES,
} from '../../src/domain/session/agent-session.ts'
import {
  beginSession,
  decideSession,
  evolveSession,
  type SessionCommand,
} from '../../src/domain/session/session-lifecycle.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { UNKNOWN_USAGE } from '../../src/domain/window/usage-reading.ts'
import { refusal } from '../../src/testing/expected-refusal.ts'
import { HANDOFF, LATER, MESSAGE, OTHER_HANDOFF, SESSION, SESSIONS, sessionOf, TURN } from './samples.ts'

const COMMANDS = {
  record_turn: {
    type: 'record_turn',
    at: LATER,
    turn: {
      id: TURN,
      messages: [{ id: MESSAGE, input: { role: 'assistant', text: 'Done' } }],
      usage: { state: 'metered', promptTokens: 10, outputTokens: 2 },
    },
  },
  extend_turn: { type: 'extend_turn', at: LATER, messages: [{ id: MESSAGE, input: { role: 'tool', text: 'Green' } }] },
  take_over: { type: 'take_over', at: LATER },
  attach: { type: 'attach', at: LATER, providerSessionId: 'provider-1' },
  account: { type: 'account', at: LATER, totals: { inputTokens: 900, outputTokens: 80, costUsd: 0.25 } },
  pause: { type: 'pause', at: LATER },
  resume: { type: 'resume', at: LATER, nextSequence: sequenceNumber(9) },
  truncate: { type: 'truncate', at: LATER },
  complete: { type: 'complete', at: LATER },
  fail: { type: 'fail', at: LATER, reason: 'It gave up' },
  hold: { type: 'hold', at: LATER, handoffId: HANDOFF },
  release: { type: 'release', at: LATER, handoffId: HANDOFF },
  hand_off: { type: 'hand_off', at: LATER, handoffId: HANDOFF },
} as const satisfies Record<SessionCommandType, SessionCommand>

const COMMAND_TYPES = Object.keys(COMMANDS) as SessionCommandType[]

const NOT_ACTIVE = 'session.not_active'
const ILLEGAL = 'session.illegal_transition'
const HELD = 'session.held'

const ENDED = {
  record_turn: NOT_ACTIVE,
  extend_turn: ILLEGAL,
  take_over: ILLEGAL,
  attach: ILLEGAL,
  account: ILLEGAL,
  truncate: ILLEGAL,
  pause: ILLEGAL,
  resume: ILLEGAL,
  complete: ILLEGAL,
  fail: ILLEGAL,
  hold: NOT_ACTIVE,
  release: ILLEGAL,
  hand_off: ILLEGAL,
} as const

/** Every situation × every command, written out from the rules and not read from the table. */
const CELLS: Readonly<
  Record<keyof typeof SESSIONS, Readonly<Record<SessionCommandType, SessionState | Extract<RefusalCode, string>>>>
> = {
  active: {
    record_turn: 'active',
    extend_turn: ILLEGAL,
    take_over: 'active',
    attach: 'active',
    account: 'active',
    truncate: 'active',
    pause: 'paused',
    resume: ILLEGAL,
    complete: 'completed',
    fail: 'failed',
    hold: 'paused',
    release: ILLEGAL,
    hand_off: ILLEGAL,
  },
  paused: {
    record_turn: NOT_ACTIVE,
    extend_turn: ILLEGAL,
    take_over: 'paused',
    attach: ILLEGAL,
    account: 'paused',
    truncate: 'paused',
    pause: ILLEGAL,
    resume: 'active',
    complete: 'completed',
    fail: 'failed',
    hold: NOT_ACTIVE,
    release: ILLEGAL,
    hand_off: ILLEGAL,
  },
  held: {
    record_turn: NOT_ACTIVE,
    extend_turn: 'paused',
    take_over: 'paused',
    attach: ILLEGAL,
    account: 'paused',
    truncate: 'paused',
    pause: HELD,
    resume: HELD,
    complete: HELD,
    fail: HELD,
    hold: NOT_ACTIVE,
    release: 'active',
    hand_off: 'handed_off',
  },
  handed_off: ENDED,
  completed: ENDED,
  failed: ENDED,
}

const cells = Object.entries(CELLS).flatMap(([situation, row]) =>
  COMMAND_TYPES.map((command) => ({
    situation: situation as keyof typeof SESSIONS,
    command,
    leadsTo: row[command] as string,
  })),
)
const allowed = cells.filter(({ leadsTo }) => !leadsTo.startsWith('session.'))
const refused = cells.filter(({ leadsTo }) => leadsTo.startsWith('session.'))

const move = (session: AgentSession, command: SessionCommand): AgentSession =>
  evolveSession(session, unwrap(decideSession(session, command)))

describe('the life of a session, cell by cell', () => {
  it.each(allowed)('$situation: $command leads to $leadsTo', ({ situation, command, leadsTo }) => {
    const before: AgentSession = SESSIONS[situation]
    const event = unwrap(decideSession(before, COMMANDS[command]))
    expect(event).toMatchObject({ version: 1, conversationId: before.conversationId, sessionId: before.id, at: LATER })
    const after = evolveSession(before, event)
    expect(after.state).toBe(leadsTo)
    expect(after.version).toBe(before.version + 1)
    expect(sessionIdentityOf(after)).toStrictEqual(sessionIdentityOf(before))
    expect(nextState<SessionState, SessionCommandType>(SESSION_TRANSITIONS, before.state, command)).toBe(leadsTo)
  })

  it.each(refused)('$situation: $command is refused as $leadsTo', ({ situation, command, leadsTo }) => {
    const session: AgentSession = SESSIONS[situation]
    expect(refusal(decideSession(session, COMMANDS[command]))).toMatchObject({ code: leadsTo, sessionId: SESSION })
  })

  it('walks every state and every command of the table', () => {
    expect(new Set(Object.values(SESSIONS).map(({ state }) => state))).toEqual(new Set(SESSION_STATES))
    const inTable = SESSION_STATES.flatMap((state) => Object.keys(SESSION_TRANSITIONS[state]))
    expect(new Set(COMMAND_TYPES)).toEqual(new Set(inTable))
  })

  it.each(['release', 'hand_off'] as const)('a held session is not for another handoff to %s', (type) => {
    const error = refusal(decideSession(SESSIONS.held, { type, at: LATER, handoffId: OTHER_HANDOFF }))
    expect(error).toStrictEqual({ code: ILLEGAL, sessionId: SESSION, from: 'paused', command: type })
  })

  it('a refusal by a hold names the handoff, one by a state names the state', () => {
    const byHold = refusal(decideSession(SESSIONS.held, COMMANDS.resume))
    expect(byHold).toStrictEqual({ code: HELD, sessionId: SESSION, handoffId: HANDOFF, command: 'resume' })
    const byState = refusal(decideSession(SESSIONS.completed, COMMANDS.record_turn))
    expect(byState).toStrictEqual({ code: NOT_ACTIVE, sessionId: SESSION, state: 'completed' })
  })

  it('the terminal states are those without a way out', () => {
    expect(TERMINAL_SESSION_STATES).toEqual(['handed_off', 'completed', 'failed'])
    for (const [situation, session] of Object.entries(SESSIONS)) {
      expect(isTerminal(session)).toBe(!['active', 'paused', 'held'].includes(situation))
    }
  })
})

describe('what a session looks like afterwards', () => {
  it('released: active, and nothing is left of the hold', () => {
    const after = move(SESSIONS.held, COMMANDS.release)
    expect(after).toStrictEqual({ ...SESSIONS.active, version: 4 })
    expect(Object.keys(after)).not.toContain('heldBy')
  })

  it('held: paused, and says by which handoff; only then, or while active, it has the baton', () => {
    expect(heldBy(move(SESSIONS.active, COMMANDS.hold))).toBe(HANDOFF)
    const withBaton = Object.entries(SESSIONS).flatMap(([name, session]) => (hasBaton(session) ? [name] : []))
    expect(withBaton).toEqual(['active', 'held'])
  })

  it('taken over while held: still held', () => {
    expect(heldBy(move(SESSIONS.held, COMMANDS.take_over))).toBe(HANDOFF)
    expect(Object.keys(move(SESSIONS.paused, COMMANDS.take_over))).not.toContain('heldBy')
  })

  it('attached: says under which name it runs, once', () => {
    const attached = move(SESSIONS.active, COMMANDS.attach)
    expect(attached).toStrictEqual({ ...SESSIONS.active, version: 4, providerSessionId: 'provider-1' })
    for (const providerSessionId of ['provider-1', 'provider-2'])
      expect(refusal(decideSession(attached, { ...COMMANDS.attach, providerSessionId }))).toStrictEqual({
        code: 'session.attached',
        sessionId: SESSION,
        providerSessionId: 'provider-1',
      })
  })

  it('accounted: the latest totals stand, and both stay through whatever happens', () => {
    const totals = { inputTokens: 1_000, outputTokens: 90 }
    const once = move(move(SESSIONS.active, COMMANDS.attach), COMMANDS.account)
    expect(once).toMatchObject({ version: 5, totals: COMMANDS.account.totals })
    const twice = move(once, { ...COMMANDS.account, totals })
    expect(twice.totals).toStrictEqual(totals)
    for (const command of [COMMANDS.record_turn, COMMANDS.take_over, COMMANDS.pause, COMMANDS.hold, COMMANDS.fail])
      expect(move(twice, command)).toMatchObject({ providerSessionId: 'provider-1', totals })
    expect(heldBy(move(SESSIONS.held, COMMANDS.account))).toBe(HANDOFF)
  })

  it('handed off: says by which handoff, when, and where it ended', () => {
    const end = { endedAt: LATER, endSequence: 2 }
    expect(move(SESSIONS.held, COMMANDS.hand_off)).toMatchObject({ terminatedByHandoff: HANDOFF, ...end })
    expect(move(SESSIONS.held, COMMANDS.hand_off)).not.toHaveProperty('heldBy')
    expect(move(SESSIONS.active, COMMANDS.complete)).toMatchObject(end)
    expect(move(SESSIONS.paused, COMMANDS.fail)).toMatchObject({ endReason: 'It gave up', ...end })
  })

  it('ended without a message: there is no end sequence', () => {
    const empty = beginSession({
      type: 'session.started',
      version: 1,
      conversationId: SESSIONS.active.conversationId,
      at: LATER,
      session: sessionIdentityOf(SESSIONS.active),
    })
    expect(Object.keys(move(empty, COMMANDS.complete))).not.toContain('endSequence')
  })

  it('resumed: continues at the given place', () => {
    expect(move(SESSIONS.paused, COMMANDS.resume).progress.nextSequence).toBe(9)
  })

  it('a recorded turn moves the figures on and replaces the usage reading', () => {
    const { progress } = move(SESSIONS.active, COMMANDS.record_turn)
    expect(progress).toStrictEqual({
      turns: 2,
      lastTurnId: TURN,
      nextSequence: 4,
      lastSequence: 3,
      exchangeStart: 1,
      window: {
        messages: { user: 1, assistant: 2, tool: 0, system: 0 },
        range: { start: 1, end: 3 },
        usage: { state: 'metered', promptTokens: 10, outputTokens: 2 },
      },
    })
  })

  it('a user message begins a new exchange', () => {
    const turn = { ...COMMANDS.record_turn.turn, messages: [{ id: MESSAGE, input: { role: 'user', text: 'More' } }] }
    const { progress } = move(SESSIONS.active, { ...COMMANDS.record_turn, turn } as SessionCommand)
    expect(progress.exchangeStart).toBe(3)
  })

  it('begun: active, version 1, an empty window unless it opens with a message', () => {
    const { conversationId } = SESSIONS.active
    const session = { ...sessionIdentityOf(SESSIONS.active), startSequence: sequenceNumber(5) }
    const started = { type: 'session.started', version: 1, conversationId, at: LATER, session } as const
    const empty = beginSession(started)
    expect(empty).toMatchObject({ state: 'active', version: 1 })
    expect(empty.progress).toStrictEqual({
      turns: 0,
      nextSequence: 5,
      window: { messages: { user: 0, assistant: 0, tool: 0, system: 0 }, usage: UNKNOWN_USAGE },
    })
    const place = { id: MESSAGE, conversationId, sessionId: SESSION, sequenceNumber: sequenceNumber(5) }
    const opened = beginSession({
      ...started,
      opening: [{ ...place, role: 'user', origin: 'person', text: 'Go', recordedAt: LATER }],
    })
    expect(opened.progress).toMatchObject({ turns: 0, nextSequence: 6, lastSequence: 5, exchangeStart: 5 })
    expect(opened.progress.window).toMatchObject({ messages: { user: 1 }, range: sequenceRange(5, 5) })
  })

  it('identity and standing together are the whole session', () => {
    const whole = sessionOf({ state: 'active' }, { model: 'opus', providerSessionId: 'p', initiatedByHandoff: HANDOFF })
    expect({ ...sessionIdentityOf(whole), ...standingOf(whole) }).toStrictEqual(whole)
    expect(Object.keys(standingOf(whole)).sort()).toEqual(['progress', 'providerSessionId', 'state', 'version'])
  })
})
