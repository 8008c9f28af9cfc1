import { describe, expect, it } from 'vitest'
import type { CheckpointFacts } from '../../src/domain/checkpoint/checkpoint-facts.ts'
import { type Change, expecting } from '../../src/domain/decision.ts'
import type { HandoffFacts } from '../../src/domain/facts.ts'
import type { HandoffMetadata } from '../../src/domain/handoff/handoff.ts'
import { type KeepCheckpoint, keepCheckpoint, prepareHandoff } from '../../src/domain/handoff/prepare-handoff.ts'
import { completeHandoff } from '../../src/domain/handoff/settle-handoff.ts'
import { agentSessionId } from '../../src/domain/kernel/ids.ts'
import { sequenceNumber } from '../../src/domain/kernel/sequence.ts'
import { shownBy } from '../../src/domain/session/stored-session.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { refusal } from '../../src/testing/expected-refusal.ts'
import {
  CLAIM,
  CONVERSATION,
  conversationOf,
  HANDOFF,
  HANDOFFS,
  HOLDER,
  handoffOf,
  LATER,
  MESSAGE,
  proofOf,
  SESSION,
  SESSIONS,
  SNAPSHOT,
  TARGET,
  uuid,
} from './samples.ts'

const facts = (handoff: HandoffMetadata): HandoffFacts => ({
  handoff,
  conversation: conversationOf(),
  source: { session: SESSIONS.held, holder: HOLDER.digest },
  now: LATER,
  lastEpoch: 1,
  nextSequence: sequenceNumber(3),
  personMessages: { messages: [], more: 0 },
})

const nobody: HandoffFacts = { now: LATER, lastEpoch: 0, nextSequence: sequenceNumber(1) }

const KEPT: CheckpointFacts = { outcome: 'kept', characters: 9, sections: ['Goal'] }

const keep = (given: HandoffFacts, more: Partial<Omit<KeepCheckpoint, 'handoffId'>> = {}) =>
  keepCheckpoint(
    given,
    { handoffId: HANDOFF, holder: HOLDER, checkpoint: KEPT, ...more },
    { snapshotId: SNAPSHOT, at: LATER },
  )

const prepare = (given: HandoffFacts, claimant = 'worker-1', holder = HOLDER) =>
  prepareHandoff(given, { handoffId: HANDOFF, holder, claimant, continuation: 'Go on', targetSessionId: TARGET }, LATER)

const EXPECTED = { version: 2, status: 'initiated' } as const

/** Everything is kept only while the source is held by whoever asks. */
const GUARD: Change = {
  type: 'expect_session',
  session: { id: SESSION, conversationId: CONVERSATION },
  expected: expecting(shownBy(SESSIONS.held, HOLDER)),
}

describe('keeping a checkpoint', () => {
  it('keeps the document, the remarks and what is known of it, with a picture of the window', () => {
    const { answer, changes, events } = unwrap(
      keep(facts(HANDOFFS.initiated), { document: 'Half done', flags: ['no_progress'] }),
    )
    expect(answer.handoff).toStrictEqual({
      ...HANDOFFS.initiated,
      version: 3,
      document: 'Half done',
      flags: ['no_progress'],
      checkpoint: KEPT,
    })
    expect(answer.session).toBe(SESSIONS.held)
    expect(changes).toMatchObject([
      { type: 'move_handoff', handoff: answer.handoff, expected: EXPECTED },
      GUARD,
      { type: 'add_snapshot', snapshot: { id: SNAPSHOT, type: 'checkpoint', sessionId: SESSION } },
    ])
    expect(events.map(({ type }) => type)).toEqual(['handoff.checkpointed', 'snapshot.captured'])
  })

  it('without a document takes no picture', () => {
    const checkpoint = { outcome: 'timed_out', reason: 'Too slow' } as const
    const { answer, changes, events } = unwrap(
      keep(facts(HANDOFFS.initiated), { flags: ['checkpoint_timed_out'], checkpoint }),
    )
    expect(answer.handoff).toMatchObject({ flags: ['checkpoint_timed_out'], checkpoint })
    expect(changes.map(({ type }) => type)).toEqual(['move_handoff', 'expect_session'])
    expect(events.map(({ type }) => type)).toEqual(['handoff.checkpointed'])
  })

  it('is done once, and before anyone takes over', () => {
    const once = unwrap(keep(facts(HANDOFFS.initiated))).answer.handoff
    expect(refusal(keep(facts(once)))).toStrictEqual({ code: 'handoff.checkpointed', handoffId: HANDOFF })
    expect(refusal(keep(facts(HANDOFFS.accepted))).code).toBe('handoff.illegal_transition')
    expect(refusal(keep(nobody)).code).toBe('handoff.not_found')
  })

  it('is for the holder of the source, and is stored only while it holds the source', () => {
    const stranger = proofOf(30)
    expect(refusal(keep(facts(HANDOFFS.initiated), { holder: stranger }))).toStrictEqual({
      code: 'session.superseded',
      sessionId: SESSION,
    })
    expect(unwrap(keep(facts(HANDOFFS.initiated))).changes[1]).toStrictEqual(GUARD)
  })
})

describe('preparing a successor', () => {
  it('keeps the continuation and which session it will be, with the claim', () => {
    const { answer, changes, events } = unwrap(prepare(facts(HANDOFFS.accepted)))
    const prepared = { sessionId: TARGET, continuation: 'Go on' }
    expect(answer.handoff).toStrictEqual({ ...HANDOFFS.accepted, version: 3, prepared })
    const { claimant, deadline } = CLAIM
    expect(changes).toMatchObject([
      { type: 'move_handoff', expected: { version: 2, status: 'accepted', claimant, deadline } },
      GUARD,
    ])
    expect(events).toMatchObject([{ type: 'handoff.prepared', prepared }])
  })

  it('is for the claimant alone, and only while it is claimed', () => {
    expect(refusal(prepare(facts(HANDOFFS.accepted), 'worker-2')).code).toBe('handoff.not_claimant')
    expect(refusal(prepare(facts(HANDOFFS.initiated))).code).toBe('handoff.illegal_transition')
    expect(refusal(prepare(facts(HANDOFFS.completed))).code).toBe('handoff.illegal_transition')
    expect(refusal(prepare(nobody)).code).toBe('handoff.not_found')
  })

  it('is for the holder of the source, and is stored only while it holds the source', () => {
    const stranger = proofOf(30)
    expect(refusal(prepare(facts(HANDOFFS.accepted), 'worker-1', stranger)).code).toBe('session.superseded')
    expect(unwrap(prepare(facts(HANDOFFS.accepted))).changes[1]).toStrictEqual(GUARD)
  })
})

describe('completing what was prepared', () => {
  const prepared = { sessionId: TARGET, continuation: 'Go on' }
  const ready = facts(handoffOf({ status: 'accepted', claim: CLAIM, prepared }, { document: 'Half done' }))
  const OWN = agentSessionId(uuid(20))
  const ids = { sessionId: OWN, holder: HOLDER, snapshotId: SNAPSHOT, openingId: MESSAGE }
  const complete = (given: HandoffFacts, more: { continuation?: string; leaseMs?: number } = {}) => {
    const decided = completeHandoff(
      given,
      { handoffId: HANDOFF, claimant: 'worker-1', ...more },
      { ids, at: LATER, believed: () => ({}) },
    )
    if ('needs' in decided) throw new Error('The facts did not say enough')
    return decided
  }

  it('opens the prepared session with the prepared continuation', () => {
    const { answer, changes } = unwrap(complete(ready))
    expect(answer.session.id).toBe(TARGET)
    expect(answer.handoff).toMatchObject({ status: 'completed', targetSessionId: TARGET, document: 'Half done' })
    expect(Object.keys(answer.handoff)).not.toContain('prepared')
    expect(changes.find(({ type }) => type === 'add_message')).toMatchObject({
      message: { sessionId: TARGET, text: 'Go on' },
    })
  })

  it('lets the caller say something else, and makes up its own when nothing was prepared', () => {
    const opening = (decided: ReturnType<typeof complete>) =>
      unwrap(decided).changes.find(({ type }) => type === 'add_message')
    expect(opening(complete(ready, { continuation: 'Rather this' }))).toMatchObject({
      message: { text: 'Rather this' },
    })
    const plain = unwrap(complete(facts(HANDOFFS.accepted))).answer
    expect(plain.session.id).toBe(OWN)
  })

  it('drops the lease of the source, and grants one to the successor when asked', () => {
    const leases = (decided: ReturnType<typeof complete>) =>
      unwrap(decided).changes.filter(({ type }) => type === 'set_lease' || type === 'drop_lease')
    expect(leases(complete(ready))).toMatchObject([{ type: 'drop_lease', session: { id: SESSION } }])
    expect(leases(complete(ready, { leaseMs: 500 }))).toMatchObject([
      { type: 'drop_lease', session: { id: SESSION } },
      { type: 'set_lease', session: { id: TARGET }, holder: HOLDER.digest, leaseMs: 500 },
    ])
  })
})
