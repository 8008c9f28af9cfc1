import type { MessageRole } from '../../src/domain/turn/message.ts'
import type { MessageSummary } from '../../src/domain/turn/message-summary.ts'
import type { MessageInput, ToolCallInput, TurnInput } from '../../src/domain/turn/turn.ts'

/** A turn in which the agent answers somebody, using these tools. */
export const turnOf = (answering: 'user' | 'tool', toolCalls: readonly ToolCallInput[] = []): TurnInput => ({
  messages: [
    { role: answering, text: answering === 'user' ? 'Go on' : '1 test failed' },
    { role: 'assistant', text: 'Let me see', toolCalls },
  ],
})

/** So many turns without tools. */
export const plainTurns = (count: number): readonly TurnInput[] => Array.from({ length: count }, () => turnOf('user'))

/** A turn that holds so many messages of each role. */
export const turnHolding = (summary: MessageSummary): TurnInput => ({
  messages: Object.entries(summary).flatMap(([role, count]) =>
    Array.from({ length: count }, (): MessageInput => ({ role: role as MessageRole, text: `One of ${count}` })),
  ),
})

/** Reports no careful caller would send, by the words scenarios have for them. */
export const NONSENSE: Readonly<Record<string, readonly TurnInput[]>> = {
  'a turn without messages': [{ messages: [] }],
  'a user message that calls a tool': [
    // A caller in plain JavaScript is not held back by the type.
    { messages: [{ role: 'user', text: 'Go on', toolCalls: [{ callId: 'c', toolName: 't' }] } as MessageInput] },
  ],
  'a negative count of tokens': [{ ...turnOf('user'), usage: { state: 'metered', promptTokens: -1, outputTokens: 0 } }],
  'a good turn and one without messages': [turnOf('user'), { messages: [] }],
}
