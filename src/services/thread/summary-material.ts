import { besideTask, wordsWanted } from '../../domain/checkpoint/carried-words.ts'
import { filesChanged, filesOf } from '../../domain/checkpoint/recap.ts'
import { askedTask, type Conversation } from '../../domain/conversation/conversation.ts'
import { beginningOf } from '../../domain/kernel/cut-text.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { SummaryMessage, SummarySource } from '../../domain/summary/summary-source.ts'
import { oneLine } from '../../domain/summary/summary-statements.ts'
import type { Message } from '../../domain/turn/message.ts'
import type { ToolCall } from '../../domain/turn/tool-call.ts'
import type { Store } from '../../ports/store/store.ts'

/** The bounds of what is read for a summary, however long the conversation is. */
const MOST = {
  messages: 200,
  characters: 200_000,
  ofOne: 8_000,
  sessions: 5,
  turns: 40,
  subagents: 5,
  files: 20,
} as const

/** So many tokens of a person's older words are looked at. */
const WORD_TOKENS = 2_000

/** A tool that starts a subagent, and one that reads files, by their names. */
const SUBAGENT = /^(?:task|agent|dispatch_agent|spawn_agent)$/i
const READS_FILES = /^(?:read|view|open|cat|read_file|view_file)$/i

/** One sentence is enough: the end of a report mostly says what came of it, and its beginning what it is about. */
const LONGEST_OUTCOME = 200

type Read = Pick<Store, 'sessions' | 'messages'>

/**
 * Everything that a summary of a conversation is made of, from the record, and so redacted already. Only the main thread
 * is on record: of a subagent there is the report that its tool call gave back. The newest messages of the newest
 * sessions are read, up to {@link MOST}, and the person's older words: the cost does not grow with the conversation.
 */
export const summaryMaterial = async (
  store: Read,
  conversation: Conversation,
  budgetTokens: number,
): Promise<SummarySource> => {
  const assigned = askedTask(conversation)
  const [latest, words] = await Promise.all([
    latestMessages(store, conversation),
    store.messages.findPersonMessages(conversation.id, wordsWanted(WORD_TOKENS)),
  ])
  const calls = await callsIn(store, latest)
  const inOrder = withinBounds(latest)
  const first = inOrder[0]?.sequenceNumber ?? Number.POSITIVE_INFINITY
  const older = besideTask(words.messages, words.more, assigned).filter(({ sequenceNumber }) => sequenceNumber < first)
  const messages = [...older.toReversed().map(({ text }) => personSaid(text)), ...inOrder.map(toSaid(calls))]
  const newest = latest.at(-1)?.sequenceNumber ?? words.messages[0]?.sequenceNumber ?? 0
  return {
    task: assigned.task,
    messages,
    leftOut: Math.max(0, newest - messages.length),
    subagents: outcomesOf(latest, calls),
    files: filesIn(calls),
    budgetTokens,
  }
}

/** The newest messages over the newest sessions, oldest first, without what sessions opened with. */
const latestMessages = async ({ sessions, messages }: Read, { id }: Conversation): Promise<readonly Message[]> => {
  const newest = await sessions.list({ conversationId: id, order: 'newest_first' }, { limit: MOST.sessions })
  let latest: readonly Message[] = []
  for (const session of newest.items) {
    latest = [...(await messages.listLatest(session.id, MOST.messages - latest.length)), ...latest]
    if (latest.length >= MOST.messages) break
  }
  return latest
}

/** The tool calls of the latest turns among these messages. */
const callsIn = async ({ messages: record }: Read, latest: readonly Message[]): Promise<readonly ToolCall[]> => {
  const turnIds = [...new Set(latest.flatMap(({ turnId }) => turnId ?? []))].slice(-MOST.turns)
  const turns = await Promise.all(turnIds.map((turnId) => record.findTurn(turnId)))
  return turns.flatMap((turn) => turn?.toolCalls ?? [])
}

/** The newest of them that there is room for. */
const withinBounds = (messages: readonly Message[]): readonly Message[] => {
  let room: number = MOST.characters
  const first = messages.findLastIndex(({ text }) => {
    room -= Math.min(text.length, MOST.ofOne)
    return room < 0
  })
  return messages.slice(first + 1)
}

const toSaid =
  (calls: readonly ToolCall[]) =>
  ({ id, role, origin, text }: Message): SummaryMessage => ({
    role,
    text: beginningOf(text, MOST.ofOne),
    isPerson: origin === 'person',
    toolCalls: calls
      .filter(({ messageId }) => messageId === id)
      .map(({ toolName, argument }) => defined({ toolName, argument })),
  })

const personSaid = (text: string): SummaryMessage => ({ role: 'user', text, isPerson: true, toolCalls: [] })

/** The reports of the latest subagents, in a sentence each. A result names the call that it answers. */
const outcomesOf = (latest: readonly Message[], calls: readonly ToolCall[]): readonly string[] => {
  const results = new Map(latest.filter(({ role }) => role === 'tool').map((one) => [one.providerMessageId, one.text]))
  return calls
    .filter(({ toolName }) => SUBAGENT.test(toolName))
    .slice(-MOST.subagents)
    .map(({ callId, argument = '' }) => outcomeOf(oneLine(argument), oneLine(results.get(callId) ?? '')))
}

const outcomeOf = (assignment: string, report: string): string => {
  const about = assignment === '' ? 'Work' : beginningOf(assignment, 80)
  if (report === '') return `${about}: no report is on record.`
  const [sentence = ''] = report.split(/(?<=[.!?])\s+/, 1)
  return `${about}: ${beginningOf(sentence, LONGEST_OUTCOME)}`
}

/** Files that were changed, the latest first, and then those that were read. */
const filesIn = (calls: readonly ToolCall[]): readonly string[] => {
  const latestFirst = calls.toReversed()
  const read = latestFirst.filter(({ toolName }) => READS_FILES.test(toolName)).flatMap(filesOf)
  return [...new Set([...filesChanged(latestFirst), ...read])].slice(0, MOST.files)
}
