import type { AuditVerdict } from '../../domain/audit/audit-verdict.ts'
import type { InputProblem } from '../../domain/input/check.ts'
import { id } from '../../domain/input/words.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { Sha256 } from '../../domain/kernel/digest.ts'
import type { ConversationId } from '../../domain/kernel/ids.ts'
import { err, ok, type Result } from '../../domain/kernel/result.ts'
import type { Refusal } from '../../domain/refusal.ts'
import type { Changes } from '../../ports/store/audit-log.ts'
import type { SharedId } from '../../ports/store/audited-rows.ts'
import type { Cursor, Page } from '../../ports/store/page.ts'
import type { Store } from '../../ports/store/store.ts'
import { answeredBy, mustNotBeSetBack } from '../commands/answered.ts'
import { pauseFor } from '../commands/pause-for.ts'
import { askedPage } from '../history/questions.ts'
import { verifyStream } from './audit-verification.ts'
import { everyRow } from './row-stream.ts'

/** The dependencies of the service. */
export interface AuditServiceDeps {
  readonly store: Store
  readonly sha256: Sha256
}

/** From where to follow the feed, and until when. */
export interface FollowRequest {
  /** Continues after this cursor; left out, it starts at the beginning. */
  readonly after?: Cursor
  /** Ends the feed. */
  readonly signal?: AbortSignal
  /** How long to wait when there is nothing new; a quarter of a second unless given. */
  readonly pollMs?: number
  /** How many entries to take at once. */
  readonly limit?: number
}

const POLL_MS = 250

/**
 * Proves that nobody changed the audit log, and gives its entries to consumers outside.
 *
 * @example
 * ```ts
 * const store = new MemoryStore({ clock: systemClock })
 * const audit = new AuditService({ store, sha256 })
 * const { handoffs } = await createBatonpass({ store })
 * const { conversation } = unwrap(await handoffs.openConversation({ originalTask: 'Fix the flaky test' }))
 * console.log(unwrap(await audit.verify(conversation.id)).intact) // => true
 * const { entries } = await audit.changes()
 * console.log(entries.map(({ event }) => event.type)) // => [ 'conversation.opened' ]
 * ```
 */
export class AuditService {
  readonly #store: Store
  readonly #sha256: Sha256

  constructor({ store, sha256 }: AuditServiceDeps) {
    this.#store = store
    this.#sha256 = sha256
  }

  /**
   * Reads the log of a conversation from its beginning and reports the first problem, if there is one: with the
   * chain, or else with the rows stored beside it. Other processes may write meanwhile.
   *
   * @throws StoreFailure `store.set_back` when the log is sound, and less than this process was answered
   */
  async verify(conversation: ConversationId): Promise<Result<AuditVerdict, Refusal>> {
    const problems: InputProblem[] = []
    id(conversation, 'id', problems)
    if (problems.length > 0) return err({ code: 'input.invalid', fields: problems })
    const verdict = await verifyStream(this.#store, { conversation, sha256: this.#sha256 })
    if (verdict?.intact !== false && answeredBy(this.#store).knows(conversation))
      await mustNotBeSetBack(this.#store, { about: 'conversation', conversationId: conversation })
    return verdict === undefined ? err({ code: 'conversation.not_found', conversationId: conversation }) : ok(verdict)
  }

  /** Verifies every conversation, one after the other, and that no two of them share an id. */
  async *verifyAll({ signal }: { readonly signal?: AbortSignal } = {}): AsyncGenerator<AuditVerdict, void> {
    const shared = await sharedIds(this.#store)
    for await (const conversation of everyRow((page) => this.#store.audit.listStreams(page))) {
      signal?.throwIfAborted()
      const verified = await this.verify(conversation)
      if (verified.ok) yield withShared(verified.value, shared.get(conversation))
    }
  }

  /**
   * Lists the entries of all conversations after a cursor. Empty when nothing is new; `next` is always there.
   *
   * @throws RefusedError when the page is wrong; `feed.moved`, with the cursor to continue from, when the store came from
   * another server since the cursor was given out
   */
  async changes(page: Page = {}): Promise<Changes> {
    return this.#store.audit.changes(askedPage(page))
  }

  /** The cursor after everything that the feed gives now: follow it from there for what is new. */
  endOfChanges(): Promise<Cursor> {
    return this.#store.audit.endOfChanges()
  }

  /**
   * Every change of every conversation, page by page, for as long as the caller likes. Store `next` once a page has
   * been dealt with, and continue after it next time. The signal ends it without an error.
   *
   * @throws RefusedError as `changes` does
   */
  async *follow(request: FollowRequest = {}): AsyncGenerator<Changes, void> {
    const { after, limit } = askedPage(request)
    const { signal, pollMs = POLL_MS } = request
    let reached = after
    while (signal?.aborted !== true) {
      const page = await this.changes(defined({ after: reached, limit }))
      reached = page.next
      if (page.entries.length > 0) yield page
      else await pauseFor(pollMs, signal).catch(ignoreAbort(signal))
    }
  }
}

const ignoreAbort =
  (signal: AbortSignal | undefined) =>
  (reason: unknown): void => {
    if (signal?.aborted !== true) throw reason
  }

/** The first id of each conversation that stands somewhere else too. */
const sharedIds = async (store: Store): Promise<ReadonlyMap<ConversationId, SharedId>> => {
  const shared = new Map<ConversationId, SharedId>()
  for await (const found of everyRow((page) => store.audit.listSharedIds(page))) {
    for (const conversation of found.conversations) if (!shared.has(conversation)) shared.set(conversation, found)
  }
  return shared
}

/** The verdict on a conversation, knowing of an id that it shares. What is wrong with its own log comes first. */
const withShared = (verdict: AuditVerdict, shared: SharedId | undefined): AuditVerdict => {
  if (!verdict.intact || shared === undefined) return verdict
  const { kind, id, conversations } = shared
  const where = conversations.length === 1 ? 'stands there twice' : `stands in ${conversations.join(' and ')}`
  return { ...verdict, intact: false, problem: { class: 'id_shared', detail: `The ${kind} ${id} ${where}.` } }
}
