import type { RecordOfRun, RunInProgress } from '../run-in-progress.ts'

/**
 * Notes the task as unsaid when it was asked and no person's message is on record since: this run has just asked it, or
 * the process that did was lost before it could say it. The next launch says it.
 */
export const noteUnsaidTask = async (run: RecordOfRun & Pick<RunInProgress, 'request'>): Promise<void> => {
  const { conversation, deps, request } = run
  const { asked } = conversation.current
  conversation.noteUnsaid(undefined)
  if (asked === undefined) return
  const newest = { most: 1, characters: 1, olderCharacters: 1 }
  const [last] = (await run.retryThroughOutage(() => deps.store.messages.findPersonMessages(conversation.id, newest)))
    .messages
  if (last !== undefined && last.sequenceNumber >= asked.sequence) return
  // Somebody who only recovers asks nothing; what is stored may be redacted.
  conversation.noteUnsaid(request.prompt.trim() === '' ? asked.prompt : request.prompt)
}
