import { expect } from 'vitest'
import { AuditFold } from '../../src/domain/audit/audit-fold.ts'
import type { AuditEvent } from '../../src/domain/audit-event.ts'
import {
  type Answer,
  type Change,
  type Decided,
  type Decision,
  expecting,
  expectingHandoff,
  type Expected as Guard,
  type Undecided,
} from '../../src/domain/decision.ts'
import type { CommandId, ConversationId } from '../../src/domain/kernel/ids.ts'
import { describeRefusal, type Refusal, type RefusalCode } from '../../src/domain/refusal.ts'
import { Past } from './past.ts'

/** Events that happened together, told of the past as it was before them. */
export type Told = (past: Past) => AuditEvent | readonly AuditEvent[]

/** A command: what is decided on everything that the past tells. */
export type Asked<A extends Answer> = (past: Past) => Decided<A> | Undecided

/** An event by its type, or by the parts of it that matter. */
type Expected = AuditEvent['type'] | ({ readonly type: AuditEvent['type'] } & Readonly<Record<string, unknown>>)

/**
 * A decision as a story: `given(what happened).when(a command).thenHappens(what happens)`.
 *
 * Whatever a test expects, every yes is held against two rules besides: what is written is what the log adds up to, and
 * each thing is written once, guarded by what it was before the command.
 */
export const given = (...told: readonly Told[]) => {
  const past = new Past()
  for (const happened of told) past.take([happened(past)].flat())
  return {
    past,
    when: <A extends Answer>(asked: Asked<A>) => new Decider(past, asked(past)),
  }
}

class Decider<A extends Answer> {
  readonly #past: Past
  readonly #decided: Decided<A> | Undecided

  constructor(past: Past, decided: Decided<A> | Undecided) {
    this.#past = past
    this.#decided = decided
  }

  /** A yes with exactly these events, in this order. */
  thenHappens(...expected: readonly Expected[]): Decision<A> {
    const decision = this.#yes()
    expect(decision.events.map(({ type }) => type)).toEqual(
      expected.map((one) => (typeof one === 'string' ? one : one.type)),
    )
    expect(decision.events).toMatchObject(expected.map((one) => (typeof one === 'string' ? { type: one } : one)))
    expectLogIsState(this.#past, decision)
    expectRowsOfEvents(decision)
    expectFirstGuards(this.#past, decision.changes)
    return decision
  }

  /** A yes that changes nothing. */
  thenNothing(): Decision<A> {
    const decision = this.#yes()
    expect(decision).toMatchObject({ events: [], changes: [] })
    return decision
  }

  /** A no, by its code or word for word. */
  thenRefused(expected: RefusalCode | Refusal): void {
    if ('needs' in this.#decided || this.#decided.ok)
      throw new Error(`was not refused: ${JSON.stringify(this.#decided)}`)
    const { error } = this.#decided
    if (typeof expected === 'string') expect(error.code).toBe(expected)
    else expect(error).toStrictEqual(expected)
  }

  /** Neither: the facts do not say enough. */
  thenNeedsFacts(): void {
    expect(this.#decided).toStrictEqual({ needs: 'facts' })
  }

  #yes(): Decision<A> {
    if ('needs' in this.#decided) throw new Error('The facts did not say enough')
    if (!this.#decided.ok) throw new Error(`was refused: ${describeRefusal(this.#decided.error)}`)
    return this.#decided.value
  }
}

/** Folds the events after the past, each conversation's by itself, and compares every row that is written with it. */
const expectLogIsState = (past: Past, { events, changes }: Decision<Answer>): void => {
  const folds = new Map<ConversationId, AuditFold>([[past.conversation.id, past.fold()]])
  const positions = new Map<ConversationId, number>([[past.conversation.id, past.events.length]])
  for (const event of events) {
    const { conversationId } = event
    const fold = folds.get(conversationId) ?? new AuditFold(conversationId)
    const position = (positions.get(conversationId) ?? 0) + 1
    fold.take(event, position, 'now' as CommandId)
    folds.set(conversationId, fold)
    positions.set(conversationId, position)
  }
  for (const change of changes) {
    const [table, id, row] = rowOf(change) ?? []
    if (table === undefined || id === undefined) continue
    const folded = [...folds.values()].map((fold) => fold[table].get(id)?.row).find((found) => found !== undefined)
    expect(row, `what is written of ${table} ${id}`).toStrictEqual(folded)
  }
  for (const fold of folds.values()) fold.settle()
}

const rowOf = (
  change: Change,
): ['sessions' | 'handoffs' | 'conversations' | 'snapshots', string, object] | undefined => {
  if (change.type === 'add_session' || change.type === 'move_session')
    return ['sessions', change.working.session.id, change.working.session]
  if (change.type === 'add_handoff' || change.type === 'move_handoff')
    return ['handoffs', change.handoff.id, change.handoff]
  if (change.type === 'add_conversation') return ['conversations', change.conversation.id, change.conversation]
  if (change.type === 'add_snapshot') return ['snapshots', change.snapshot.id, change.snapshot]
  return undefined
}

/** What events bring with them is written: turns, the messages a session opens with, snapshots. */
const expectRowsOfEvents = ({ events, changes }: Decision<Answer>): void => {
  const told = events.flatMap((event): readonly object[] => {
    if (event.type === 'turn.recorded') return [{ turn: event.turn, messages: event.messages }]
    if (event.type === 'session.started') return (event.opening ?? []).map((message) => ({ message }))
    return event.type === 'snapshot.captured' ? [{ snapshot: event.snapshot }] : []
  })
  const written = changes.flatMap(({ type, ...row }) =>
    type === 'add_turn' || type === 'add_message' || type === 'add_snapshot' ? [row] : [],
  )
  expect(written).toStrictEqual(told)
}

/** The token that was shown is what the store compares; the past only has its digest. */
const withoutToken = ({ token: _, ...expected }: Guard): Guard => expected

/** Each thing is written once, and only while it is still what the past says. */
const expectFirstGuards = (past: Past, changes: readonly Change[]): void => {
  const written = changes.flatMap((change) => rowOf(change)?.slice(0, 2).join(' ') ?? [])
  expect(written, 'each thing is written once').toEqual([...new Set(written)])
  for (const change of changes) {
    if (change.type === 'move_session') {
      const first = past.working(change.working.session.id)
      expect(withoutToken(change.expected)).toStrictEqual(expecting(first))
    }
    if (change.type === 'expect_session')
      expect(withoutToken(change.expected)).toStrictEqual(expecting(past.working(change.session.id)))
    if (change.type === 'move_handoff')
      expect(change.expected).toStrictEqual(expectingHandoff(past.handoffNamed(change.handoff.id)))
    if (change.type === 'move_monitor') expect(change.expected).toBe(past.monitor.version)
  }
}
