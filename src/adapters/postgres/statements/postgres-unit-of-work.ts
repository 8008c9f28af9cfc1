import { z } from 'zod'
import { asksTheSame } from '../../../domain/audit/command-seal.ts'
import type { ConversationTail } from '../../../domain/facts.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { CommandId } from '../../../domain/kernel/ids.ts'
import { type Instant, instant } from '../../../domain/kernel/instant.ts'
import type { Receipt } from '../../../ports/store/receipt.ts'
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import type {
  CommandStamp,
  CommitOutcome,
  Loaded,
  Question,
  Repeated,
  Subjects,
  Unit,
  UnitOfWork,
} from '../../../ports/store/unit-of-work.ts'
import { sha256 } from '../../../ports/system/sha256.ts'
import { budgetUse, restartUse } from '../rows/budget-use-row.ts'
import { toConversation } from '../rows/conversation-row.ts'
import { toHandoff } from '../rows/handoff-row.ts'
import { toMonitor } from '../rows/monitor-row.ts'
import { aConversation, aHandoff, aTurn, maybe, place, reader, time, toolCall } from '../rows/row-types.ts'
import { toWorkingSession } from '../rows/session-row.ts'
import { toStorableJson, toStorableText } from '../rows/text-codec.ts'
import { unitColumns } from '../rows/unit-rows.ts'
import { callFunction, type Database, FUNCTIONS_VERSION, quotedName } from './database.ts'
import { personMessages, WANTED, wantedParameters } from './person-messages.ts'
import { conflictAt, isCommandTaken, toFailure } from './pg-errors.ts'

/** A receipt is our own words back; it is not taken apart here. */
const repeated = z.object({
  digest: z.string(),
  receipt: maybe(z.custom<Receipt>((value) => typeof value === 'object' && value !== null)),
})

const outcome = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('kept') }),
  z.object({ outcome: z.literal('conflict'), at: z.string() }),
  repeated.extend({ outcome: z.literal('repeated') }),
])

const loaded = z.object({
  repeated: maybe(repeated),
  existing: maybe(z.unknown()),
  parent: maybe(z.unknown()),
  conversation: maybe(z.unknown()),
  session: maybe(z.unknown()),
  baton: maybe(z.unknown()),
  parent_session: maybe(z.unknown()),
  is_taken: maybe(z.boolean()),
  source: maybe(z.unknown()),
  monitor: maybe(z.unknown()),
  person_messages: maybe(personMessages),
  handoff: maybe(z.unknown()),
  prior_turn_id: maybe(aTurn),
  named_tool_calls: maybe(z.array(toolCall)),
  exchange_tool_calls: maybe(z.array(toolCall)),
  last_tool_calls: maybe(z.array(toolCall)),
  key_taken_by: maybe(aConversation),
  tail: maybe(z.object({ last_epoch: z.number(), next_sequence: place })),
  lease: maybe(z.object({ until: time, now: time, runner: maybe(z.string()) }).transform(defined)),
  restarts: maybe(restartUse),
  use: maybe(budgetUse),
  threads: maybe(z.array(z.object({ handoff_id: aHandoff, is_reported: z.boolean() }))),
  now: maybe(time),
})

type Answer = z.output<typeof loaded>

const toAnswer = reader('answer', loaded)
const toOutcome = reader('answer', outcome)

/** Each question as the call that answers it. */
type Calls = {
  readonly [S in keyof Subjects]: (asks: Subjects[S]['asks']) => readonly [name: string, ...parameters: unknown[]]
}

const SOURCE =
  '%::uuid, %::uuid, array(select jsonb_array_elements_text(%::text::jsonb)), %::integer, %::text, %::boolean'

const CALLS: Calls = {
  opening: ({ externalKey, parentId }) => ['load_opening(%::text, %::uuid', storable(externalKey), parentId ?? null],
  conversation: ({ conversationId, parentSessionId, sessionId, isBudgeted = false }) => [
    'load_conversation(%::uuid, %::uuid, %::uuid, %::boolean',
    conversationId,
    parentSessionId ?? null,
    sessionId ?? null,
    isBudgeted,
  ],
  session: ({ sessionId }) => ['load_session(%::uuid', sessionId],
  source: ({ sessionId, priorTurn, toolCalls, maxToolCalls, externalKey, isBudgeted = false, reports }) => {
    const wanted = [sessionId, priorTurn ?? null, toStorableJson(toolCalls ?? []), maxToolCalls, storable(externalKey)]
    return reports === undefined
      ? [`load_source(${SOURCE}`, ...wanted, isBudgeted]
      : [`load_reports(${SOURCE}, %::uuid[]`, ...wanted, isBudgeted, [...reports]]
  },
  handoff: ({ handoffId, personMessages }) =>
    personMessages === undefined
      ? ['load_handoff(%::uuid', handoffId]
      : [`load_completion(%::uuid, ${WANTED}`, handoffId, ...wantedParameters(personMessages)],
  next_handoff: ({ targetAgent, among = 1 }) => [
    'load_next_handoff(%::text, %::integer',
    toStorableText(targetAgent),
    among,
  ],
}

const storable = (text: string | undefined): string | null => (text === undefined ? null : toStorableText(text))

/** Each answer as the facts of its subject. */
const FACTS: { readonly [S in keyof Subjects]: (answer: Answer) => Subjects[S]['facts'] } = {
  opening: ({ existing, parent }) =>
    defined({ existing: existing && toConversation(existing), parent: parent && toConversation(parent) }),
  conversation: ({ conversation, baton, parent_session: parent, is_taken: isTaken, tail, use }) =>
    defined({
      conversation: conversation && toConversation(conversation),
      baton: baton && toWorkingSession(baton).session,
      parentSession: parent && toWorkingSession(parent).session,
      isTaken,
      use,
      ...toTail(tail),
    }),
  session: ({ session, conversation, monitor, lease, baton, tail }) =>
    defined({
      working: session && toWorkingSession(session),
      conversation: conversation && toConversation(conversation),
      monitor: monitor && toMonitor(monitor),
      lease,
      baton: baton && toWorkingSession(baton).session,
      nextSequence: toTail(tail).nextSequence,
    }),
  source: (answer) =>
    defined({
      working: answer.session && toWorkingSession(answer.session),
      monitor: answer.monitor && toMonitor(answer.monitor),
      conversation: answer.conversation && toConversation(answer.conversation),
      priorTurnId: answer.prior_turn_id,
      namedToolCalls: answer.named_tool_calls ?? [],
      exchangeToolCalls: answer.exchange_tool_calls ?? [],
      lastToolCalls: answer.last_tool_calls ?? [],
      keyTakenBy: answer.key_taken_by,
      restarts: answer.restarts,
      threads: answer.threads?.map(({ handoff_id: handoffId, is_reported: isReported }) => ({ handoffId, isReported })),
      now: due(answer.now),
    }),
  handoff: (answer) => handoffFacts(answer),
  next_handoff: (answer) => handoffFacts(answer),
}

const handoffFacts = (answer: Answer): Subjects['handoff']['facts'] => {
  const { handoff, conversation, source, monitor, person_messages: personMessages, tail, now } = answer
  return defined({
    handoff: handoff && toHandoff(handoff),
    conversation: conversation && toConversation(conversation),
    source: source && toWorkingSession(source),
    monitor: monitor && toMonitor(monitor),
    personMessages,
    now: due(now),
    ...toTail(tail),
  })
}

const toTail = (tail: Answer['tail']): ConversationTail => {
  const { last_epoch: lastEpoch, next_sequence: nextSequence } = due(tail)
  return { lastEpoch, nextSequence }
}

const due = <T>(part: T | undefined): T => {
  if (part === undefined) throw new StoreFailure('store.integrity', 'The database left out a part of its answer')
  return part
}

/** The function that keeps a decision: in a transaction of its own, or in one of the caller. */
export type CommitFunction = 'commit_unit' | 'commit_within'

/** Loads in one call, commits in one call; the database functions keep their plans, behind a pooler too. */
export class PostgresUnitOfWork implements UnitOfWork {
  readonly #database: Database
  readonly #commitCall: string
  readonly #texts = new Map<string, string>()
  /** How far the store's clock is ahead of ours, as of the last answer that told. */
  #aheadMs: number | undefined

  constructor(database: Database, commit: CommitFunction) {
    this.#database = database
    this.#commitCall = `${commit}(%::text::jsonb, %::uuid[], %::text[], %::text[])`
  }

  async load<Subject extends keyof Subjects>(
    question: Question<Subject>,
    command: CommandStamp,
  ): Promise<Loaded<Subject>> {
    const [call, ...parameters] = CALLS[question.about](question)
    const answer = await this.#call(`${call}, %::uuid)`, [...parameters, command.id])
    const parsed = toAnswer(answer)
    if (parsed.now !== undefined) this.#aheadMs = Date.parse(parsed.now) - Date.now()
    if (parsed.repeated !== undefined) return { repeated: toRepeated(parsed.repeated, command) }
    return { facts: FACTS[question.about](parsed) }
  }

  async commit(unit: Unit): Promise<CommitOutcome> {
    const { rows, streams, bodies, salts } = unitColumns(unit)
    const committed = await this.#commit([toStorableJson(rows), streams, bodies, salts], unit.command)
    return committed.outcome === 'repeated'
      ? { outcome: 'repeated', repeated: toRepeated(committed, unit.command) }
      : committed
  }

  estimateNow(): Instant | undefined {
    return this.#aheadMs === undefined ? undefined : instant(Date.now() + this.#aheadMs)
  }

  async #commit(rows: readonly unknown[], { id: command }: CommandStamp): Promise<z.output<typeof outcome>> {
    try {
      return toOutcome(await callFunction(this.#database, this.#text(this.#commitCall), rows))
    } catch (error) {
      if (isCommandTaken(error)) return this.#overtaken(command)
      const at = conflictAt(error)
      if (at !== undefined) return { outcome: 'conflict', at }
      throw toFailure(error)
    }
  }

  /** The same command was there already: what it answered. */
  async #overtaken(command: CommandId): Promise<z.output<typeof outcome>> {
    return toOutcome(await this.#call('overtaken(%::uuid, %::text)', [command, 'its command row']))
  }

  async #call(call: string, parameters: readonly unknown[]): Promise<unknown> {
    try {
      return await callFunction(this.#database, this.#text(call), parameters)
    } catch (error) {
      throw toFailure(error)
    }
  }

  /** The call as SQL, of the version we know: `%` stands for the next parameter. */
  #text(call: string): string {
    const earlier = this.#texts.get(call)
    if (earlier !== undefined) return earlier
    let count = 0
    const numbered = call.replaceAll('%', () => `$${++count}`).replace('(', `_v${FUNCTIONS_VERSION}(`)
    const text = `select ${quotedName(this.#database.schema)}.${numbered}::text as json`
    this.#texts.set(call, text)
    return text
  }
}

const toRepeated = ({ digest, receipt }: z.output<typeof repeated>, { payload }: CommandStamp): Repeated =>
  defined({ receipt, samePayload: asksTheSame(digest, payload, sha256) })
