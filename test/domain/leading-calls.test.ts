import { describe, expect, it } from 'vitest'
import { callsAfter, leadingCalls } from '../../src/domain/handoff/leading-calls.ts'
import { sequenceNumber, sequenceRange } from '../../src/domain/kernel/sequence.ts'
import type { ToolCall } from '../../src/domain/turn/tool-call.ts'
import type { Turn } from '../../src/domain/turn/turn.ts'
import { UNKNOWN_USAGE } from '../../src/domain/window/usage-reading.ts'
import { AT, CONVERSATION, MESSAGE, SESSION, SESSIONS, TURN } from './samples.ts'

const call = (callId: string, at = 1): ToolCall => ({
  callId,
  toolName: 'read_file',
  messageId: MESSAGE,
  sequenceNumber: sequenceNumber(at),
})

/** A turn of messages `start` to `end`, whose calls stand in its last message. */
const turn = (start: number, end: number, ...callIds: readonly string[]): Turn => ({
  id: TURN,
  conversationId: CONVERSATION,
  sessionId: SESSION,
  number: 1,
  range: sequenceRange(start, end),
  toolCalls: callIds.map((callId) => call(callId, end)),
  usage: UNKNOWN_USAGE,
  recordedAt: AT,
})

const namesOf = (calls: readonly { readonly callId: string }[] | undefined) => calls?.map(({ callId }) => callId)

/** A session whose current exchange began at this message. */
const since = (start: number) => ({
  ...SESSIONS.active,
  progress: { ...SESSIONS.active.progress, exchangeStart: sequenceNumber(start) },
})

describe('the tool calls that led to a handoff', () => {
  const known = { exchangeToolCalls: [call('of the exchange')], lastToolCalls: [call('of the last turn')] }

  it('are those that were named, else those of the exchange, else those of the last turn that has any', () => {
    expect(namesOf(leadingCalls(known, [call('named')]))).toEqual(['named'])
    expect(namesOf(leadingCalls(known, []))).toEqual([])
    expect(namesOf(leadingCalls(known))).toEqual(['of the exchange'])
    expect(namesOf(leadingCalls({ ...known, exchangeToolCalls: [] }))).toEqual(['of the last turn'])
    expect(leadingCalls({ exchangeToolCalls: [], lastToolCalls: [] })).toEqual([])
  })

  it('are the latest hundred of them, in order, and only point at the calls', () => {
    const many = Array.from({ length: 130 }, (_, index) => ({ ...call(`call-${index + 1}`), argument: 'a secret' }))
    const leading = leadingCalls({ exchangeToolCalls: many, lastToolCalls: [] })
    expect(leading).toHaveLength(100)
    expect([leading[0], leading.at(-1)]).toStrictEqual([call('call-31'), call('call-130')])
  })
})

describe('the calls that are known after turns', () => {
  it('are told by the turns alone when these reach back to where the exchange began', () => {
    const calls = callsAfter(since(3), [turn(1, 2, 'before'), turn(3, 4, 'one'), turn(5, 6, 'two')])
    expect(namesOf(calls?.exchangeToolCalls)).toEqual(['one', 'two'])
    expect(namesOf(calls?.lastToolCalls)).toEqual(['two'])
  })

  it('are the last ones before the exchange when it has none', () => {
    const calls = callsAfter(since(3), [turn(1, 2, 'before'), turn(3, 4)])
    expect(calls).toStrictEqual({ exchangeToolCalls: [], lastToolCalls: [call('before', 2)] })
  })

  it('are not told by turns that begin within the exchange, leave one out, or call nothing', () => {
    expect(callsAfter(since(1), [turn(3, 4, 'one')])).toBeUndefined()
    expect(callsAfter(since(1), [turn(1, 2, 'one'), turn(5, 6, 'three')])).toBeUndefined()
    expect(callsAfter(since(1), [turn(1, 2)])).toBeUndefined()
    expect(callsAfter(since(1), [])).toBeUndefined()
  })

  it('go on from what the store knew', () => {
    const before = { exchangeToolCalls: [call('zero', 2)], lastToolCalls: [call('zero', 2)] }
    expect(namesOf(callsAfter(since(1), [turn(3, 4, 'one')], before)?.exchangeToolCalls)).toEqual(['zero', 'one'])
    // A new exchange began in these turns: the calls before it led to nothing here.
    expect(callsAfter(since(3), [turn(3, 4)], before)).toStrictEqual({
      exchangeToolCalls: [],
      lastToolCalls: [call('zero', 2)],
    })
    expect(callsAfter(since(1), [turn(1, 2)], { exchangeToolCalls: [], lastToolCalls: [] })).toStrictEqual({
      exchangeToolCalls: [],
      lastToolCalls: [],
    })
  })
})
