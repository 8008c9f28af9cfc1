import { MESSAGE_ROLES, type MessageRole } from '../message.ts'
import type { MessageInput, ToolCallInput, TurnInput } from '../turn.ts'
import { type Check, type ChecksOf, listOf, objectOf, oneOf, optional, wrong } from './check.ts'
import { reading, windowParts } from './readings.ts'
import { messageText, moment, name } from './words.ts'

interface AnyMessage {
  readonly role: MessageRole
  readonly text: string
  readonly toolCalls?: readonly ToolCallInput[]
}

const anyMessage = objectOf<AnyMessage>({
  role: oneOf(...MESSAGE_ROLES),
  text: messageText,
  toolCalls: optional(listOf(objectOf<ToolCallInput>({ callId: name, toolName: name }))),
})

/** One message. Only an assistant calls tools, and each call once. */
const message: Check<MessageInput> = (value, field, problems) => {
  const before = problems.length
  const read = anyMessage(value, field, problems)
  if (problems.length > before) return read as MessageInput
  const { role, toolCalls = [] } = read
  if (role !== 'assistant' && toolCalls.length > 0)
    return wrong('only an assistant message calls tools', field, problems)
  const ids = new Set(toolCalls.map(({ callId }) => callId))
  if (ids.size < toolCalls.length) return wrong('it has the same tool call twice', field, problems)
  return read as MessageInput
}

/** One turn, property by property. */
export const TURN_CHECKS: ChecksOf<TurnInput> = {
  messages: listOf(message, { least: 1 }),
  usage: optional(reading),
  window: optional(windowParts),
  producedAt: optional(moment),
}

/** One turn, as the caller reports it. */
export const turn: Check<TurnInput> = objectOf<TurnInput>(TURN_CHECKS)
