import type { Conversation } from '../../domain/conversation/conversation.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { describeThrown } from '../../domain/kernel/describe-thrown.ts'
import { type ConversationId, conversationId } from '../../domain/kernel/ids.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import type { Metadata } from '../../domain/kernel/metadata.ts'
import { isSameKey } from '../../domain/memory-block/block-content.ts'
import { type BlockRefusal, describeBlockRefusal } from '../../domain/memory-block/block-refusal.ts'
import type { BlockEnd, HeldBlock } from '../../domain/memory-block/memory-block.ts'
import type { ThreadPlace } from '../../domain/thread/thread-draft.ts'
import { isPendingThread, isThreadOf, threadNoteOf } from '../../domain/thread/thread-note.ts'
import { everyPage } from '../../ports/store/page.ts'
import { MemoryBlocks } from './memory-blocks.ts'
import type { ThreadDeps } from './thread-deps.ts'

/** A block that waits for its thread. */
export interface WaitingBlock {
  readonly path: string
  readonly threadKey: string
  readonly expiresAt: Instant
  /** Whether its thread was opened in another store, so that nothing is known of it here. */
  readonly isOfOtherStore: boolean
}

/** The thread of a block, as far as this store knows it. */
interface KnownThread {
  readonly thread?: Conversation
  readonly isOfOtherStore: boolean
}

/** A block that could not be reset, and why. */
export interface FailedReset {
  readonly path: string
  readonly cause: string
}

/** The outcome of looking after the blocks of some places. */
export interface CleanupReport {
  /** The files whose block has its placeholder again. */
  readonly reset: readonly string[]
  readonly waiting: readonly WaitingBlock[]
  readonly failed: readonly FailedReset[]
}

/** Takes summaries out of memory files once nobody may read them any more. */
export class ThreadCleanup {
  readonly #deps: ThreadDeps
  readonly #blocks: MemoryBlocks

  constructor(deps: ThreadDeps) {
    this.#deps = deps
    this.#blocks = new MemoryBlocks(deps)
  }

  /**
   * Ends the wait of a thread, whose first exchange is over. Its note comes first: should this process be
   * lost before the file is reset, the block counts as over, and the next cleanup resets it.
   */
  async end(thread: Conversation): Promise<CleanupReport> {
    const note = threadNoteOf(thread)
    if (note === undefined || thread.externalKey === undefined) return NOTHING
    await this.#markOver(thread)
    const place = { workspace: note.handoff_workspace, file: note.handoff_memory_file }
    const { reset, failed } = await this.#resetAt(place, {
      threadKey: thread.externalKey,
      draftId: note.handoff_draft,
    })
    if (failed.length > 0) await this.#mark(thread, { handoff_left: true })
    if (reset.length > 0)
      this.#deps.logger.info({ thread: thread.id, file: reset[0] }, 'the summary of a thread was taken out of its file')
    if (reset.length + failed.length === 0)
      this.#deps.logger.debug({ thread: thread.id }, 'the summary of a thread was gone before')
    return { reset, waiting: [], failed }
  }

  /** As {@link clear}, of every folder whose memory files an agent reads that works in this one. */
  clearAround(folder: string | undefined): Promise<CleanupReport> {
    return this.clear(this.#deps.placesOf(folder))
  }

  /** The milestone at which a person is told of thread handoffs. */
  get offerAt(): string | undefined {
    return this.#deps.settings.offerAt
  }

  /** Resets the blocks in these folders that are over. With `force`, those that still wait as well. */
  async clear(folders: readonly string[], { force = false } = {}): Promise<CleanupReport> {
    const found: CleanupReport[] = []
    for (const folder of folders)
      for (const place of await this.placesIn(folder)) found.push(await this.#clearAt(place, force))
    return merged(found)
  }

  /** The places of a folder where a summary may be: the usual files, and those that threads were handed off into. */
  async placesIn(folder: string): Promise<readonly ThreadPlace[]> {
    const places = this.#blocks.placesIn(folder)
    const named = new Set(places.map(({ file }) => file))
    for (const mark of [{ handoff_pending: true }, { handoff_left: true }]) {
      const metadata = { handoff_workspace: folder, ...mark }
      for (const thread of (await this.#deps.store.conversations.list({ metadata }, { limit: MOST_THREADS })).items) {
        const file = threadNoteOf(thread)?.handoff_memory_file
        if (file !== undefined) named.add(file)
      }
    }
    return [...named].map((file) => ({ workspace: folder, file }))
  }

  /** The thread that waits for its first session in a folder, with its summary in a file that such an agent reads. */
  async waitingIn(folder: string | undefined, files: readonly string[]): Promise<Conversation | undefined> {
    const others = this.#deps.memoryFiles.filter((name) => !files.includes(name))
    const places = await Promise.all(this.#deps.placesOf(folder).map((at) => this.placesIn(at)))
    for (const place of places.flat()) {
      if (others.includes(place.file)) continue
      const block = await this.#blocks.look(place)
      if (block.state !== 'held') continue
      const { thread } = await this.threadOf(block.held)
      if (thread !== undefined && isPendingThread(thread) && !this.#isOver(block.held, thread)) return thread
    }
    return undefined
  }

  /** A summary for the thread of this key that another store waits with, in a file that an agent of this folder reads. */
  async otherStoreWaits(threadKey: string, folder: string | undefined): Promise<WaitingBlock | undefined> {
    for (const place of this.#deps.placesOf(folder).flatMap((at) => this.#blocks.placesIn(at))) {
      const block = await this.#blocks.look(place)
      if (block.state !== 'held' || !isSameKey(block.held.threadKey, threadKey)) continue
      const { thread, isOfOtherStore } = await this.threadOf(block.held)
      if (!isOfOtherStore || this.#isOver(block.held, thread)) continue
      return { path: pathOf(place), threadKey, expiresAt: block.held.expiresAt, isOfOtherStore }
    }
    return undefined
  }

  /**
   * The thread that a summary is for. A summary of a conversation that is not on record here is another store's: a
   * conversation of the same key is not its thread then.
   */
  async threadOf(held: HeldBlock): Promise<KnownThread> {
    const { conversations } = this.#deps.store
    const thread = await conversations.findByExternalKey(held.threadKey)
    const source = idIn(held.sourceThreadId)
    const isOurs =
      (thread !== undefined && isThreadOf(held, thread)) ||
      (source !== undefined && (await conversations.find(source)) !== undefined)
    return isOurs ? defined({ thread, isOfOtherStore: false }) : { isOfOtherStore: true }
  }

  /** Ends the wait of every thread whose time is over, wherever its file is. */
  async sweep(): Promise<CleanupReport> {
    const found: CleanupReport[] = []
    const pending = { metadata: { handoff_pending: true } }
    const threads: Conversation[] = []
    for await (const thread of everyPage((page) => this.#deps.store.conversations.list(pending, page)))
      threads.push(thread)
    for (const thread of threads) {
      const note = threadNoteOf(thread)
      if (note !== undefined && note.handoff_expires_at <= this.#deps.clock.now()) found.push(await this.end(thread))
    }
    return merged(found)
  }

  /** A note that cannot be kept does not keep the summary in its file. */
  async #markOver(thread: Conversation): Promise<void> {
    if (isPendingThread(thread)) await this.#mark(thread, { handoff_pending: false })
  }

  async #mark(thread: Conversation, marks: Metadata): Promise<void> {
    try {
      // The caller may have put marks of its own on it since.
      const now = (await this.#deps.store.conversations.find(thread.id)) ?? thread
      const metadata = { ...now.metadata, ...marks }
      const marked = await this.#deps.handoffs.setConversationMetadata({ conversation: thread.id, metadata })
      if (!marked.ok) this.#deps.logger.warn({ thread: thread.id, refusal: marked.error.code }, NOT_MARKED)
    } catch (error) {
      this.#deps.logger.warn({ thread: thread.id, problem: describeThrown(error) }, NOT_MARKED)
    }
  }

  async #clearAt(place: ThreadPlace, force: boolean): Promise<CleanupReport> {
    const block = await this.#blocks.look(place)
    const path = pathOf(place)
    if (block.state === 'broken') return { ...NOTHING, failed: [{ path, cause: block.problem }] }
    if (block.state !== 'held') return NOTHING
    const { threadKey, draftId, expiresAt } = block.held
    const { thread, isOfOtherStore } = await this.threadOf(block.held)
    if (!force && !this.#isOver(block.held, thread))
      return { ...NOTHING, waiting: [{ path, threadKey, expiresAt, isOfOtherStore }] }
    if (thread !== undefined) await this.#markOver(thread)
    const { reset, failed } = await this.#resetAt(place, defined({ threadKey, draftId }))
    if (thread?.metadata !== undefined && 'handoff_left' in thread.metadata && failed.length === 0)
      await this.#mark(thread, { handoff_left: false })
    return { ...NOTHING, reset, failed }
  }

  /** A block whose thread is not on record yet may be of one that is being opened now: it ends by its time. */
  #isOver({ expiresAt }: HeldBlock, thread: Conversation | undefined): boolean {
    return expiresAt <= this.#deps.clock.now() || (thread !== undefined && !isPendingThread(thread))
  }

  async #resetAt(place: ThreadPlace, end: BlockEnd): Promise<Pick<CleanupReport, 'reset' | 'failed'>> {
    const path = pathOf(place)
    const cause = await this.#reset(place, end)
    if (cause === undefined) return { reset: [path], failed: [] }
    if (cause === 'nothing') return { reset: [], failed: [] }
    this.#deps.logger.warn({ file: path, cause }, 'a summary is still in its file: it could not be taken out')
    return { reset: [], failed: [{ path, cause }] }
  }

  /** The reason why a block could not be reset; `nothing` where there was nothing to reset. */
  async #reset(place: ThreadPlace, end: BlockEnd): Promise<string | undefined> {
    try {
      const done = await this.#blocks.reset(place, end)
      if (!done.ok) return describeBlockRefusal(done.error satisfies BlockRefusal)
      return done.value ? undefined : 'nothing'
    } catch (error) {
      return describeThrown(error)
    }
  }
}

/** As many threads of a folder are looked at. */
const MOST_THREADS = 100

/** The id in a text that anybody may have written; absent where it is none. */
const idIn = (text: string): ConversationId | undefined => {
  try {
    return conversationId(text)
  } catch {
    return undefined
  }
}

const NOT_MARKED = 'a thread could not be marked as begun'

const NOTHING: CleanupReport = { reset: [], waiting: [], failed: [] }

/** A place as people name it. */
export const pathOf = ({ workspace, file }: ThreadPlace): string => `${workspace.replace(/[\\/]$/, '')}/${file}`

const merged = (reports: readonly CleanupReport[]): CleanupReport => ({
  reset: reports.flatMap(({ reset }) => reset),
  waiting: reports.flatMap(({ waiting }) => waiting),
  failed: reports.flatMap(({ failed }) => failed),
})
