import { MESSAGE_ROLES } from './message.ts'
import type { Refusal } from './refusal.ts'
import type { MessageInput, TurnInput } from './turn.ts'

/** A refusal for each of these fields that is blank. */
export const blanks = (fields: Readonly<Record<string, string | undefined>>): readonly Refusal[] =>
  Object.entries(fields)
    .filter(([, value]) => value !== undefined && value.trim() === '')
    .map(([field]) => ({ code: 'input.blank', field }))

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
  return calls.some(({ callId, toolName }) => callId.trim() === '' || toolName.trim() === '')
    ? invalid('message', 'a tool call needs a call id and a tool name')
    : undefined
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

const invalid = (field: string, problem: string): Refusal => ({ code: 'input.invalid', field, problem })
