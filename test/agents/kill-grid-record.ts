import {
  type AgentSession,
  type Batonpass,
  everyPage,
  type HandoffMetadata,
  type MessageInHistory,
  type ToolCallReference,
} from '../../src/entry/index.ts'
import { DONE, WORDS } from './kill-grid.ts'
import type { Asker, Body } from './messages-api.ts'

/** What is on record of a conversation. */
export interface Kept {
  readonly sessions: readonly AgentSession[]
  readonly handoffs: readonly HandoffMetadata[]
  readonly messages: readonly MessageInHistory[]
  readonly calls: readonly Pick<ToolCallReference, 'callId'>[]
  readonly isIntact: boolean
}

/** What was seen beside the record: by the caller, by the API, and in the folder. */
export interface Seen {
  /** A line of JSON for each message that was passed on. */
  readonly shown: string
  /** The words that tools have written. */
  readonly ran: readonly string[]
  readonly requests: readonly Body[]
  readonly asked: readonly Asker[]
}

/** How what was seen compares with what is on record. */
export interface Account {
  /** How many different things were seen. */
  readonly seen: number
  readonly missing: readonly string[]
  readonly doubled: readonly string[]
}

export const recordOf = async ({ history, audit }: Batonpass, key: string): Promise<Kept> => {
  const conversation = await history.conversationByKey(key)
  if (conversation === undefined) throw new Error(`There is no conversation ${key}`)
  const kept = { sessions: [], handoffs: [], messages: [], calls: [] } as {
    [Part in keyof Omit<Kept, 'isIntact'>]: Kept[Part][number][]
  }
  for await (const session of everyPage((page) => history.sessions(conversation.id, page))) {
    kept.sessions.push(session)
    for await (const { toolCalls } of everyPage((page) => history.turns(session.id, page)))
      kept.calls.push(...toolCalls)
  }
  for await (const handoff of everyPage((page) => history.handoffs(conversation.id, page))) kept.handoffs.push(handoff)
  for await (const message of everyPage((page) => history.messages(conversation.id, page))) kept.messages.push(message)
  const verdict = await audit.verify(conversation.id)
  return { ...kept, isIntact: verdict.ok && verdict.value.intact }
}

const CALL = /"type":"tool_use","id":"(toolu_\d+)"|"id":"(toolu_\d+)","type":"tool_use"/g
const TOLD = [...WORDS.map((word) => `heard-${word}`), DONE]

/**
 * Everything that was seen, by name: tool calls and results and answers that the caller was shown, those that an agent
 * knew of when it asked the API for more, and what tools did in the folder.
 */
const thingsIn = (text: string): readonly string[] => {
  const plain = text.replaceAll('\\', '')
  const calls = [...plain.matchAll(CALL)].map(([, first, second]) => first ?? second ?? '')
  // The command names its word before it is said: what is told stands alone.
  const told = TOLD.filter((words) => plain.replaceAll(`echo ${words}`, '').includes(words))
  return [...calls, ...told]
}

/** Compares what was seen with what is on record. */
export const accountOf = ({ shown, ran, requests, asked }: Seen, record: Kept): Account => {
  const known = requests.flatMap(({ messages }, index) =>
    asked[index] === 'turn' || asked[index] === 'question' ? [JSON.stringify(messages)] : [],
  )
  const seen = new Set([...thingsIn(shown), ...known.flatMap(thingsIn)])
  const extracts = record.handoffs.map(({ extract = '' }) => extract).join('\n')
  const texts = record.messages.filter(({ role }) => role !== 'user').map(({ text }) => text.trim())
  const calls = record.calls.map(({ callId }) => callId)
  const count = (thing: string): number =>
    [...calls, ...texts].filter((one) => one === thing).length + Number(extracts.includes(thing))
  const things = [...seen]
  const again = WORDS.filter((word) => ran.filter((said) => said === word).length > 1)
  const uncalled = ran.length > calls.length ? [`${ran.length} tools ran, ${calls.length} calls are on record`] : []
  return {
    seen: seen.size,
    missing: [...things.filter((thing) => count(thing) === 0), ...uncalled],
    doubled: [...things.filter((thing) => count(thing) > 1), ...again.map((word) => `${word} was said again`)],
  }
}
