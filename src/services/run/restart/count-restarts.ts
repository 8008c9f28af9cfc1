import type { RecordOfRun } from '../run-in-progress.ts'

/** How often the conversation was handed on in fresh windows so far. */
export const countRestarts = async ({ conversation, deps }: RecordOfRun): Promise<number> => {
  let count = 0
  const restarts = { conversationId: conversation.id, kind: 'context_restart', status: 'completed' } as const
  for await (const _ of deps.history.eachHandoff(restarts)) count += 1
  return count
}
