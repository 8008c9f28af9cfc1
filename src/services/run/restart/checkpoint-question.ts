import { citedIn } from '../../../domain/checkpoint/checkpoint-citation.ts'
import {
  type CheckpointRequest,
  checkpointPrompt,
  MAX_CITED_BEFORE,
} from '../../../domain/checkpoint/checkpoint-prompt.ts'
import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import type { RecordOfRun, RunInProgress } from '../run-in-progress.ts'

/** How many earlier checkpoints are searched for the calls that they cite. */
const MOST_CHECKPOINTS = 5

/** The parts of a question for a checkpoint: the task, and the tool calls that the checkpoint may cite. */
export const checkpointRequestFor = async (run: RecordOfRun, handoff: HandoffMetadata): Promise<CheckpointRequest> => {
  const originalTask = run.conversation.task
  const latest = handoff.triggeringToolCalls.map(({ callId }) => callId)
  const before = (await citedBefore(run)).filter((callId) => !latest.includes(callId))
  const wanted = [...before, ...latest]
  const find = () => run.deps.store.messages.findToolCalls(run.conversation.id, wanted)
  const calls = wanted.length === 0 ? [] : await run.retryThroughOutage(find)
  return {
    originalTask,
    toolCalls: calls.filter(({ callId }) => latest.includes(callId)),
    citedBefore: calls.filter(({ callId }) => before.includes(callId)),
  }
}

/** The question in words. A template of the user's own may throw. */
export const checkpointQuestionText = (run: Pick<RunInProgress, 'setting'>, request: CheckpointRequest): string => {
  const template = run.setting('template')
  return typeof template === 'function' ? template(request) : checkpointPrompt(request, template)
}

/** The calls that the latest checkpoints cited, those of the newest first. */
const citedBefore = async (run: RecordOfRun): Promise<readonly string[]> => {
  const cited = new Set<string>()
  let looked = 0
  const restarts = { conversationId: run.conversation.id, kind: 'context_restart', order: 'newest_first' } as const
  for await (const { document } of run.deps.history.eachHandoff({ ...restarts, status: 'completed' })) {
    if (document !== undefined) for (const callId of citedIn(document)) cited.add(callId)
    looked += 1
    if (cited.size >= MAX_CITED_BEFORE || looked === MOST_CHECKPOINTS) break
  }
  return [...cited].slice(0, MAX_CITED_BEFORE)
}
