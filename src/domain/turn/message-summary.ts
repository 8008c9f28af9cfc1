import type { MessageRole } from './message.ts'

/** How many messages of each role there are. */
export type MessageSummary = Readonly<Record<MessageRole, number>>

/** No messages at all. */
export const EMPTY_SUMMARY: MessageSummary = { user: 0, assistant: 0, tool: 0, system: 0 }

/** Counts roles on top of an earlier count. */
export const countRoles = (roles: readonly MessageRole[], from: MessageSummary = EMPTY_SUMMARY): MessageSummary => {
  const counts = { ...from }
  for (const role of roles) counts[role] += 1
  return counts
}

/**
 * All messages together.
 *
 * @example
 * ```ts
 * console.log(totalMessages({ user: 5, assistant: 5, tool: 2, system: 1 })) // => 13
 * ```
 */
export const totalMessages = (summary: MessageSummary): number =>
  summary.user + summary.assistant + summary.tool + summary.system
