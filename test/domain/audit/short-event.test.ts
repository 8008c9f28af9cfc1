import { beforeAll, describe, expect, it } from 'vitest'
import { longEvent, shortEvent } from '../../../src/domain/audit/short-event.ts'
import { canonicalJson } from '../../../src/domain/kernel/canonical-json.ts'
import { unwrap } from '../../../src/entry/index.ts'
import type { AuditEvent } from '../../../src/entry/ports.ts'
import { Scene } from '../../../src/testing/scene.ts'
import { withUnitOfWork } from '../../faulty-stores/wrap.ts'
import { openStore } from '../../support/stores.ts'
import { wholeConversation } from '../../support/whole-conversation.ts'

/** Everything that happens in a whole conversation, with its thread. */
const events: AuditEvent[] = []

beforeAll(async () => {
  const { store: kept, passTime } = await openStore('memory')
  const store = withUnitOfWork(kept, {
    commit: (unit) => {
      events.push(...unit.events)
      return kept.unitOfWork.commit(unit)
    },
  })
  const scene = new Scene({ store, passTime })
  await wholeConversation(scene)
  const { source, handoff } = await scene.initiated()
  const said = { role: 'assistant', text: 'Done', toolCalls: [{ callId: 'late', toolName: 'search' }] } as const
  unwrap(await scene.service.extendTurn({ ...source, handoff, messages: [{ role: 'tool', text: 'ok' }, said] }))
})

/** An event written down and read back, as a store does it. */
const readBack = (event: AuditEvent): AuditEvent =>
  longEvent(JSON.parse(canonicalJson(shortEvent(event))) as object, event.conversationId)

type Place = readonly (string | number)[]

/** Where in an event each simple value stands. The conversation of the event itself is the stream it goes to. */
const placesIn = (value: unknown, at: Place = []): readonly Place[] => {
  if (typeof value !== 'object' || value === null) return at.join() === 'conversationId' ? [] : [at]
  return Object.entries(value).flatMap(([name, part]) => placesIn(part, [...at, Array.isArray(value) ? +name : name]))
}

const without = (event: AuditEvent, place: Place, instead?: unknown): AuditEvent => {
  const copy = structuredClone(event) as unknown as Record<string | number, unknown>
  const inside = place.slice(0, -1).reduce((part, name) => part[name] as typeof part, copy)
  const last = place.at(-1) ?? ''
  if (instead === undefined) delete inside[last]
  else inside[last] = instead
  return copy as unknown as AuditEvent
}

describe('the short form of an event', () => {
  it('reads back as the same event, of every type that a conversation has', () => {
    for (const event of events) expect(readBack(event)).toEqual(event)
    expect(new Set(events.map(({ type }) => type)).size).toBeGreaterThanOrEqual(15)
    expect(events.map(({ type }) => type)).toContain('turn.extended')
  })

  it('reads back as the same event when a value is another, or is not there', () => {
    for (const event of events) {
      for (const place of placesIn(event)) {
        const other = without(event, place, 'other')
        expect(readBack(other)).toEqual(other)
        if (typeof place.at(-1) === 'number') continue
        const less = without(event, place)
        expect(readBack(less)).toEqual(less)
      }
    }
  })

  it('says nothing twice in a turn', () => {
    const turn = events.find(({ type }) => type === 'turn.recorded')
    expect(turn?.type === 'turn.recorded' && shortEvent(turn)).toEqual({
      type: 'turn.recorded',
      at: turn?.at,
      sessionId: expect.any(String),
      turn: {
        id: expect.any(String),
        number: 1,
        range: { start: expect.any(Number) },
        toolCalls: [
          { callId: expect.any(String), toolName: 'read_file' },
          { callId: expect.any(String), toolName: 'run_tests' },
        ],
        usage: expect.anything(),
      },
      messages: [
        { id: expect.any(String), role: 'user', text: expect.any(String) },
        { id: expect.any(String), role: 'assistant', text: expect.any(String) },
        ...((turn?.type === 'turn.recorded' && turn.messages.slice(2).map(() => expect.anything())) || []),
      ],
    })
  })

  it('leaves alone what is no event at all', () => {
    const strange = { type: 'turn.recorded', at: 7, turn: [1], messages: { a: null }, handoff: 'x', opening: [1, null] }
    const { conversationId = '' as AuditEvent['conversationId'] } = events[0] ?? {}
    expect(longEvent(strange, conversationId)).toEqual({ ...strange, conversationId, version: 1 })
  })
})
