import type { AuditEntry } from '../../domain/audit-event.ts'
import { arrangeLineage, type Lineage, type LineageSubject } from '../../domain/history/lineage.ts'
import type { FoundInHistory, LookBackAnswer } from '../../domain/history/look-back.ts'
import type { WindowAtTurn } from '../../domain/history/window-at-turn.ts'
import type { AgentSessionId, ConversationId, HandoffId, TurnId } from '../../domain/kernel/ids.ts'
import type { MetadataTypes } from '../../domain/kernel/metadata.ts'
import type { ContextWindowSnapshot } from '../../domain/session/context-snapshot.ts'
import type { LookBackInHistory } from '../../domain/session/looked-back.ts'
import type { DelegatedThread } from '../../domain/thread/delegated-thread.ts'
import type { MessageInHistory } from '../../domain/turn/message.ts'
import type { Turn } from '../../domain/turn/turn.ts'
import { unwrap } from '../../domain/unwrap.ts'
import type { ContextMonitor } from '../../domain/window/context-monitor.ts'
import type {
  ConversationFilter,
  HandoffFilter,
  OverdueRule,
  SessionFilter,
} from '../../ports/store/history-filters.ts'
import type { IdKind } from '../../ports/store/id-search.ts'
import { everyPage, type Page, type Paged } from '../../ports/store/page.ts'
import type { Store } from '../../ports/store/store.ts'
import type { KeptSummary, SummaryFigures, SummaryFilter } from '../../ports/store/thread-summaries.ts'
import type { UnfinishedPage } from '../../ports/store/unfinished-session.ts'
import {
  type Conversations,
  type ConversationWith,
  type Found,
  type Handoffs,
  type HandoffWith,
  pageOf,
  pageOfOne,
  type Sessions,
  type SessionWith,
} from './list-page.ts'
import { answerLookBack, askedSearch, type LookBackAsked } from './look-back-question.ts'
import { askedEnding, askedId, askedIds, askedSubject, askedText, FILTERS, trimmed, valid } from './questions.ts'
import { searchConversations } from './search-conversations.ts'

/**
 * Answers questions about what happened, and changes nothing: for auditors and operators.
 * Lists come in pages, oldest first unless the filter says otherwise; what begins with `each` goes over all of them,
 * and {@link everyPage} does so for any other list. If something does not exist, the answer is `undefined`; a broken
 * store throws `StoreFailure`, and a wrong question (a text that is no id, a page of no size) throws `RefusedError`.
 *
 * @example
 * ```ts
 * const history = new HandoffHistory({ store: new MemoryStore({ clock: systemClock }) })
 * const { items } = await history.pendingFor('opus', { limit: 20 })
 * console.log(items.length) // => 0
 * ```
 */
export class HandoffHistory<Notes extends MetadataTypes = MetadataTypes> {
  readonly #store: Store

  constructor({ store }: { readonly store: Store }) {
    this.#store = store
  }

  /** A conversation by its id. */
  async conversation(id: ConversationId): Promise<ConversationWith<Notes> | undefined> {
    return this.#store.conversations.find(askedId(id)) as Found<ConversationWith<Notes>>
  }

  /** A conversation by the orchestrator's own key. */
  async conversationByKey(externalKey: string): Promise<ConversationWith<Notes> | undefined> {
    return this.#store.conversations.findByExternalKey(askedText(externalKey)) as Found<ConversationWith<Notes>>
  }

  /** Conversations, by the time they were opened. */
  async listConversations(filter: ConversationFilter = {}, page: Page = {}): Promise<Paged<ConversationWith<Notes>>> {
    const wanted = valid(FILTERS.conversation, filter, 'filter')
    return pageOf(['conversations', wanted], page, (at) =>
      this.#store.conversations.list(wanted, at),
    ) as Conversations<Notes>
  }

  /** Every conversation that matches. */
  eachConversation(filter: ConversationFilter = {}, page: Page = {}): AsyncIterable<ConversationWith<Notes>> {
    return everyPage((next) => this.listConversations(filter, next), page)
  }

  /** A session by its id. */
  async session(id: AgentSessionId): Promise<SessionWith<Notes> | undefined> {
    return this.#store.sessions.find(askedId(id)) as Found<SessionWith<Notes>>
  }

  /** The stored monitor of a session's window. */
  async monitor(session: AgentSessionId): Promise<ContextMonitor | undefined> {
    return this.#store.monitors.find(askedId(session))
  }

  /** The session that works a conversation now. */
  async activeSession(conversation: ConversationId): Promise<SessionWith<Notes> | undefined> {
    return this.#store.sessions.findActive(askedId(conversation)) as Found<SessionWith<Notes>>
  }

  /** The sessions of a conversation, by epoch. */
  async sessions(conversation: ConversationId, page: Page = {}): Promise<Paged<SessionWith<Notes>>> {
    const { sessions } = this.#store
    return pageOfOne('sessions', conversation, page, (id, at) =>
      sessions.listForConversation(id, at),
    ) as Sessions<Notes>
  }

  /** Sessions across conversations, by the time they were started. */
  async listSessions(filter: SessionFilter = {}, page: Page = {}): Promise<Paged<SessionWith<Notes>>> {
    const wanted = trimmed(valid(FILTERS.session, filter, 'filter'))
    return pageOf(['sessions', wanted], page, (at) => this.#store.sessions.list(wanted, at)) as Sessions<Notes>
  }

  /** Every session that matches. */
  eachSession(filter: SessionFilter = {}, page: Page = {}): AsyncIterable<SessionWith<Notes>> {
    return everyPage((next) => this.listSessions(filter, next), page)
  }

  /** The sessions of any conversation that have not ended, newest first, with their windows, holders and signals. */
  async unfinishedSessions(page: Page = {}): Promise<UnfinishedPage> {
    return pageOf(['unfinished'], page, (at) => this.#store.sessions.listUnfinished(at))
  }

  /** The sessions that ran on a provider session. */
  async sessionsOfProvider(providerSessionId: string): Promise<readonly SessionWith<MetadataTypes>[]> {
    return this.#store.sessions.findByProviderSession(askedText(providerSessionId))
  }

  /** A handoff by its id. */
  async handoff(id: HandoffId): Promise<HandoffWith<Notes> | undefined> {
    return this.#store.handoffs.find(askedId(id)) as Found<HandoffWith<Notes>>
  }

  /** The handoff that is passing a session's conversation on now. */
  async openHandoff(source: AgentSessionId): Promise<HandoffWith<Notes> | undefined> {
    return this.#store.handoffs.findOpenFor(askedId(source)) as Found<HandoffWith<Notes>>
  }

  /** The handoffs of a conversation. */
  async handoffs(conversation: ConversationId, page: Page = {}): Promise<Paged<HandoffWith<Notes>>> {
    const { handoffs } = this.#store
    return pageOfOne('handoffs', conversation, page, (id, at) =>
      handoffs.listForConversation(id, at),
    ) as Handoffs<Notes>
  }

  /** Handoffs across conversations, by the time they were initiated. */
  async listHandoffs(filter: HandoffFilter = {}, page: Page = {}): Promise<Paged<HandoffWith<Notes>>> {
    const wanted = trimmed(valid(FILTERS.handoff, filter, 'filter'))
    return pageOf(['handoffs', wanted], page, (at) => this.#store.handoffs.list(wanted, at)) as Handoffs<Notes>
  }

  /** Every handoff that matches. */
  eachHandoff(filter: HandoffFilter = {}, page: Page = {}): AsyncIterable<HandoffWith<Notes>> {
    return everyPage((next) => this.listHandoffs(filter, next), page)
  }

  /** The open handoffs of all conversations. */
  openHandoffs(page: Page = {}): Promise<Paged<HandoffWith<Notes>>> {
    return this.listHandoffs({ isOpen: true }, page) as Promise<Paged<HandoffWith<Notes>>>
  }

  /** The open handoffs whose claim has expired, or that nobody has claimed for too long; by the store's clock. */
  overdueHandoffs(rule: OverdueRule = {}, page: Page = {}): Promise<Paged<HandoffWith<Notes>>> {
    return this.listHandoffs({ overdue: rule }, page) as Promise<Paged<HandoffWith<Notes>>>
  }

  /** The handoffs an agent may claim now. */
  async pendingFor(targetAgent: string, page: Page = {}): Promise<Paged<HandoffWith<Notes>>> {
    const agent = askedText(targetAgent).trim()
    return pageOf(['pending', agent], page, (at) => this.#store.handoffs.listPendingFor(agent, at)) as Handoffs<Notes>
  }

  /** The snapshots of a session, in the order they were taken. */
  async snapshots(session: AgentSessionId, page: Page = {}): Promise<Paged<ContextWindowSnapshot>> {
    return pageOfOne('snapshots', session, page, (id, at) => this.#store.snapshots.listForSession(id, at))
  }

  /** The newest snapshot of a session. */
  async latestSnapshot(session: AgentSessionId): Promise<ContextWindowSnapshot | undefined> {
    return this.#store.snapshots.findLatest(askedId(session))
  }

  /** The turns of a session, with their tool calls. */
  async turns(session: AgentSessionId, page: Page = {}): Promise<Paged<Turn>> {
    return pageOfOne('turns', session, page, (id, at) => this.#store.messages.listTurns(id, at))
  }

  /** The messages of a conversation, each with the handoffs it is related to. */
  async messages(conversation: ConversationId, page: Page = {}): Promise<Paged<MessageInHistory>> {
    return pageOfOne('messages', conversation, page, (id, at) => this.#store.messages.listMessages(id, at))
  }

  /** The messages of a session, each with the handoffs it is related to. */
  async messagesOf(session: AgentSessionId, page: Page = {}): Promise<Paged<MessageInHistory>> {
    return pageOfOne('messages-of', session, page, (id, at) => this.#store.messages.listSessionMessages(id, at))
  }

  /** The content of a session's window right after one of its turns, computed from the record. */
  async windowAt(turn: TurnId): Promise<WindowAtTurn | undefined> {
    return this.#store.messages.findWindowAt(askedId(turn))
  }

  /** The audit log of a conversation, entry by entry. */
  async auditTrail(conversation: ConversationId, page: Page = {}): Promise<Paged<AuditEntry>> {
    return pageOfOne('audit', conversation, page, (id, at) => this.#store.audit.list(id, at))
  }

  /** Looks back at a conversation, as a person does: all of it is searched, and nothing is put on record. */
  async lookBack(conversation: ConversationId, question: LookBackAsked): Promise<LookBackAnswer | undefined> {
    return unwrap(await answerLookBack(this.#store.lookBacks, { conversationId: askedId(conversation) }, question))
  }

  /**
   * Messages of all conversations in which all these words occur, in their text or in a tool call: newest conversation
   * first, and newest message first in each. A page without items may have a next one: so far was searched.
   */
  async search(words: string, page: Page = {}): Promise<Paged<FoundInHistory>> {
    const wanted = askedSearch(words)
    return pageOf(['search', wanted], page, (at) => searchConversations(this.#store, wanted, at))
  }

  /** The questions that sessions of a conversation asked when they looked back, and the handoffs they came from. */
  async lookBacks(conversation: ConversationId, page: Page = {}): Promise<Paged<LookBackInHistory>> {
    return pageOfOne('look-backs', conversation, page, (id, at) => this.#store.lookBacks.listForConversation(id, at))
  }

  /** How often these sessions looked back; those that never did are left out. */
  async lookBackCounts(sessions: readonly AgentSessionId[]): Promise<ReadonlyMap<AgentSessionId, number>> {
    return this.#store.lookBacks.countFor(askedIds(sessions))
  }

  /** The summaries that new threads began with, newest first. */
  async threadSummaries(filter: SummaryFilter = {}, page: Page = {}): Promise<Paged<KeptSummary>> {
    const wanted = trimmed(valid(FILTERS.summary, filter, 'filter'))
    return pageOf(['summaries', wanted], page, (at) => this.#store.threadSummaries.list(wanted, at))
  }

  /** Figures about those summaries by agent and model, over the newest 10,000 that match. */
  async threadFigures(filter: SummaryFilter = {}): Promise<readonly SummaryFigures[]> {
    return this.#store.threadSummaries.figures(trimmed(valid(FILTERS.summary, filter, 'filter')))
  }

  /** The ids of one kind that end with a text of 6 characters or more, newest first: for people, who type no whole id. */
  async idsEnding(kind: IdKind, ending: string, most = 10): Promise<readonly string[]> {
    const end = askedEnding(kind, ending, most)
    return end === undefined ? [] : this.#store.ids.ending(kind, end, most)
  }

  /** The threads that a conversation delegated and that nobody has reported yet, oldest first. */
  async delegated(conversation: ConversationId): Promise<readonly DelegatedThread[]> {
    return this.#store.conversations.listDelegated(askedId(conversation))
  }

  /** Where a conversation came from and what happened to it, through child conversations too. */
  lineage(conversation: ConversationId): Promise<Lineage | undefined> {
    return this.lineageOf({ conversationId: conversation })
  }

  /** The lineage of a conversation, named by its id or by that of any session or handoff of it. */
  async lineageOf(subject: LineageSubject): Promise<Lineage | undefined> {
    const named = askedSubject(subject)
    const record = await this.#store.conversations.lineage(named)
    return record && arrangeLineage(record, named)
  }
}
