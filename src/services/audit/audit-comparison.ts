import type { SealedEntry } from '../../domain/audit/audit-chain.ts'
import { AuditFold, type Folded } from '../../domain/audit/audit-fold.ts'
import { ImpossibleEvent } from '../../domain/audit/audit-replay.ts'
import { checkRow, checkSalt, comparableEntry, unknownRow } from '../../domain/audit/audit-rows.ts'
import { type TextCounts, TextLedger } from '../../domain/audit/audit-texts.ts'
import type { AuditProblem, ClockSetBack } from '../../domain/audit/audit-verdict.ts'
import type { AuditEvent } from '../../domain/audit-event.ts'
import type { Sha256 } from '../../domain/kernel/digest.ts'
import type { AgentSessionId, ConversationId } from '../../domain/kernel/ids.ts'
import type { SessionMoved } from '../../domain/session/session-event.ts'
import type { Message, MessageInHistory } from '../../domain/turn/message.ts'
import { referenceTo, type ToolCallRecord, toolCallName, toolCallRecords } from '../../domain/turn/tool-call.ts'
import { extendedTurn, type Turn } from '../../domain/turn/turn.ts'
import type { Page, Paged } from '../../ports/store/page.ts'
import type { Store } from '../../ports/store/store.ts'
import { CommandCheck } from './command-check.ts'
import { everyRow, RowStream } from './row-stream.ts'

type TurnExtended = Extract<SessionMoved, { type: 'turn.extended' }>

/**
 * Compares what is stored with what the entries of a conversation add up to.
 *
 * Turns, messages and tool calls are compared as their entries come, since all have one order; the rest, which changes,
 * when all entries were taken.
 */
export class AuditComparison {
  readonly #store: Store
  readonly #conversation: ConversationId
  readonly #fold: AuditFold
  readonly #commands: CommandCheck
  readonly #texts: TextLedger
  readonly #messages: RowStream<MessageInHistory>
  readonly #toolCalls: RowStream<ToolCallRecord>
  readonly #turns = new Map<AgentSessionId, RowStream<Turn>>()
  /** The last turn of each session, which may be added to until there is another. */
  readonly #lastTurns = new Map<AgentSessionId, Folded<Turn> & { readonly stored: Turn | undefined }>()
  #counts: TextCounts

  constructor(store: Store, conversation: ConversationId, sha256: Sha256) {
    this.#store = store
    this.#conversation = conversation
    this.#fold = new AuditFold(conversation)
    this.#commands = new CommandCheck(store, conversation, sha256)
    this.#texts = new TextLedger(sha256)
    this.#counts = this.#texts.counts
    this.#messages = new RowStream((page) => store.messages.listMessages(conversation, page))
    this.#toolCalls = new RowStream((page) => store.audit.listToolCallsIn(conversation, page))
  }

  /** How many texts were compared, up to where the comparison came. */
  get texts(): TextCounts {
    return this.#counts
  }

  /** Where the clocks of writers went back. */
  get setBack(): ClockSetBack | undefined {
    return this.#fold.setBack
  }

  /** Takes the next entry, and finds what is wrong with the turn and the messages it tells of. */
  async take(entry: SealedEntry): Promise<AuditProblem | undefined> {
    const { position, commandId } = entry
    let event: AuditEvent
    try {
      const comparable = comparableEntry(entry, this.#conversation)
      event = comparable.event
      this.#commands.take(entry, comparable.receipt)
      this.#fold.take(event, position, commandId)
    } catch (cause) {
      return nonsense(cause, position)
    }
    return checkSalt(entry) ?? (await this.#checkEvent(event, position))
  }

  /** Compares what is remembered of the commands of the entries taken since. */
  look(): Promise<void> {
    return this.#commands.look()
  }

  /** The problem with the rest, once every entry was taken. */
  async end(): Promise<AuditProblem | undefined> {
    const texts = this.#texts.copy()
    try {
      this.#fold.settle()
    } catch (cause) {
      return nonsense(cause)
    }
    const problem =
      this.#checkLastTurns() ??
      (await this.#checkRows(texts)) ??
      (await this.#checkNoMore()) ??
      (await this.#checkNumbers()) ??
      this.#commands.problem()
    this.#counts = texts.counts
    return problem ?? texts.problem()
  }

  /** How many receipts could not be compared, because a migration took a token out of them. */
  get uncheckedReceipts(): number {
    return this.#commands.unchecked
  }

  async #checkNumbers(): Promise<AuditProblem | undefined> {
    const [first] = await this.#store.audit.listMisnumbered(this.#conversation)
    if (first === undefined) return undefined
    const detail = `The tool calls of handoff ${first} are not numbered from 1 without a gap.`
    return { class: 'state_differs', detail }
  }

  async #checkRows(texts: TextLedger): Promise<AuditProblem | undefined> {
    const id = this.#conversation
    const { conversations, sessions, handoffs, audit } = this.#store
    const stored = await conversations.find(id)
    const itself = async () => ({ items: stored === undefined ? [] : [stored] })
    const fold = this.#fold
    return (
      (await checkAll('conversation', fold.conversations, itself, texts)) ??
      (await checkAll('session', fold.sessions, (page) => sessions.listForConversation(id, page), texts)) ??
      (await checkAll('handoff', fold.handoffs, (page) => handoffs.listForConversation(id, page), texts)) ??
      (await checkAll('snapshot', fold.snapshots, (page) => audit.listSnapshotsIn(id, page), texts)) ??
      (await checkAll('look back', fold.lookBacks, (page) => audit.listLookBacksIn(id, page), texts))
    )
  }

  async #checkEvent(event: AuditEvent, position: number): Promise<AuditProblem | undefined> {
    if (event.type === 'text.erased') return this.#texts.erase(event, position)
    if (event.type === 'session.started') return this.#checkMessages(event.opening ?? [], position)
    if (event.type === 'turn.extended') return this.#checkExtension(event, position)
    if (event.type !== 'turn.recorded') return undefined
    const { turn, messages, sessionId } = event
    const problem = this.#checkLastTurn(sessionId)
    const stored = await this.#turnsOf(sessionId).next()
    this.#lastTurns.set(sessionId, { row: turn, stored, position })
    return (
      problem ??
      (await this.#checkMessages(messages, position)) ??
      (await this.#checkToolCalls(toolCallRecords(turn), position))
    )
  }

  async #checkExtension(event: TurnExtended, position: number): Promise<AuditProblem | undefined> {
    const { sessionId, turnId, messages } = event
    const last = this.#lastTurns.get(sessionId)
    if (last?.row.id !== turnId) return unknownRow(`turn ${turnId}`)
    const row = extendedTurn(last.row, event)
    this.#lastTurns.set(sessionId, { ...last, row, position })
    const calls = toolCallRecords(row).slice(last.row.toolCalls.length)
    return (await this.#checkMessages(messages, position)) ?? (await this.#checkToolCalls(calls, position))
  }

  /** The problem of the turn that can no longer be extended, if it has one. */
  #checkLastTurn(session: AgentSessionId): AuditProblem | undefined {
    const last = this.#lastTurns.get(session)
    if (last === undefined) return undefined
    const { row, stored, position } = last
    // What its calls were about is compared with the calls themselves.
    return checkRow({ row: 'turn', id: row.id, position }, pointing(row), stored && pointing(stored), this.#texts)
  }

  #checkLastTurns(): AuditProblem | undefined {
    for (const session of this.#lastTurns.keys()) {
      const problem = this.#checkLastTurn(session)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  async #checkMessages(expected: readonly Message[], position: number): Promise<AuditProblem | undefined> {
    for (const message of expected) {
      const { metadata: _, ...stored } = (await this.#messages.next()) ?? { metadata: undefined }
      const about = { row: 'message', id: message.id, what: `message ${message.sequenceNumber}`, position }
      const problem = checkRow(about, message, 'id' in stored ? stored : undefined, this.#texts)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  async #checkToolCalls(calls: readonly ToolCallRecord[], position: number): Promise<AuditProblem | undefined> {
    for (const call of calls) {
      const about = { row: 'tool call', id: toolCallName(call), what: `tool call ${call.callId}`, position }
      const problem = checkRow(about, call, await this.#toolCalls.next(), this.#texts)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  /** Rows that no entry tells of. */
  async #checkNoMore(): Promise<AuditProblem | undefined> {
    const message = await this.#messages.peek()
    if (message !== undefined) return unknownRow(`message ${message.sequenceNumber}`)
    const call = await this.#toolCalls.peek()
    if (call !== undefined) return unknownRow(`tool call ${call.callId} of message ${call.sequenceNumber}`)
    for (const id of this.#fold.sessions.keys()) {
      const turn = await this.#turnsOf(id as AgentSessionId).peek()
      if (turn !== undefined) return unknownRow(`turn ${turn.id}`)
    }
    return undefined
  }

  #turnsOf(session: AgentSessionId): RowStream<Turn> {
    const read = (page: Page) => this.#store.audit.listTurnsIn(this.#conversation, session, page)
    const turns = this.#turns.get(session) ?? new RowStream(read)
    this.#turns.set(session, turns)
    return turns
  }
}

/** A turn that only points at its calls. */
const pointing = (turn: Turn): Turn => ({ ...turn, toolCalls: turn.toolCalls.map(referenceTo) })

const checkAll = async <Row extends { readonly id: string }>(
  row: string,
  folded: ReadonlyMap<string, Folded<Row>>,
  read: (page: Page) => Promise<Paged<Row>>,
  texts: TextLedger,
): Promise<AuditProblem | undefined> => {
  const left = new Map(folded)
  for await (const stored of everyRow(read)) {
    const { id } = stored
    const expected = left.get(id)
    if (expected === undefined) return unknownRow(`${row} ${id}`)
    left.delete(id)
    const problem = checkRow({ row, id, position: expected.position }, expected.row, stored, texts)
    if (problem !== undefined) return problem
  }
  const [absent] = left
  if (absent === undefined) return undefined
  const [id, { row: expected, position }] = absent
  return checkRow({ row, id, position }, expected, undefined, texts)
}

/** An error thrown while an entry was read, as a problem with that entry. */
const nonsense = (cause: unknown, taken?: number): AuditProblem => {
  const why = cause instanceof Error ? cause.message.replace(/\.$/, '') : String(cause)
  const isImpossible = cause instanceof ImpossibleEvent
  const position = (isImpossible ? cause.position : undefined) ?? taken
  return {
    class: isImpossible ? 'impossible' : 'state_differs',
    ...(position !== undefined && { position }),
    detail: `Entry ${position} makes no sense here: ${why}.`,
  }
}
