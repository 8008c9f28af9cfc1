import { describe, expect, it } from 'vitest'
import { NEW_HANDOFF, record, restart } from '../support/asked.ts'
import { given } from '../support/decider.ts'
import { conversationOpened, handoffInitiated, sessionStarted, turnRecorded, watched } from '../support/told.ts'

const budgetOf = (maxRestarts: number, whenExhausted: 'stop' | 'carry_on' = 'stop') =>
  conversationOpened({ restartBudget: { maxRestarts, whenExhausted } })

const auto = [budgetOf(3), sessionStarted('claude-code'), watched({ policy: 'auto' })]

describe('a turn', () => {
  it('is recorded, and says nothing of a window that has room', () => {
    const { answer } = given(...auto)
      .when(record([{ asks: 'Fix it', tools: ['read_file'], full: 40 }]))
      .thenHappens({ type: 'turn.recorded', turn: { number: 1, toolCalls: [{ toolName: 'read_file' }] } })
    expect(answer.session.progress.turns).toBe(1)
  })

  it('that passes a milestone says so once, and tells the session', () => {
    const { answer } = given(...auto)
      .when(record([{ asks: 'Fix it', full: 55 }, { full: 56 }]))
      .thenHappens('turn.recorded', 'turn.recorded', {
        type: 'context.milestone_reached',
        milestone: { name: 'warning', at: 0.5 },
      })
    expect(answer.signals).toHaveLength(1)
  })

  it('is refused while a handoff holds the session', () => {
    given(...auto, turnRecorded({ asks: 'Fix it' }), handoffInitiated())
      .when(record([{ tools: ['read_file'] }]))
      .thenRefused('session.not_active')
  })
})

describe('a turn that crosses the restart milestone', () => {
  const crossing = [{ tools: ['run_tests'], full: 90 }]
  const worked = [...auto, turnRecorded({ asks: 'Fix it', tools: ['read_file'] })]

  it('under auto initiates the restart in the same commit', () => {
    const { answer, changes } = given(...worked)
      .when(record(crossing))
      .thenHappens(
        { type: 'turn.recorded', turn: { number: 2 } },
        { type: 'context.milestone_reached', milestone: { name: 'restart' } },
        {
          type: 'handoff.initiated',
          handoff: {
            kind: 'context_restart',
            targetAgent: 'claude-code',
            reason: 'The context window is 90 % full.',
            triggeringToolCalls: [{ toolName: 'read_file' }, { toolName: 'run_tests' }],
          },
        },
        { type: 'session.held', handoffId: NEW_HANDOFF },
        { type: 'snapshot.captured', snapshot: { type: 'handoff_initiated', messages: { user: 1, assistant: 2 } } },
      )
    expect(answer.handoff?.priorTurnId).toBe(answer.turns.at(-1)?.id)
    // Two steps of one session are one write, guarded by what it was before the first.
    expect(changes.filter(({ type }) => type === 'move_session')).toMatchObject([
      { working: { session: { version: 4, state: 'paused' } }, expected: { version: 2, state: 'active', turns: 1 } },
    ])
  })

  it('under advise only says so', () => {
    given(...worked, watched({ policy: 'advise' }))
      .when(record(crossing))
      .thenHappens('turn.recorded', 'context.milestone_reached')
  })

  it('initiates nothing when the work is done', () => {
    given(...worked)
      .when(record(crossing, { withholdRestart: true }))
      .thenHappens('turn.recorded', 'context.milestone_reached')
  })

  it('cannot be decided by who does not know the tool calls before it', () => {
    given(...worked)
      .when(record(crossing, { isHeld: true }))
      .thenNeedsFacts()
  })

  it('fails the session when the budget is used up', () => {
    const { answer, changes } = given(budgetOf(0), ...worked.slice(1))
      .when(record(crossing))
      .thenHappens(
        'turn.recorded',
        'context.milestone_reached',
        { type: 'context.restart_refused', limit: 'restarts', whenExhausted: 'stop' },
        { type: 'session.failed', endedBy: 'restarts' },
      )
    expect(answer).toMatchObject({ refusedBy: 'restarts', session: { state: 'failed' } })
    expect(changes.at(-1)).toMatchObject({ type: 'drop_lease', session: { id: answer.session.id } })
  })

  it('pauses the session when its money is spent: it can be resumed once there is more', () => {
    const budget = { maxRestarts: 3, whenExhausted: 'stop', maxCostUsd: 0 } as const
    const { answer, changes } = given(conversationOpened({ restartBudget: budget }), ...worked.slice(1))
      .when(record(crossing))
      .thenHappens(
        'turn.recorded',
        'context.milestone_reached',
        { type: 'context.restart_refused', limit: 'cost', whenExhausted: 'stop' },
        'session.paused',
      )
    expect(answer).toMatchObject({ refusedBy: 'cost', session: { state: 'paused' } })
    expect(changes.at(-1)).toMatchObject({ type: 'drop_lease', session: { id: answer.session.id } })
  })

  it('leaves the session at work when the budget says to carry on, or its holder fails it later', () => {
    for (const [budget, request] of [
      [budgetOf(0, 'carry_on'), {}],
      [budgetOf(0), { failLater: true }],
    ] as const) {
      const { answer } = given(budget, ...worked.slice(1))
        .when(record(crossing, request))
        .thenHappens('turn.recorded', 'context.milestone_reached', 'context.restart_refused')
      expect(answer).toMatchObject({ refusedBy: 'restarts', session: { state: 'active' } })
    }
  })
})

describe('a restart that is asked for', () => {
  const worked = [...auto, turnRecorded({ asks: 'Fix it', tools: ['read_file'] })]

  it('is a handoff to the same agent', () => {
    given(...worked)
      .when(restart())
      .thenHappens(
        { type: 'handoff.initiated', handoff: { kind: 'context_restart', targetAgent: 'claude-code', flags: [] } },
        'session.held',
        'snapshot.captured',
      )
  })

  it('is refused by a budget that is used up, which the log says; the session is not touched under carry_on', () => {
    const { changes } = given(budgetOf(0, 'carry_on'), ...worked.slice(1))
      .when(restart())
      .thenHappens({ type: 'context.restart_refused', limit: 'restarts', whenExhausted: 'carry_on' })
    expect(changes.map(({ type }) => type)).toEqual(['expect_session'])
  })
})
