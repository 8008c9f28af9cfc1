import type { MessageSummary } from '../../domain/message-summary.ts'
import { totalMessages } from '../../domain/message-summary.ts'
import type { UsageReading } from '../../domain/usage-reading.ts'
import type { WindowAtTurn } from '../../domain/window-at-turn.ts'
import { renderBlock, renderFacts } from './render-facts.ts'

/** How many messages there are, and of whom. */
export const describeMessages = (messages: MessageSummary): string =>
  `${totalMessages(messages)} (${Object.entries(messages)
    .map(([role, count]) => `${role} ${count}`)
    .join(', ')})`

/** What a reading says. */
export const describeUsage = (usage: UsageReading): string =>
  usage.state === 'unknown' ? 'unknown' : `${usage.promptTokens} tokens sent, ${usage.outputTokens} answered`

/** What a window held at a turn. */
export const renderWindow = (window: WindowAtTurn): readonly string[] => [
  ...renderFacts({
    turn: window.turnId,
    number: window.turnNumber,
    recorded: window.recordedAt,
    session: window.sessionId,
    conversation: window.conversationId,
    range: `messages ${window.range.start}–${window.range.end}`,
    held: describeMessages(window.messages),
    usage: describeUsage(window.usage),
  }),
  ...renderBlock(
    'Tool calls in it',
    window.visibleToolCalls
      .map(({ toolName, callId, sequenceNumber }) => `${toolName} (message ${sequenceNumber}, ${callId})`)
      .join('\n') || 'none',
  ),
]
