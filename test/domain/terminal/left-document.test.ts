import { describe, expect, it } from 'vitest'
import { later } from '../../../src/domain/kernel/instant.ts'
import { nextState, statesOf, terminalStates } from '../../../src/domain/kernel/state-machine.ts'
import {
  type CloseReason,
  type DocumentCommand,
  decideDocument,
  evolveDocument,
} from '../../../src/domain/terminal/document-lifecycle.ts'
import {
  DOCUMENT_TRANSITIONS,
  type DocumentCommandType,
  type DocumentFacts,
  type DocumentStatus,
  isExpired,
  type LeftDocument,
} from '../../../src/domain/terminal/left-document.ts'
import { DEADLINE, LATER, uuid } from '../samples.ts'

const DOCUMENT_STATUSES = statesOf<DocumentStatus>(DOCUMENT_TRANSITIONS)

const DOCUMENT: DocumentFacts = {
  id: uuid(1),
  providerSessionId: 'blue',
  text: 'Half is done.',
  expiresAt: DEADLINE,
}

const LEFT: Readonly<Record<DocumentStatus, LeftDocument>> = {
  pending: { status: 'pending', document: DOCUMENT },
  taken: { status: 'taken', document: DOCUMENT, by: 'green' },
  closed: { status: 'closed', document: DOCUMENT },
  forgotten: { status: 'forgotten', document: DOCUMENT },
}

const COMMANDS: Readonly<Record<DocumentCommandType, DocumentCommand>> = {
  refresh: { type: 'refresh', text: 'More is done.', now: LATER },
  take: { type: 'take', by: 'green' },
  close: { type: 'close', because: 'withdrawn', now: LATER },
  forget: { type: 'forget', by: 'green' },
}

const TYPES = Object.keys(COMMANDS) as readonly DocumentCommandType[]
const ILLEGAL = 'document.illegal_transition'

/** Every status × every command by the candidate that has it, in time: written out from the rules, not read from the table. */
const CELLS: Readonly<Record<DocumentStatus, Readonly<Record<DocumentCommandType, string>>>> = {
  pending: { refresh: 'pending', take: 'taken', close: 'closed', forget: ILLEGAL },
  taken: { refresh: ILLEGAL, take: 'taken', close: ILLEGAL, forget: 'forgotten' },
  closed: { refresh: ILLEGAL, take: ILLEGAL, close: ILLEGAL, forget: 'forgotten' },
  forgotten: { refresh: ILLEGAL, take: ILLEGAL, close: ILLEGAL, forget: ILLEGAL },
}

const cells = DOCUMENT_STATUSES.flatMap((status) =>
  TYPES.map((command) => ({ status, command, leadsTo: CELLS[status][command] })),
)

describe('the life of a left document, cell by cell', () => {
  it.each(cells)('$status: $command gives $leadsTo', ({ status, command, leadsTo }) => {
    const decided = decideDocument(LEFT[status], COMMANDS[command])
    if (!decided.ok) {
      expect(decided.error).toStrictEqual({ code: ILLEGAL, from: status, command })
      expect(leadsTo).toBe(ILLEGAL)
      return
    }
    const after = evolveDocument(LEFT[status], decided.value)
    expect(after.status).toBe(leadsTo)
    expect(after.document.id).toBe(DOCUMENT.id)
    expect(nextState<DocumentStatus, DocumentCommandType>(DOCUMENT_TRANSITIONS, status, command)).toBe(leadsTo)
  })

  it('walks every status and every command of the table', () => {
    expect(Object.keys(CELLS)).toEqual(DOCUMENT_STATUSES)
    const inTable = DOCUMENT_STATUSES.flatMap((status) => Object.keys(DOCUMENT_TRANSITIONS[status]))
    expect(new Set(inTable)).toEqual(new Set(TYPES))
  })

  it('ends when nobody has it any more, and leads back to waiting from nowhere else', () => {
    expect(terminalStates<DocumentStatus, DocumentCommandType>(DOCUMENT_TRANSITIONS)).toEqual(['forgotten'])
    const back = cells.filter(({ leadsTo }) => leadsTo === 'pending').map(({ status }) => status)
    expect(back).toEqual(['pending'])
  })
})

const BEFORE = later(DEADLINE, -1)

describe('the time of a document', () => {
  it('is over from its moment on', () => {
    expect([BEFORE, DEADLINE, later(DEADLINE, 1)].map((now) => isExpired(DOCUMENT, now))).toEqual([false, true, true])
  })

  const closing: readonly (readonly [CloseReason, boolean, string, string])[] = [
    // because, whether a candidate has begun with it, before its time is over, after
    ['replaced', false, 'closed', 'closed'],
    ['replaced', true, 'closed', 'closed'],
    ['withdrawn', false, 'closed', 'document.expired'],
    ['withdrawn', true, 'closed', 'document.expired'],
    ['expired', false, 'document.still_waits', 'closed'],
    ['expired', true, 'document.still_waits', 'document.still_waits'],
  ]

  it.each(closing)('closes one that is %s (begun with: %s): %s before its end, %s from then on', (...row) => {
    const [because, isBegunWith, ...outcomes] = row
    for (const [index, now] of [BEFORE, DEADLINE].entries()) {
      const decided = decideDocument(LEFT.pending, { type: 'close', because, now, isBegunWith })
      if (decided.ok) expect(decided.value).toStrictEqual({ type: 'document.closed', because })
      else expect(decided.error).toStrictEqual({ code: outcomes[index], expiresAt: DEADLINE })
      expect(decided.ok ? 'closed' : decided.error.code).toBe(outcomes[index])
    }
  })

  it('ends its refreshing, and not its taking: a candidate that began with it keeps it', () => {
    const refreshed = decideDocument(LEFT.pending, { type: 'refresh', text: 'More', now: DEADLINE })
    expect(refreshed).toStrictEqual({ ok: false, error: { code: 'document.expired', expiresAt: DEADLINE } })
    expect(decideDocument(LEFT.pending, COMMANDS.take).ok).toBe(true)
  })
})

describe('a document that a candidate has taken', () => {
  it.each(['take', 'forget'] as const)('is nobody else’s to %s', (type) => {
    const decided = decideDocument(LEFT.taken, { type, by: 'red' })
    expect(decided).toStrictEqual({ ok: false, error: { code: 'document.taken', by: 'green' } })
    expect(decideDocument(LEFT.taken, { type: 'forget' }).ok).toBe(false)
  })

  it('is taken again by the one that has it, as it was', () => {
    const decided = decideDocument(LEFT.taken, COMMANDS.take)
    expect(decided.ok && evolveDocument(LEFT.taken, decided.value)).toStrictEqual(LEFT.taken)
  })
})

it('a refreshed document differs in its text alone', () => {
  const decided = decideDocument(LEFT.pending, COMMANDS.refresh)
  const after = decided.ok ? evolveDocument(LEFT.pending, decided.value) : undefined
  expect(after).toStrictEqual({ status: 'pending', document: { ...DOCUMENT, text: 'More is done.' } })
})
