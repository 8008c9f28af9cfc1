import { describe, expect, it } from 'vitest'
import { CONVERSATION, DEADLINE, LATER } from '../domain/samples.ts'
import {
  close,
  lookedBack,
  NEW_CONVERSATION,
  NEW_DIGEST,
  NEW_HANDOFF,
  NEW_HOLDER,
  NEW_LOOK_BACK,
  NEW_SESSION,
  resume,
  takeOver,
  thread,
} from '../support/asked.ts'
import { given } from '../support/decider.ts'
import {
  conversationClosed,
  conversationOpened,
  handoffInitiated,
  leased,
  sessionCompleted,
  sessionPaused,
  sessionStarted,
  turnRecorded,
} from '../support/told.ts'

const atWork = [conversationOpened(), sessionStarted('claude-code')]
const worked = [...atWork, turnRecorded({ asks: 'Fix it', tools: ['read_file'] })]

describe('taking a session over', () => {
  it('gives it to a new holder, whatever the one before promised', () => {
    const { answer, changes } = given(...worked, leased(DEADLINE))
      .when(takeOver({ leaseMs: 500 }))
      .thenHappens('session.taken_over')
    expect(answer.holder).toBe(NEW_HOLDER)
    expect(changes).toMatchObject([
      { type: 'move_session', working: { holder: NEW_DIGEST } },
      { type: 'set_lease', holder: NEW_DIGEST, leaseMs: 500 },
    ])
  })

  it('only if it is abandoned, waits for the lease, and says so in the log', () => {
    const { past, when } = given(...worked, leased(DEADLINE))
    when(takeOver({ ifAbandoned: true })).thenRefused({
      code: 'session.leased',
      sessionId: past.session.id,
      until: DEADLINE,
    })
    const expired = given(...worked, leased(LATER))
    const { answer } = expired
      .when(takeOver({ ifAbandoned: true }))
      .thenHappens({ type: 'session.taken_over', isAbandoned: true })
    expect(answer.session.takeovers).toBe(1)
  })

  it('is refused of a session that is over', () => {
    given(...worked, sessionCompleted())
      .when(takeOver())
      .thenRefused('session.illegal_transition')
  })
})

describe('resuming a session', () => {
  it('continues after all messages since then, if no other session has the baton', () => {
    const other = [sessionStarted('opus'), turnRecorded({ asks: 'And this' }), sessionCompleted()]
    const { past, when } = given(...worked, sessionPaused(), ...other)
    const [first] = past.turns
    const { changes } = when(resume(first && { sessionId: first.sessionId })).thenHappens({
      type: 'session.resumed',
      nextSequence: past.nextSequence,
    })
    const { nextSequence } = past
    expect(changes.map(({ type }) => type)).toEqual(['expect_open', 'expect_tail', 'move_session', 'drop_lease'])
    expect(changes[1]).toStrictEqual({ type: 'expect_tail', conversationId: CONVERSATION, nextSequence })
  })

  it('with a lease makes the caller its holder', () => {
    const { answer } = given(...worked, sessionPaused())
      .when(resume({ leaseMs: 500 }))
      .thenHappens('session.resumed')
    expect(answer.holder).toBe(NEW_HOLDER)
  })

  it('is refused while somebody else works, while a handoff holds it, and in a closed conversation', () => {
    const { past, when } = given(...worked, sessionPaused(), sessionStarted('opus'))
    const [first] = past.turns
    when(resume(first && { sessionId: first.sessionId })).thenRefused('conversation.session_active')
    given(...worked, handoffInitiated())
      .when(resume())
      .thenRefused('session.held')
    given(...worked, sessionPaused(), conversationClosed())
      .when(resume())
      .thenRefused('conversation.closed')
  })
})

describe('closing a conversation', () => {
  it('is done when nobody has the baton', () => {
    const { answer, changes } = given(...worked, sessionCompleted())
      .when(close())
      .thenHappens('conversation.closed')
    expect(answer.conversation.closedAt).toBe(LATER)
    expect(changes).toStrictEqual([{ type: 'set_closed', conversationId: CONVERSATION, closedAt: LATER }])
  })

  it('is refused while somebody works or is handing off, and when it is closed', () => {
    given(...worked)
      .when(close())
      .thenRefused('conversation.session_active')
    given(...worked, handoffInitiated())
      .when(close())
      .thenRefused('conversation.handoff_open')
    given(conversationOpened(), conversationClosed()).when(close()).thenRefused('conversation.closed')
  })
})

describe('opening a thread', () => {
  it('begins a child conversation that the handoff is completed into, and leaves the source alone', () => {
    const { answer, changes } = given(...worked)
      .when(thread({ targetAgent: 'opus', child: { originalTask: 'Write the docs' } }))
      .thenHappens(
        { type: 'handoff.initiated', handoff: { kind: 'thread', triggeringToolCalls: [{ toolName: 'read_file' }] } },
        { type: 'snapshot.captured', snapshot: { type: 'handoff_initiated' } },
        { type: 'conversation.opened', conversation: { id: NEW_CONVERSATION, parentId: CONVERSATION } },
        { type: 'session.started', session: { id: NEW_SESSION, initiatedByHandoff: NEW_HANDOFF, epoch: 1 } },
        { type: 'snapshot.captured', snapshot: { type: 'session_start' } },
        { type: 'handoff.accepted', claim: { claimant: 'opus' } },
        { type: 'handoff.completed', targetConversationId: NEW_CONVERSATION },
      )
    expect(answer.handoff.status).toBe('completed')
    expect(changes[0]).toMatchObject({ type: 'expect_session' })
    expect(changes.filter(({ type }) => type === 'move_session')).toEqual([])
  })

  it('is possible from a session that is over', () => {
    const { answer } = given(...worked, sessionCompleted())
      .when(thread({ targetAgent: 'claude-code' }))
      .thenHappens(
        'handoff.initiated',
        'snapshot.captured',
        'conversation.opened',
        'session.started',
        'snapshot.captured',
        'handoff.accepted',
        'handoff.completed',
      )
    expect(answer.conversation.originalTask).toBe('Fix the flaky test')
  })

  it('is refused from a session that has no turn', () => {
    given(...atWork)
      .when(thread({ targetAgent: 'opus' }))
      .thenRefused('session.no_turns')
  })
})

describe('looking back', () => {
  const question = { by: 'words', text: 'flaky test', found: 2 } as const

  it('is put on record, and neither moves the session nor depends on what it does', () => {
    const { changes, answer } = given(...worked)
      .when(lookedBack(question))
      .thenHappens({ type: 'session.looked_back', lookBack: { id: NEW_LOOK_BACK, ...question } })
    expect(changes).toMatchObject([{ type: 'add_look_back', lookBack: { conversationId: CONVERSATION, ...question } }])
    expect(answer.session.version).toBe(given(...worked).past.session.version)
  })

  it('is put on record in whatever state the session is', () => {
    for (const state of [sessionPaused(), sessionCompleted()])
      given(...worked, state)
        .when(lookedBack(question))
        .thenHappens('session.looked_back')
  })
})
