import { describe, expect, it } from 'vitest'
import { messageId } from '../../src/domain/ids.ts'
import { fieldProblems, turnProblem } from '../../src/domain/input.ts'
import { sequenceNumber } from '../../src/domain/sequence.ts'
import { type MessageInput, placeTurn, type TurnInput } from '../../src/domain/turn.ts'
import { UNKNOWN_USAGE } from '../../src/domain/usage-reading.ts'
import { CONVERSATION, LATER, SESSION, TURN, uuid } from './samples.ts'

const call = (callId: string) => ({ callId, toolName: `tool-${callId}` })

const INPUTS: readonly MessageInput[] = [
  { role: 'user', text: 'Go on' },
  { role: 'assistant', text: 'Looking', toolCalls: [call('a'), call('b')] },
  { role: 'tool', text: 'Found' },
  { role: 'assistant', text: 'Running', toolCalls: [call('c')] },
]

describe('placing a turn', () => {
  const place = { conversationId: CONVERSATION, sessionId: SESSION, number: 4, start: sequenceNumber(11), at: LATER }
  const draft = {
    id: TURN,
    messages: INPUTS.map((input, index) => ({ id: messageId(uuid(50 + index)), input })),
    usage: UNKNOWN_USAGE,
  }
  const { turn, messages } = placeTurn(draft, place)

  it('numbers the messages from the first free place on', () => {
    expect(messages.map(({ sequenceNumber: at }) => at)).toEqual([11, 12, 13, 14])
    expect(messages.map(({ role, text }) => ({ role, text }))).toEqual(INPUTS.map(({ role, text }) => ({ role, text })))
    for (const message of messages)
      expect(message).toMatchObject({ turnId: TURN, sessionId: SESSION, recordedAt: LATER })
    expect(turn).toMatchObject({ id: TURN, number: 4, range: { start: 11, end: 14 }, usage: UNKNOWN_USAGE })
  })

  it('gives each tool call the place of its message, in order', () => {
    expect(turn.toolCalls).toStrictEqual([
      { ...call('a'), messageId: uuid(51), sequenceNumber: 12 },
      { ...call('b'), messageId: uuid(51), sequenceNumber: 12 },
      { ...call('c'), messageId: uuid(53), sequenceNumber: 14 },
    ])
  })
})

describe('a turn as reported', () => {
  const metered = (promptTokens: number, outputTokens: number): TurnInput => ({
    messages: INPUTS,
    usage: { state: 'metered', promptTokens, outputTokens },
  })
  const saying = (message: unknown): TurnInput => ({ messages: [message as MessageInput] })

  it.each<TurnInput>([{ messages: INPUTS }, metered(0, 0), { messages: INPUTS, usage: UNKNOWN_USAGE }])(
    'is fine: %j',
    (input) => expect(turnProblem(input)).toBeUndefined(),
  )

  it.each<[string, TurnInput]>([
    ['no messages', { messages: [] }],
    ['half a token', metered(0.5, 0)],
    ['fewer than no tokens', metered(1, -1)],
    ['tokens that are no number', metered(Number.NaN, 0)],
    ['an unknown role', saying({ role: 'robot', text: 'x' })],
    ['a user who calls tools', saying({ role: 'user', text: 'x', toolCalls: [call('a')] })],
    ['a call id twice', saying({ role: 'assistant', text: 'x', toolCalls: [call('a'), call('a')] })],
    ['a blank call id', saying({ role: 'assistant', text: 'x', toolCalls: [{ callId: ' ', toolName: 't' }] })],
    ['a blank tool name', saying({ role: 'assistant', text: 'x', toolCalls: [{ callId: 'a', toolName: '' }] })],
  ])('is refused with %s', (_, input) => {
    expect(turnProblem(input)?.code).toMatch(/^input\.(invalid|blank)$/)
  })

  it('fields that are blank are named; absent ones are not', () => {
    expect(fieldProblems({ a: '', b: ' \t\n', c: 'x', d: undefined })).toEqual([
      { code: 'input.blank', field: 'a' },
      { code: 'input.blank', field: 'b' },
    ])
  })
})
