import type { RecordOfRun, RunInProgress } from '../run-in-progress.ts'

/**
 * Notes the task for the next launch if no message of the person is on record since it was stored: the agent was never
 * sent it, because this run has just stored it, or because the process that did was lost before it launched the agent.
 */
export const noteUnsaidTask = async (run: RecordOfRun & Pick<RunInProgress, 'request'>): Promise<void> => {
  const { conversation, deps, request } = run
  const { asked: prompt } = conversation.current
  conversation.noteUnsaid(undefined)
  if (prompt === undefined) return
  const newest = { most: 1, characters: 1, olderCharacters: 1 }
  const [last] = (await run.retryThroughOutage(() => deps.store.messages.findPersonMessages(conversation.id, newest)))
    .messages
  if (last !== undefined && last.sequenceNumber >= prompt.sequence) return
  // The request of a recovery has no prompt, so the stored one is used, which may be redacted.
  conversation.noteUnsaid(request.prompt.trim() === '' ? prompt.prompt : request.prompt)
}
