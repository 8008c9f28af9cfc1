import type { MessageInput } from './turn.ts'

/** A turn is held in memory and written as a whole: far more than a window holds, and no burden to either. */
export const MAX_TURN_BYTES = 16_777_216

/** How much a message takes, its tool calls included, in bytes of UTF-8. */
export const bytesOf = (message: MessageInput): number => {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
  return calls.reduce(
    (sum, { callId, toolName, argument = '' }) => sum + utf8Bytes(callId) + utf8Bytes(toolName) + utf8Bytes(argument),
    utf8Bytes(message.text),
  )
}

/** Counted, not encoded: a copy of all that is said would be made only to be thrown away. */
const utf8Bytes = (text: string): number => {
  let bytes = text.length
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit > 0x7f) bytes += 1
    // Both units of a pair count two, and so its four bytes.
    if (unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff)) bytes += 1
  }
  return bytes
}
