import { describe, expect, it } from 'vitest'
import { DEADLINE, LATER } from '../domain/samples.ts'
import { accept, cancel, complete, fail, initiate, NEW_HANDOFF, NEW_HOLDER, NEW_SESSION } from '../support/asked.ts'
import { given } from '../support/decider.ts'
import {
  conversationOpened,
  handoffAccepted,
  handoffInitiated,
  sessionPaused,
  sessionStarted,
  turnRecorded,
} from '../support/told.ts'

const TASK = 'Fix the flaky test'
const atWork = [conversationOpened({ originalTask: TASK }), sessionStarted('claude-code')]
const worked = [
  ...atWork,
  turnRecorded({ asks: 'Fix it', tools: ['read_file'] }),
  turnRecorded({ tools: ['run_tests'] }),
]
const handingOff = [...worked, handoffInitiated({ targetAgent: 'opus' })]
const claimed = [...handingOff, handoffAccepted('worker-1')]

describe('initiating a handoff', () => {
  it('names the turn and the tool calls that led to it, and holds the source', () => {
    const { answer } = given(...worked)
      .when(initiate({ targetAgent: 'opus', reason: 'Nearly full' }))
      .thenHappens(
        {
          type: 'handoff.initiated',
          handoff: {
            id: NEW_HANDOFF,
            kind: 'agent_transfer',
            sourceAgent: 'claude-code',
            targetAgent: 'opus',
            triggeringToolCalls: [{ toolName: 'read_file' }, { toolName: 'run_tests' }],
          },
        },
        { type: 'session.held', handoffId: NEW_HANDOFF },
        { type: 'snapshot.captured', snapshot: { type: 'handoff_initiated', messages: { user: 1, assistant: 2 } } },
      )
    expect(answer.session).toMatchObject({ state: 'paused', heldBy: NEW_HANDOFF })
  })

  it('goes back to the last turn that used a tool when the exchange used none', () => {
    given(...worked, turnRecorded({ asks: 'Thanks' }))
      .when(initiate({ targetAgent: 'opus' }))
      .thenHappens(
        { type: 'handoff.initiated', handoff: { triggeringToolCalls: [{ toolName: 'run_tests' }] } },
        'session.held',
        'snapshot.captured',
      )
  })

  it('is refused for every reason at once', () => {
    const { past, when } = given(...atWork, sessionPaused())
    const sessionId = past.session.id
    when(initiate({ targetAgent: 'claude-code' })).thenRefused({
      code: 'several',
      reasons: [
        { code: 'session.not_active', sessionId, state: 'paused' },
        { code: 'handoff.same_agent', agent: 'claude-code' },
        { code: 'session.no_turns', sessionId },
      ],
    })
  })

  it('is refused while another one is open, which is named', () => {
    const { past, when } = given(...handingOff)
    when(initiate({ targetAgent: 'haiku' })).thenRefused({
      code: 'handoff.already_open',
      sessionId: past.session.id,
      handoffId: past.handoff.id,
    })
  })
})

describe('accepting a handoff', () => {
  it('gives the claimant a minute by the clock of the store, and leaves the source alone', () => {
    const claim = { claimant: 'worker-1', acceptedAt: LATER }
    given(...handingOff)
      .when(accept({ claimant: 'worker-1' }))
      .thenHappens({ type: 'handoff.accepted', claim })
  })

  it('is refused before the deadline of somebody else, and says whose it is', () => {
    const { past, when } = given(...claimed)
    when(accept({ claimant: 'worker-2' })).thenRefused({
      code: 'handoff.already_claimed',
      handoffId: past.handoff.id,
      claimant: 'worker-1',
      deadline: DEADLINE,
    })
  })

  it('is possible for another one from the deadline on', () => {
    const { past, when } = given(...claimed)
    past.now = DEADLINE
    when(accept({ claimant: 'worker-2' })).thenHappens({ type: 'handoff.accepted', claim: { claimant: 'worker-2' } })
  })
})

describe('completing a handoff', () => {
  it('hands the source off and starts the target, and says last that it is done', () => {
    const { answer, changes } = given(...claimed)
      .when(complete({ claimant: 'worker-1', continuation: 'Go on', leaseMs: 500 }))
      .thenHappens(
        'session.handed_off',
        {
          type: 'session.started',
          session: { id: NEW_SESSION, agentName: 'opus', epoch: 2 },
          opening: [{ text: 'Go on' }],
        },
        { type: 'snapshot.captured', snapshot: { type: 'session_start', sessionId: NEW_SESSION } },
        { type: 'handoff.completed', by: 'worker-1', targetSessionId: NEW_SESSION },
      )
    expect(answer).toMatchObject({ holder: NEW_HOLDER, session: { state: 'active' } })
    expect(changes.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['drop_lease', 'set_lease', 'move_monitor', 'add_monitor', 'withdraw_signals']),
    )
  })

  it('of one that nobody has claimed claims it first, and both are on record', () => {
    given(...handingOff)
      .when(complete())
      .thenHappens(
        { type: 'handoff.accepted', claim: { claimant: 'opus' } },
        'session.handed_off',
        'session.started',
        'snapshot.captured',
        { type: 'handoff.completed', by: 'opus' },
      )
  })

  it('opens with the task once, then what the person said, then the document', () => {
    const said = [turnRecorded({ asks: TASK }), turnRecorded({ asks: 'No: tabs only!' })]
    const { changes } = given(...atWork, ...said, handoffInitiated({ targetAgent: 'opus', document: 'Half done' }))
      .when(complete())
      .thenHappens(
        'handoff.accepted',
        'session.handed_off',
        'session.started',
        'snapshot.captured',
        'handoff.completed',
      )
    const [opening = ''] = changes.flatMap((change) => (change.type === 'add_message' ? [change.message.text] : []))
    const [task = '', words = '', document = ''] = opening.split(/(?=<words-)|(?=<document-)/)
    expect(task.startsWith(TASK)).toBe(true)
    expect(words).toMatch(/^<words-(\S+)>\n\[\S+Z\]\nNo: tabs only!\n<\/words-\1>/)
    expect(document).toContain('Half done')
    expect(opening.split(TASK)).toHaveLength(2)
  })

  it('needs the words of the person from the record, unless it is told how the successor opens', () => {
    given(...claimed)
      .when(complete({ claimant: 'worker-1', isHeld: true }))
      .thenNeedsFacts()
    const { changes } = given(...claimed)
      .when(complete({ claimant: 'worker-1', isHeld: true, continuation: 'Rather this' }))
      .thenHappens('session.handed_off', 'session.started', 'snapshot.captured', 'handoff.completed')
    expect(changes).toContainEqual(
      expect.objectContaining({ message: expect.objectContaining({ text: 'Rather this' }) }),
    )
  })

  it('is for the claimant alone', () => {
    given(...claimed)
      .when(complete({ claimant: 'worker-2' }))
      .thenRefused('handoff.not_claimant')
  })
})

describe('ending a handoff without a successor', () => {
  it('cancelled, lets the source go on', () => {
    const { answer } = given(...handingOff)
      .when(cancel({ reason: 'Not needed' }))
      .thenHappens({ type: 'handoff.cancelled', endReason: 'Not needed' }, 'session.released')
    expect(answer.session).toMatchObject({ state: 'active' })
    expect(answer.session).not.toHaveProperty('heldBy')
  })

  it('failed, lets the source go on as well; a restart that failed may be due again', () => {
    given(...worked, handoffInitiated({ kind: 'context_restart', targetAgent: 'claude-code' }))
      .when(fail({ reason: 'It broke' }))
      .thenHappens('handoff.failed', 'session.released', { type: 'context.rearmed', why: 'restart_ended' })
  })

  it('is for the claimant until the deadline, then for anyone', () => {
    const { past, when } = given(...claimed)
    when(cancel({ reason: 'Too slow', by: 'worker-2' })).thenRefused('handoff.not_claimant')
    past.now = DEADLINE
    when(cancel({ reason: 'Too slow', by: 'worker-2' })).thenHappens('handoff.cancelled', 'session.released')
  })

  it('changes nothing of one that is over', () => {
    const { past, when } = given(...handingOff)
    past.take(when(cancel({ reason: 'Not needed' })).thenHappens('handoff.cancelled', 'session.released').events)
    when(cancel({ reason: 'Again' })).thenRefused('handoff.illegal_transition')
    when(complete()).thenRefused('handoff.illegal_transition')
  })
})
