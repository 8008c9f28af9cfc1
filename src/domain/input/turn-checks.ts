import type { CutText } from '../kernel/cut-text.ts'
import type { HandoffId } from '../kernel/ids.ts'
import { MESSAGE_ORIGINS, MESSAGE_ROLES, type MessageOrigin, type MessageRole, originsOf } from '../turn/message.ts'
import type { MessageInput, ToolCallInput, TurnInput } from '../turn/turn.ts'
import { bytesOf, MAX_TURN_BYTES } from '../turn/turn-size.ts'
import { type Check, type ChecksOf, listOf, noteProblem, objectOf, oneOf, optional, wholeNumber } from './check.ts'
import { reading, windowParts } from './readings.ts'
import { id, line, messageText, moment, name, sha256Hex } from './words.ts'

interface AnyMessage {
  readonly role: MessageRole
  readonly origin?: MessageOrigin
  readonly text: string
  readonly cut?: CutText
  readonly providerMessageId?: string
  readonly reports?: HandoffId
  readonly toolCalls?: readonly ToolCallInput[]
}

const anyMessage = objectOf<AnyMessage>({
  role: oneOf(...MESSAGE_ROLES),
  origin: optional(oneOf(...MESSAGE_ORIGINS)),
  text: messageText,
  cut: optional(objectOf<CutText>({ length: wholeNumber(1), sha256: sha256Hex })),
  providerMessageId: optional(name),
  reports: optional<HandoffId>(id),
  toolCalls: optional(listOf(objectOf<ToolCallInput>({ callId: name, toolName: name, argument: optional(line) }))),
})

/** One message. Only an assistant calls tools, and each call once; an answer is the runtime's, a result the tool's. */
const message: Check<MessageInput> = (value, field, problems) => {
  const before = problems.length
  const read = anyMessage(value, field, problems)
  if (problems.length > before) return read as MessageInput
  const { role, origin = originsOf(role)[0], toolCalls = [] } = read
  if (!originsOf(role).includes(origin))
    return noteProblem(`a message of the role ${role} has the origin ${originsOf(role).join(', ')}`, field, problems)
  if (read.reports !== undefined && origin !== 'batonpass')
    return noteProblem('only a message of the origin batonpass reports the outcome of a thread', field, problems)
  if (role !== 'assistant' && toolCalls.length > 0)
    return noteProblem('only an assistant message calls tools', field, problems)
  const ids = new Set(toolCalls.map(({ callId }) => callId))
  if (ids.size < toolCalls.length) return noteProblem('it has the same tool call twice', field, problems)
  return read as MessageInput
}

const someMessages = listOf(message, { least: 1 })

/** The messages of a turn, which is held in memory and written as a whole. */
const turnMessages: Check<readonly MessageInput[]> = (value, field, problems) => {
  const before = problems.length
  const read = someMessages(value, field, problems)
  if (problems.length > before) return read
  const bytes = read.reduce((sum, message) => sum + bytesOf(message), 0)
  return bytes <= MAX_TURN_BYTES
    ? read
    : noteProblem(`the turn has ${bytes} bytes, and ${MAX_TURN_BYTES} is the most`, field, problems)
}

/** Messages that follow a turn. The outcome of a thread cannot be among them: it begins a turn. */
export const laterMessages: Check<readonly MessageInput[]> = (value, field, problems) => {
  const before = problems.length
  const read = turnMessages(value, field, problems)
  if (problems.length > before) return read
  const at = read.findIndex(({ reports }) => reports !== undefined)
  return at < 0
    ? read
    : noteProblem('the outcome of a thread is reported in a turn', `${field}[${at}].reports`, problems)
}

/** One turn, property by property. */
export const TURN_CHECKS: ChecksOf<TurnInput> = {
  messages: turnMessages,
  usage: optional(reading),
  window: optional(windowParts),
  producedAt: optional(moment),
}

/** One turn, as the caller reports it. */
export const turn: Check<TurnInput> = objectOf<TurnInput>(TURN_CHECKS)
