import { beforeAll, describe, expect, it } from 'vitest'
import { AuditFold } from '../../src/domain/audit/audit-fold.ts'
import { ImpossibleEvent } from '../../src/domain/audit/audit-replay.ts'
import type { AuditEntry, ConversationId } from '../../src/entry/index.ts'
import type { AuditEvent } from '../../src/entry/ports.ts'
import { Scene } from '../../src/testing/scene.ts'
import { openStore } from '../support/stores.ts'
import { wholeConversation } from '../support/whole-conversation.ts'

let id: ConversationId
let entries: readonly AuditEntry[]

beforeAll(async () => {
  const scene = new Scene(await openStore('memory'))
  id = (await wholeConversation(scene)).id
  entries = (await scene.store.audit.list(id, { limit: 1_000 })).items
})

/** Folds entries as if they stood one after the other. */
const fold = (list: readonly AuditEntry[]): void => {
  const folded = new AuditFold(id)
  for (const [index, { event, commandId }] of list.entries()) folded.take(event, index + 1, commandId)
  folded.settle()
}

const why = (list: readonly AuditEntry[]): string => {
  try {
    fold(list)
    return 'possible'
  } catch (cause) {
    expect(cause).toBeInstanceOf(ImpossibleEvent)
    return (cause as Error).message
  }
}

/** The entries with the first of a type changed. */
const changed = (
  type: AuditEvent['type'],
  change: (event: Record<string, unknown>) => object,
): readonly AuditEntry[] => {
  // A thread is completed by a session of another conversation.
  const at = entries.findIndex(({ event }) => event.type === type && !('targetConversationId' in event))
  expect(at, `no ${type} in the conversation`).toBeGreaterThanOrEqual(0)
  return entries.map((entry, index) =>
    index === at ? { ...entry, event: { ...entry.event, ...change({ ...entry.event }) } as AuditEvent } : entry,
  )
}

/** The first handoff of a kind. */
const handoffIdOf = (kind: string): string =>
  entries.flatMap(({ event }) =>
    event.type === 'handoff.initiated' && event.handoff.kind === kind ? event.handoff.id : [],
  )[0] ?? ''

/** Steps that say nothing about what may follow, so that one less of them is possible. */
const FREE: readonly AuditEvent['type'][] = [
  'session.accounted',
  'session.looked_back',
  'snapshot.captured',
  'handoff.accepted',
  'handoff.checkpointed',
]

describe('folding what decisions made', () => {
  it('takes all of it', () => {
    expect(entries.length).toBeGreaterThan(30)
    expect(why(entries)).toBe('possible')
  })

  it('sees any step that is left out', () => {
    const unseen = entries.filter((entry) => why(entries.filter((other) => other !== entry)) === 'possible')
    const last = entries.at(-1)
    expect(unseen.filter((entry) => entry !== last && !FREE.includes(entry.event.type))).toEqual([])
  })

  it('sees any step that is taken twice', () => {
    const twice = (entry: AuditEntry) => entries.flatMap((other) => (other === entry ? [entry, entry] : [other]))
    const unseen = entries.filter((entry) => why(twice(entry)) === 'possible').map(({ event }) => event.type)
    // What was used in sum may be said again, and so may what a claimant prepares.
    expect([...new Set(unseen)].sort()).toEqual(['handoff.prepared', 'session.accounted'])
  })

  it('sees any two commands that changed places', () => {
    const commands = [...new Set(entries.map(({ commandId }) => commandId))]
    const swapped = commands.slice(1).map((later, index) => {
      const order = commands.with(index, later).with(index + 1, commands[index] as typeof later)
      return { later, list: order.flatMap((command) => entries.filter(({ commandId }) => commandId === command)) }
    })
    const unseen = swapped.filter(({ list }) => why(list) === 'possible').map(({ later }) => typesOf(later))
    // What was used in sum says nothing about turns; a thread leaves its source alone; and a look back changes nothing.
    expect(unseen).toEqual([
      ['session.accounted'],
      ['handoff.initiated', 'snapshot.captured', 'handoff.accepted', 'handoff.completed'],
      ['session.looked_back'],
      ['handoff.initiated', 'session.held', 'snapshot.captured'],
    ])
  })
})

const typesOf = (command: string) =>
  entries.filter(({ commandId }) => commandId === command).map(({ event }) => event.type)

describe('a step that no decision makes', () => {
  it.each([
    [
      'of another conversation',
      'turn.recorded',
      () => ({ conversationId: crypto.randomUUID() }),
      /is about conversation/,
    ],
    ['of a version to come', 'turn.recorded', () => ({ version: 2 }), /unknown version 2/],
    ['of a type nobody knows', 'session.failed', () => ({ type: 'session.vanished' }), /"session.vanished" happens/],
    ['without a time', 'turn.recorded', () => ({ at: 'soon' }), /has no time/],
    [
      'of a session nobody began',
      'turn.recorded',
      () => ({ sessionId: crypto.randomUUID() }),
      /no earlier entry began/,
    ],
    ['that skips an epoch', 'session.started', part('session', { epoch: 7 }), /epoch/],
    ['that begins at another message', 'session.started', part('session', { startSequence: 9 }), /first message/],
    ['that opens at another message', 'session.started', () => ({ opening: [{ sequenceNumber: 9 }] }), /opening/],
    [
      'that began at another time',
      'session.started',
      part('session', { startedAt: '2020-01-01T00:00:00.000Z' }),
      /time/,
    ],
    ['that skips a turn', 'turn.recorded', part('turn', { number: 42 }), /turn is not what was due/],
    ['that skips messages', 'turn.recorded', part('turn', { range: { start: 8, end: 9 } }), /first message/],
    [
      'whose tool calls are of another message',
      'turn.recorded',
      part('turn', { toolCalls: [{ callId: 'x' }] }),
      /turn is not/,
    ],
    ['that shows another window', 'snapshot.captured', part('snapshot', { messages: { user: 9 } }), /window/],
    ['that hands off for another agent', 'handoff.initiated', part('handoff', { sourceAgent: 'nobody' }), /source/],
    [
      'that holds for another handoff',
      'session.held',
      () => ({ handoffId: crypto.randomUUID() }),
      /its source is not held so/,
    ],
    [
      'that releases from another handoff',
      'session.released',
      () => ({ handoffId: crypto.randomUUID() }),
      /"release" is not possible/,
    ],
    ['by somebody who has no claim', 'handoff.completed', () => ({ by: 'thief' }), /"thief" may not complete/],
    ['that prepares without a claim', 'handoff.prepared', () => ({ by: 'thief' }), /"thief" may not prepare/],
    [
      'that completes with another session',
      'handoff.completed',
      () => ({ targetSessionId: crypto.randomUUID() }),
      /which was not completed by it|without a source/,
    ],
  ] as const)('is seen: one %s', (_, type, change, message) => {
    expect(why(changed(type, change))).toMatch(message)
  })

  it.each([
    ['that is on record', 'was there before', (thread: string): string => thread],
    ['of a handoff that opened none', 'opened no thread', (): string => handoffIdOf('agent_transfer')],
    ['of nobody', 'which no earlier entry began', (): string => id],
  ])('is seen: the outcome of a thread %s', (_, problem, forged) => {
    const at = entries.findLastIndex(({ event }) => event.type === 'turn.recorded')
    const reports = forged(handoffIdOf('thread'))
    const list = entries.map((entry, index) => {
      if (index !== at || entry.event.type !== 'turn.recorded') return entry
      const messages = entry.event.messages.map((message, place) => (place === 0 ? { ...message, reports } : message))
      return { ...entry, event: { ...entry.event, messages } as AuditEvent }
    })
    expect(why(list)).toContain(problem)
  })

  it('is seen: a claim taken from who still has it', () => {
    const at = entries.findIndex(({ event }) => event.type === 'handoff.accepted')
    const { event, commandId, position } = entries[at] as AuditEntry
    const claim = { claimant: 'thief', acceptedAt: event.at, deadline: '2099-01-01T00:00:00.000Z' }
    const stolen = { position, commandId, event: { ...event, claim } as AuditEvent }
    expect(why(entries.toSpliced(at + 1, 0, stolen))).toMatch(/was claimed by "worker"/)
  })

  it('is seen: a conversation that does not begin with its opening', () => {
    expect(why(entries.slice(1))).toMatch(/opened once, by its first entry/)
  })
})

function part(name: string, change: object) {
  return (event: Record<string, unknown>) => ({ [name]: { ...(event[name] as object), ...change } })
}
