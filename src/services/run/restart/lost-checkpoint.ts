import { MAX_RECAP_LENGTH, recapOf } from '../../../domain/checkpoint/recap.ts'
import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import type { AgentSession } from '../../../domain/session/agent-session.ts'
import type { Message } from '../../../domain/turn/message.ts'
import type { RecordOfRun } from '../run-in-progress.ts'

/** How many of the latest messages of a session are read for a recap. */
const MESSAGES_READ = 40
/** How many of its latest turns are searched for tool calls. */
const TURNS_READ = 10
/** How many windows without a checkpoint, one after the other, are recapped. */
const MOST_WINDOWS = 3

/** A recap of the windows since the latest checkpoint, from the record. Oldest window first. */
export const recapOfLost = async (run: RecordOfRun, handoff: HandoffMetadata): Promise<string> => {
  const lost = await lostUpTo(run, handoff)
  const room = Math.floor(MAX_RECAP_LENGTH / lost.length)
  const recaps: string[] = []
  for (const one of lost) recaps.push(await recapOfSource(run, one, room))
  const filled = recaps.filter((recap) => recap !== '')
  return filled.length === 1
    ? filled.join()
    : filled.map((recap, index) => `# Window ${index + 1}\n\n${recap}`).join('\n\n')
}

/** This handoff and the earlier ones without a checkpoint, oldest first. */
const lostUpTo = async (run: RecordOfRun, handoff: HandoffMetadata): Promise<readonly HandoffMetadata[]> => {
  const lost = [handoff]
  const restarts = { conversationId: run.conversation.id, kind: 'context_restart', order: 'newest_first' } as const
  for await (const earlier of run.deps.history.eachHandoff({ ...restarts, status: 'completed' })) {
    if (earlier.document !== undefined || lost.length === MOST_WINDOWS) break
    if (earlier.id !== handoff.id) lost.unshift(earlier)
  }
  return lost
}

/**
 * Made of stored texts, which are redacted already. The prompts are left out: the continuation has them as the task and
 * in the person's own words.
 */
const recapOfSource = async (run: RecordOfRun, handoff: HandoffMetadata, room: number): Promise<string> => {
  const { messages: record } = run.deps.store
  const named = handoff.triggeringToolCalls.map(({ callId }) => callId)
  const latest = await run.retryThroughOutage(() => record.listLatest(handoff.sourceSessionId, MESSAGES_READ))
  const messages = latest.filter(isForRecap)
  const calls =
    named.length === 0 ? [] : await run.retryThroughOutage(() => record.findToolCalls(run.conversation.id, named))
  return recapOf({ messages, calls }, room)
}

/** Everything but the prompts: a continuation has those as the task and in the person’s own words. */
const isForRecap = ({ role, origin }: Pick<Message, 'role' | 'origin'>): boolean =>
  role !== 'user' || origin === 'unknown'

/** As {@link recapOfLost}, of a session that was not handed off: its run failed, was exhausted or was cancelled. */
export const recapOfSession = async (run: RecordOfRun, { id }: Pick<AgentSession, 'id'>): Promise<string> => {
  const { messages: record } = run.deps.store
  const latest = await run.retryThroughOutage(() => record.listLatest(id, MESSAGES_READ))
  const turnIds = [...new Set(latest.flatMap(({ turnId }) => turnId ?? []))].slice(-TURNS_READ)
  const turns = await Promise.all(turnIds.map((turnId) => run.retryThroughOutage(() => record.findTurn(turnId))))
  const calls = turns.flatMap((turn) => turn?.toolCalls ?? [])
  return recapOf({ messages: latest.filter(isForRecap), calls })
}
