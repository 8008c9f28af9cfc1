import { describe, expect, it } from 'vitest'
import { messageId } from '../../src/domain/kernel/ids.ts'
import { sequenceNumber } from '../../src/domain/kernel/sequence.ts'
import { type MessageInput, placeTurn } from '../../src/domain/turn/turn.ts'
import { UNKNOWN_USAGE } from '../../src/domain/window/usage-reading.ts'
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
