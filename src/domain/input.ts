import { MESSAGE_ROLES } from './message.ts'
import type { Refusal } from './refusal.ts'
import type { MessageInput, TurnInput } from './turn.ts'

/** Names and keys are looked up by index, which takes no more than this whatever the alphabet. */
const MAX_NAME_LENGTH = 300

/** Far more than a window holds, and well below what a database takes. */
const MAX_TEXT_LENGTH = 16_777_216

const TEXT_FIELDS: ReadonlySet<string> = new Set(['originalTask', 'prompt', 'reason', 'continuation'])

/** A refusal for each of these fields that is blank or too long. An absent one is fine. */
export const fieldProblems = (fields: Readonly<Record<string, string | undefined>>): readonly Refusal[] =>
  Object.entries(fields).flatMap(([field, value]): Refusal[] => {
    if (value === undefined) return []
    if (typeof value !== 'string') return [invalid(field, 'it is not text')]
    if (value.trim() === '') return [{ code: 'input.blank', field }]
    const most = TEXT_FIELDS.has(field) ? MAX_TEXT_LENGTH : MAX_NAME_LENGTH
    return value.length > most ? [invalid(field, `it has ${value.length} characters, and ${most} is the most`)] : []
  })

/** What is wrong with a turn as reported, if anything. Reports are untrusted: types alone do not stop a plain caller. */
export const turnProblem = ({ messages, usage }: TurnInput): Refusal | undefined => {
  if (messages.length === 0) return invalid('turn', 'it has no messages')
  if (usage?.state === 'metered' && ![usage.promptTokens, usage.outputTokens].every(isCount)) {
    return invalid('usage', 'token counts are whole numbers from 0 up; leave usage out when it is unknown')
  }
  return messages.map(messageProblem).find((problem) => problem !== undefined)
}

const messageProblem = (message: MessageInput): Refusal | undefined => {
  if (!MESSAGE_ROLES.includes(message.role)) {
    return invalid('message', `its role is "${String(message.role)}", not one of ${MESSAGE_ROLES.join(', ')}`)
  }
  const calls = 'toolCalls' in message ? (message.toolCalls ?? []) : []
  if (message.role !== 'assistant' && calls.length > 0)
    return invalid('message', 'only an assistant message calls tools')
  const ids = calls.map(({ callId }) => callId)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined) return invalid('message', `it has the tool call "${twice}" twice`)
  if (message.text.length > MAX_TEXT_LENGTH)
    return invalid('message', `its text is longer than ${MAX_TEXT_LENGTH} characters`)
  return calls.flatMap(({ callId, toolName }) => fieldProblems({ callId, toolName }))[0]
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

const invalid = (field: string, problem: string): Refusal => ({ code: 'input.invalid', field, problem })
