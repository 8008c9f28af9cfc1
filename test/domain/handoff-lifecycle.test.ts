import { describe, expect, it } from 'vitest'
import {
  claimOf,
  HANDOFF_STATUSES,
  HANDOFF_TRANSITIONS,
  type HandoffCommandType,
  type HandoffMetadata,
  type HandoffStatus,
  handoffStandingOf,
  isClaimable,
  isOpen,
  originOf,
  TERMINAL_HANDOFF_STATUSES,
} from '../../src/domain/handoff/handoff.ts'
import { decideHandoff, evolveHandoff, type HandoffCommand } from '../../src/domain/handoff/handoff-lifecycle.ts'
import { later } from '../../src/domain/kernel/instant.ts'
import { nextState } from '../../src/domain/kernel/state-machine.ts'
import { unwrap } from '../../src/domain/unwrap.ts'
import { refusal } from '../../src/testing/expected-refusal.ts'
import { AT, CLAIM, CONVERSATION, DEADLINE, HANDOFF, HANDOFFS, handoffOf, LATER, SESSIONS, TARGET } from './samples.ts'

const KEPT = { document: 'Half done', flags: ['no_progress'], checkpoint: { outcome: 'kept' } } as const
const PREPARED = { sessionId: TARGET, continuation: 'Go on from here' } as const

type Who = 'worker-1' | 'worker-2' | undefined

const asks = (type: HandoffCommandType, by: Who, now = LATER): HandoffCommand => {
  if (type === 'accept' || type === 'renew') return { type, by: by ?? 'worker-2', claimMs: 500, at: LATER, now }
  if (type === 'checkpoint') return { type, ...KEPT, at: LATER, now }
  if (type === 'prepare') return { type, by: by ?? 'worker-2', prepared: PREPARED, at: LATER, now }
  if (type === 'complete') return { type, by: by ?? 'worker-2', targetSessionId: TARGET, at: LATER, now }
  return { type, reason: 'Not needed', at: LATER, now, ...(by !== undefined && { by }) }
}

const TYPES: readonly HandoffCommandType[] = ['checkpoint', 'accept', 'renew', 'prepare', 'complete', 'cancel', 'fail']
const ILLEGAL = 'handoff.illegal_transition'

/** Every status × every command by the claimant, written out from the rules and not read from the table. */
const CELLS: Readonly<Record<HandoffStatus, Readonly<Record<HandoffCommandType, string>>>> = {
  initiated: {
    checkpoint: 'initiated',
    accept: 'accepted',
    renew: ILLEGAL,
    prepare: ILLEGAL,
    complete: ILLEGAL,
    cancel: 'cancelled',
    fail: 'failed',
  },
  accepted: {
    checkpoint: ILLEGAL,
    accept: 'handoff.already_claimed',
    renew: 'accepted',
    prepare: 'accepted',
    complete: 'completed',
    cancel: 'cancelled',
    fail: 'failed',
  },
  completed: {
    checkpoint: ILLEGAL,
    accept: ILLEGAL,
    renew: ILLEGAL,
    prepare: ILLEGAL,
    complete: ILLEGAL,
    cancel: ILLEGAL,
    fail: ILLEGAL,
  },
  cancelled: {
    checkpoint: ILLEGAL,
    accept: ILLEGAL,
    renew: ILLEGAL,
    prepare: ILLEGAL,
    complete: ILLEGAL,
    cancel: ILLEGAL,
    fail: ILLEGAL,
  },
  failed: {
    checkpoint: ILLEGAL,
    accept: ILLEGAL,
    renew: ILLEGAL,
    prepare: ILLEGAL,
    complete: ILLEGAL,
    cancel: ILLEGAL,
    fail: ILLEGAL,
  },
}

const cells = HANDOFF_STATUSES.flatMap((status) =>
  TYPES.map((command) => ({ status, command, leadsTo: CELLS[status][command] })),
)

describe('the life of a handoff, cell by cell', () => {
  it.each(cells)('$status: $command by the claimant gives $leadsTo', ({ status, command, leadsTo }) => {
    const before = HANDOFFS[status]
    const decided = decideHandoff(before, asks(command, 'worker-1'))
    if (leadsTo.includes('.')) {
      expect(refusal(decided)).toMatchObject({ code: leadsTo, handoffId: HANDOFF })
      return
    }
    const event = unwrap(decided)
    expect(event).toMatchObject({ version: 1, conversationId: CONVERSATION, handoffId: HANDOFF, at: LATER })
    const after = evolveHandoff(before, event)
    expect(after.status).toBe(leadsTo)
    expect(after.version).toBe(before.version + 1)
    expect(originOf(after)).toStrictEqual(originOf(before))
    expect(nextState<HandoffStatus, HandoffCommandType>(HANDOFF_TRANSITIONS, status, command)).toBe(leadsTo)
  })

  it('walks every status and every command of the table', () => {
    expect(Object.keys(CELLS)).toEqual(HANDOFF_STATUSES)
    const inTable = HANDOFF_STATUSES.flatMap((status) => Object.keys(HANDOFF_TRANSITIONS[status]))
    expect(new Set(inTable)).toEqual(new Set(TYPES))
  })

  it('the terminal statuses are those without a way out; the others are open', () => {
    expect(TERMINAL_HANDOFF_STATUSES).toEqual(['completed', 'cancelled', 'failed'])
    expect(HANDOFF_STATUSES.filter((status) => isOpen(HANDOFFS[status]))).toEqual(['initiated', 'accepted'])
  })

  it('an illegal transition names the status and the command', () => {
    const error = refusal(decideHandoff(HANDOFFS.completed, asks('cancel', 'worker-1')))
    expect(error).toStrictEqual({ code: ILLEGAL, handoffId: HANDOFF, from: 'completed', command: 'cancel' })
  })
})

const BEFORE = later(DEADLINE, -1)
const AFTER = later(DEADLINE, 1)
const CLAIMED = 'handoff.already_claimed'
const STRANGER = 'handoff.not_claimant'

/** Who may do what with a claimed handoff: before the deadline, at it, after it. */
const CLAIM_CELLS: readonly [HandoffCommandType, Who, readonly [string, string, string]][] = [
  ['accept', 'worker-1', [CLAIMED, 'accepted', 'accepted']],
  ['accept', 'worker-2', [CLAIMED, 'accepted', 'accepted']],
  ['prepare', 'worker-1', ['accepted', 'accepted', 'accepted']],
  ['prepare', 'worker-2', [STRANGER, STRANGER, STRANGER]],
  ['complete', 'worker-1', ['completed', 'completed', 'completed']],
  ['complete', 'worker-2', [STRANGER, STRANGER, STRANGER]],
  ['cancel', 'worker-1', ['cancelled', 'cancelled', 'cancelled']],
  ['cancel', 'worker-2', [STRANGER, 'cancelled', 'cancelled']],
  ['cancel', undefined, [STRANGER, 'cancelled', 'cancelled']],
  ['fail', 'worker-1', ['failed', 'failed', 'failed']],
  ['fail', 'worker-2', [STRANGER, 'failed', 'failed']],
  ['fail', undefined, [STRANGER, 'failed', 'failed']],
]

const claimCells = CLAIM_CELLS.flatMap(([command, by, outcomes]) =>
  [BEFORE, DEADLINE, AFTER].map((now, index) => ({ command, by, now, outcome: outcomes[index] ?? '' })),
)

describe('a claimed handoff', () => {
  it.each(claimCells)('$command by $by at $now gives $outcome', ({ command, by, now, outcome }) => {
    const decided = decideHandoff(HANDOFFS.accepted, asks(command, by, now))
    if (decided.ok) expect(evolveHandoff(HANDOFFS.accepted, decided.value).status).toBe(outcome)
    else {
      expect(decided.error).toMatchObject({ code: outcome, claimant: 'worker-1', deadline: DEADLINE })
      expect('by' in decided.error).toBe(outcome === STRANGER && by !== undefined)
    }
  })

  it('before anyone claimed it, anyone may cancel or fail it, and it may be claimed', () => {
    for (const type of ['cancel', 'fail'] as const) {
      expect(decideHandoff(HANDOFFS.initiated, asks(type, undefined)).ok).toBe(true)
    }
    expect(isClaimable(HANDOFFS.initiated, AT)).toBe(true)
    expect(isClaimable(HANDOFFS.accepted, BEFORE)).toBe(false)
    expect(isClaimable(HANDOFFS.accepted, DEADLINE)).toBe(true)
    expect(isClaimable(HANDOFFS.completed, AFTER)).toBe(false)
  })

  it('belongs to the later claimant once the first let the deadline pass', () => {
    const taken = evolveHandoff(
      HANDOFFS.accepted,
      unwrap(decideHandoff(HANDOFFS.accepted, asks('accept', 'worker-2', AFTER))),
    )
    expect(claimOf(taken)).toStrictEqual({ claimant: 'worker-2', acceptedAt: AFTER, deadline: later(AFTER, 500) })
    expect(refusal(decideHandoff(taken, asks('complete', 'worker-1', AFTER)))).toMatchObject({
      code: STRANGER,
      claimant: 'worker-2',
      by: 'worker-1',
    })
  })

  it('keeps its claim when it ends, and has none when nobody claimed it', () => {
    const end = (handoff: HandoffMetadata): HandoffMetadata =>
      evolveHandoff(handoff, unwrap(decideHandoff(handoff, asks('cancel', 'worker-1'))))
    expect(claimOf(end(HANDOFFS.accepted))).toStrictEqual(CLAIM)
    expect(Object.keys(end(HANDOFFS.initiated))).not.toContain('claim')
    expect(end(HANDOFFS.initiated)).toMatchObject({ endReason: 'Not needed', endedAt: LATER })
  })

  it('cannot have been completed before anyone accepted it', () => {
    const event = unwrap(decideHandoff(HANDOFFS.accepted, asks('complete', 'worker-1')))
    expect(() => evolveHandoff(HANDOFFS.initiated, event)).toThrow(TypeError)
  })

  it('origin and standing together are the whole handoff', () => {
    const whole = handoffOf({ status: 'initiated' }, { document: 'Notes', traceContext: { traceparent: '00' } })
    expect({ ...originOf(whole), ...handoffStandingOf(whole) }).toStrictEqual(whole)
    expect(Object.keys(handoffStandingOf(whole)).sort()).toEqual(['document', 'flags', 'status', 'version'])
  })
})

const move = (handoff: HandoffMetadata, ...commands: readonly HandoffCommand[]): HandoffMetadata =>
  commands.reduce((before, command) => evolveHandoff(before, unwrap(decideHandoff(before, command))), handoff)

describe('what goes with a handoff', () => {
  it('is kept once: a second checkpoint is refused, and so is one beside the caller’s own document', () => {
    const checkpointed = move(HANDOFFS.initiated, asks('checkpoint', undefined))
    const missing = { ...asks('checkpoint', undefined), document: undefined } as unknown as HandoffCommand
    const without = handoffOf({ status: 'initiated' }, { checkpoint: { outcome: 'missing' } })
    for (const before of [checkpointed, without, handoffOf({ status: 'initiated' }, { document: 'Notes' })]) {
      for (const command of [asks('checkpoint', undefined), missing])
        expect(refusal(decideHandoff(before, command))).toStrictEqual({
          code: 'handoff.checkpointed',
          handoffId: HANDOFF,
        })
    }
  })

  it('adds its flags to those the handoff began with', () => {
    const flagged = handoffOf({ status: 'initiated' }, { flags: ['decided_by_hook'] })
    expect(move(flagged, asks('checkpoint', undefined)).flags).toEqual(['decided_by_hook', 'no_progress'])
  })

  it('stays through everything that happens afterwards', () => {
    const steps = (['checkpoint', 'accept', 'prepare', 'complete'] as const).map((type) => asks(type, 'worker-1'))
    for (const ends of [steps, [...steps.slice(0, 3), asks('fail', 'worker-1')]])
      for (let count = 1; count <= ends.length; count += 1)
        expect(move(HANDOFFS.initiated, ...ends.slice(0, count))).toMatchObject(KEPT)
  })

  it('without a document has none: what became of asking is known all the same', () => {
    const asked = { type: 'checkpoint', flags: [], checkpoint: { outcome: 'timed_out', reason: 'Too slow' } } as const
    const after = move(HANDOFFS.initiated, { ...asked, at: LATER, now: LATER })
    expect(after.checkpoint).toStrictEqual({ outcome: 'timed_out', reason: 'Too slow' })
    expect(Object.keys(after)).not.toContain('document')
  })
})

describe('what a successor is to open with', () => {
  const prepared = move(HANDOFFS.accepted, asks('prepare', 'worker-1'))

  it('is kept with the claim, and is there for a later claimant, who may replace it', () => {
    expect(prepared).toMatchObject({ status: 'accepted', claim: CLAIM, prepared: PREPARED })
    const taken = move(prepared, asks('accept', 'worker-2', AFTER))
    expect(taken).toMatchObject({ claim: { claimant: 'worker-2' }, prepared: PREPARED })
    const other = { sessionId: SESSIONS.active.id, continuation: 'Begin anew' }
    const again = move(taken, { type: 'prepare', by: 'worker-2', prepared: other, at: LATER, now: AFTER })
    expect(again).toMatchObject({ prepared: other })
  })

  it.each(['complete', 'cancel', 'fail'] as const)('leaves the handoff with %s', (type) => {
    expect(Object.keys(move(prepared, asks(type, 'worker-1')))).not.toContain('prepared')
  })

  it('cannot have been kept before anyone accepted it', () => {
    const event = unwrap(decideHandoff(HANDOFFS.accepted, asks('prepare', 'worker-1')))
    expect(() => evolveHandoff(HANDOFFS.initiated, event)).toThrow(TypeError)
  })
})

describe('an end', () => {
  it.each(['complete', 'cancel', 'fail'] as const)('by %s is never dated before the claim', (type) => {
    const claimedLate = {
      ...HANDOFFS.accepted,
      claim: { ...CLAIM, acceptedAt: later(LATER, 5), deadline: later(LATER, 500) },
    }
    const event = unwrap(decideHandoff(claimedLate, asks(type, 'worker-1')))
    expect(event.at).toBe(LATER)
    expect(evolveHandoff(claimedLate, event)).toMatchObject({ endedAt: later(LATER, 5) })
    expect(move(HANDOFFS.accepted, asks(type, 'worker-1'))).toMatchObject({ endedAt: LATER })
  })
})
