import type { SealedEntry, Sha256 } from '../domain/audit-chain.ts'
import type { AuditEvent } from '../domain/audit-event.ts'
import { AuditFold, type Folded } from '../domain/audit-fold.ts'
import { checkRow, comparableEvent, unknownRow } from '../domain/audit-rows.ts'
import type { AuditProblem } from '../domain/audit-verdict.ts'
import type { SnapshotRecord } from '../domain/context-snapshot.ts'
import type { AgentSessionId, ConversationId } from '../domain/ids.ts'
import type { Message, MessageInHistory } from '../domain/message.ts'
import type { Turn } from '../domain/turn.ts'
import type { Page, Paged } from '../ports/page.ts'
import type { Store } from '../ports/store.ts'
import { everyRow, RowStream } from './row-stream.ts'

/**
 * Compares what is stored with what the entries of a conversation add up to.
 *
 * Turns and messages are compared as their entries come, since both lists have one order; the rest, which changes, when
 * all entries were taken.
 */
export class AuditComparison {
  readonly #store: Store
  readonly #conversation: ConversationId
  readonly #sha256: Sha256
  readonly #fold: AuditFold
  readonly #messages: RowStream<MessageInHistory>
  readonly #turns = new Map<AgentSessionId, RowStream<Turn>>()

  constructor(store: Store, conversation: ConversationId, sha256: Sha256) {
    this.#store = store
    this.#conversation = conversation
    this.#sha256 = sha256
    this.#fold = new AuditFold(conversation)
    this.#messages = new RowStream((page) => store.messages.listMessages(conversation, page))
  }

  /** Takes the next entry, and finds what is wrong with the turn and the messages it tells of. */
  async take(entry: SealedEntry): Promise<AuditProblem | undefined> {
    const { position } = entry
    let event: AuditEvent
    try {
      event = comparableEvent(entry)
      this.#fold.take(event, position)
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      return { class: 'state_differs', position, detail: `Entry ${position} makes no sense here: ${why}.` }
    }
    if (event.type === 'session.started') return this.#checkMessages(event.opening ? [event.opening] : [], position)
    if (event.type !== 'turn.recorded') return undefined
    const turn = await this.#turnsOf(event.sessionId).next()
    const about = { what: `turn ${event.turn.id}`, position }
    return checkRow(about, event.turn, turn, this.#sha256) ?? (await this.#checkMessages(event.messages, position))
  }

  /** What is wrong with the rest, once every entry was taken. */
  async end(): Promise<AuditProblem | undefined> {
    const id = this.#conversation
    const { conversations, sessions, handoffs } = this.#store
    const stored = await conversations.find(id)
    const itself = async () => ({ items: stored === undefined ? [] : [stored] })
    return (
      (await this.#checkAll('conversation', this.#fold.conversations, itself)) ??
      (await this.#checkAll('session', this.#fold.sessions, (page) => sessions.listForConversation(id, page))) ??
      (await this.#checkAll('handoff', this.#fold.handoffs, (page) => handoffs.listForConversation(id, page))) ??
      (await this.#checkSnapshots()) ??
      (await this.#checkNoMore())
    )
  }

  async #checkMessages(expected: readonly Message[], position: number): Promise<AuditProblem | undefined> {
    for (const message of expected) {
      const { metadata: _, ...stored } = (await this.#messages.next()) ?? { metadata: undefined }
      const about = { what: `message ${message.sequenceNumber}`, position }
      const problem = checkRow(about, message, 'id' in stored ? stored : undefined, this.#sha256)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  async #checkAll<Row extends { readonly id: string }>(
    what: string,
    folded: ReadonlyMap<string, Folded<Row>>,
    read: (page: Page) => Promise<Paged<Row>>,
  ): Promise<AuditProblem | undefined> {
    const left = new Map(folded)
    for await (const stored of everyRow(read)) {
      const expected = left.get(stored.id)
      if (expected === undefined) return unknownRow(`${what} ${stored.id}`)
      left.delete(stored.id)
      const about = { what: `${what} ${stored.id}`, position: expected.position }
      const problem = checkRow(about, expected.row, stored, this.#sha256)
      if (problem !== undefined) return problem
    }
    const [absent] = left
    if (absent === undefined) return undefined
    const [id, { row, position }] = absent
    return checkRow({ what: `${what} ${id}`, position }, row, undefined, this.#sha256)
  }

  async #checkSnapshots(): Promise<AuditProblem | undefined> {
    const bySession = new Map<string, [string, Folded<SnapshotRecord>][]>()
    for (const snapshot of this.#fold.snapshots) {
      const { sessionId } = snapshot[1].row
      const others = bySession.get(sessionId)
      if (others === undefined) bySession.set(sessionId, [snapshot])
      else others.push(snapshot)
    }
    for (const id of this.#fold.sessions.keys()) {
      const session = id as AgentSessionId
      const read = async (page: Page): Promise<Paged<SnapshotRecord>> => {
        const { items, ...rest } = await this.#store.snapshots.listForSession(session, page)
        return { ...rest, items: items.map(({ visibleToolCalls: _, ...record }) => record) }
      }
      const problem = await this.#checkAll('snapshot', new Map(bySession.get(session)), read)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  /** Rows that no entry tells of. */
  async #checkNoMore(): Promise<AuditProblem | undefined> {
    const message = await this.#messages.peek()
    if (message !== undefined) return unknownRow(`message ${message.sequenceNumber}`)
    for (const id of this.#fold.sessions.keys()) {
      const turn = await this.#turnsOf(id as AgentSessionId).peek()
      if (turn !== undefined) return unknownRow(`turn ${turn.id}`)
    }
    return undefined
  }

  #turnsOf(session: AgentSessionId): RowStream<Turn> {
    const turns = this.#turns.get(session) ?? new RowStream((page) => this.#store.messages.listTurns(session, page))
    this.#turns.set(session, turns)
    return turns
  }
}
