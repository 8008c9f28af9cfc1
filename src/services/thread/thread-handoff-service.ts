import { type Conversation, taskOf } from '../../domain/conversation/conversation.ts'
import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { describeThrown } from '../../domain/kernel/describe-thrown.ts'
import type { ConversationId } from '../../domain/kernel/ids.ts'
import { err, ok, type Result } from '../../domain/kernel/result.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { editedSummary } from '../../domain/summary/summary-budget.ts'
import { SUMMARY_TOKENS } from '../../domain/summary/thread-summary.ts'
import {
  edited,
  mayRefine,
  refined,
  type ThreadDraft,
  type ThreadPlace,
  threadKeyOf,
} from '../../domain/thread/thread-draft.ts'
import { isPendingThread } from '../../domain/thread/thread-note.ts'
import type { ThreadRefusal } from '../../domain/thread/thread-refusal.ts'
import type { Reply } from '../commands/answers.ts'
import { derivedCommand } from '../commands/derived-command.ts'
import { acceptThread } from './accept-thread.ts'
import { MemoryBlocks } from './memory-blocks.ts'
import { spokenSession, summarize } from './summarize-conversation.ts'
import { type CleanupReport, pathOf, ThreadCleanup } from './thread-cleanup.ts'
import type { ThreadDeps } from './thread-deps.ts'
import { targetFor, warningsOn } from './thread-place.ts'
import type { AcceptOptions, BlockStatus, PreviewRequest, ThreadAccepted } from './thread-requests.ts'

/**
 * Opens new threads that feel like a continuation: a short summary, approved by a person, is in the memory file of the
 * thread's agent for its first exchange, and gone after it. The history of the parent is never copied.
 *
 * @example
 * ```ts
 * await using batonpass = await createBatonpass({ store: 'memory' })
 * const { handoffs, threads } = batonpass
 * const workspace = { workingDirectory: process.cwd() }
 * const { conversation } = unwrap(await handoffs.openConversation({ originalTask: 'Fix the flaky test', workspace }))
 * const agent = { agentName: 'claude-code', backend: 'claude_agent_sdk' }
 * const working = unwrap(await handoffs.startSession({ conversationId: conversation.id, ...agent }))
 * const messages = [{ role: 'assistant' as const, text: 'It fails one time in ten.' }]
 * unwrap(await handoffs.recordTurn({ ...working, messages }))
 *
 * const draft = await threads.preview({ conversation: conversation.id })
 * if (!draft.ok) throw new Error(describeThreadRefusal(draft.error))
 * console.log(draft.value.target.file, draft.value.summary.text.includes('one time in ten')) // => CLAUDE.md true
 * // Once a person has approved it: await threads.accept(draft.value, { key: 'flaky-2' })
 * ```
 */
export class ThreadHandoffService {
  readonly #deps: ThreadDeps
  readonly #blocks: MemoryBlocks
  readonly #cleanup: ThreadCleanup

  constructor(deps: ThreadDeps) {
    this.#deps = deps
    this.#blocks = new MemoryBlocks(deps)
    this.#cleanup = new ThreadCleanup(deps)
  }

  /** Summarises a conversation for a thread. Nothing is written. */
  async preview(request: PreviewRequest): Promise<Result<ThreadDraft, ThreadRefusal>> {
    const { store, clock, ids, settings } = this.#deps
    const conversation = await store.conversations.find(request.conversation)
    if (conversation === undefined) return err({ code: 'conversation.not_found', conversationId: request.conversation })
    const source = await spokenSession(this.#deps, conversation)
    if (!source.ok) return source
    const { id: sessionId, agentName, backend } = source.value
    const target = await targetFor(this.#blocks, conversation, {
      ...request,
      usual: this.#deps.memoryFilesOf(backend),
      settings,
    })
    if (!target.ok) return target
    const budgetTokens = request.budgetTokens ?? settings.budgetTokens ?? SUMMARY_TOKENS.usual
    const summary = await summarize(this.#deps, conversation, { ...request, budgetTokens })
    if (!summary.ok) return summary
    const draft: ThreadDraft = {
      id: ids.next(),
      createdAt: clock.now(),
      source: { conversationId: conversation.id, sessionId, agentName, backend, task: taskOf(conversation) },
      summary: summary.value,
      budgetTokens,
      refinements: 0,
      isEdited: request.summary !== undefined,
      target: target.value,
      warnings: await warningsOn(this.#blocks, target.value, clock.now()),
    }
    return request.summary === undefined ? ok(draft) : edited(draft, draft.summary)
  }

  /** Asks for the summary again, with what the person wants changed in it. Three times at most. */
  async refine(
    draft: ThreadDraft,
    feedback: string,
    more: Pick<PreviewRequest, 'summarizer' | 'signal'> = {},
  ): Promise<Result<ThreadDraft, ThreadRefusal>> {
    const may = mayRefine(draft)
    if (!may.ok) return may
    const { conversationId } = draft.source
    const conversation = await this.#deps.store.conversations.find(conversationId)
    if (conversation === undefined) return err({ code: 'conversation.not_found', conversationId })
    const refine = { earlier: draft.summary, feedback }
    const summary = await summarize(this.#deps, conversation, { ...more, budgetTokens: draft.budgetTokens, refine })
    return summary.ok ? ok(refined(draft, summary.value)) : summary
  }

  /** Chooses another memory file for the summary, such as one that git leaves alone. */
  async place(draft: ThreadDraft, file: string): Promise<ThreadDraft> {
    const { workspace } = draft.target
    const target = { workspace, file, isTracked: await this.#blocks.file({ workspace, file }).isTracked() }
    return { ...draft, target, warnings: await warningsOn(this.#blocks, target, this.#deps.clock.now()) }
  }

  /** Puts the person's own text in the place of the summary, as it is, however long. */
  edit(draft: ThreadDraft, text: string): Result<ThreadDraft, Refusal> {
    return edited(draft, editedSummary(this.#deps.redact(text)))
  }

  /**
   * Opens the thread: the summary goes into the memory file, then the child conversation and its `thread` handoff are
   * stored in one commit, then the summary is mirrored. A failure undoes what was done before it and is the one that is
   * reported; only the mirror may fail, with a warning. The same draft again opens nothing twice.
   *
   * @throws StoreFailure, MemoryFileFailure
   */
  async accept(draft: ThreadDraft, options: AcceptOptions = {}): Promise<Result<ThreadAccepted, ThreadRefusal>> {
    const accepted = await acceptThread(this.#deps, this.#blocks, { draft, options })
    if (!accepted.ok) {
      this.#deps.logger.debug({ draft: draft.id, refusal: accepted.error.code }, 'a thread was not opened')
      return accepted
    }
    const { handoff, conversation, path, expiresAt } = accepted.value
    const warnings = await keepInMirror(this.#deps, draft, handoff)
    this.#deps.logger.info(
      { handoffId: handoff.id, thread: conversation.id, file: path, expiresAt },
      'a thread was opened with a summary',
    )
    return ok({ ...accepted.value, warnings })
  }

  /**
   * Opens a fresh thread without a summary: a conversation with its parent and nothing else. Nothing was handed over, so
   * there is no handoff on record, no session and no block.
   */
  async reject(draft: ThreadDraft, options: AcceptOptions = {}): Reply<{ readonly conversation: Conversation }> {
    const { conversationId, task } = draft.source
    return this.without(conversationId, { task, key: threadKeyOf(draft), ...options, id: draft.id })
  }

  /** As {@link reject}, where no draft could be made. */
  async without(
    parentId: ConversationId,
    { key, task, child, id }: AcceptOptions & { readonly id?: string } = {},
  ): Reply<{ readonly conversation: Conversation }> {
    const parent = await this.#deps.store.conversations.find(parentId)
    if (parent === undefined) return err({ code: 'conversation.not_found', conversationId: parentId })
    const { subject, workspace } = { ...parent, ...child }
    const commandId = derivedCommand(this.#deps.sha256, id ?? this.#deps.ids.next(), 'without')
    const opened = await this.#deps.handoffs.openConversation(
      defined({
        ...{ originalTask: task ?? taskOf(parent), externalKey: key, parentId, subject, workspace, commandId },
        metadata: { ...child?.metadata, handoff_source_thread_id: parentId },
      }),
    )
    if (opened.ok)
      this.#deps.logger.debug({ thread: opened.value.conversation.id }, 'a thread was opened without a summary')
    return opened
  }

  /** Inserts an empty block into a memory file, where there is none: for the day on which an agent is set up. */
  async setUp({
    workspace,
    file = this.#deps.settings.file ?? this.#deps.memoryFiles[0] ?? 'AGENTS.md',
  }: Pick<ThreadPlace, 'workspace'> & Partial<ThreadPlace>): Promise<
    Result<{ readonly path: string; readonly isWritten: boolean }, ThreadRefusal>
  > {
    const inserted = await this.#blocks.insert({ workspace, file })
    return inserted.ok ? ok({ path: pathOf({ workspace, file }), isWritten: inserted.value }) : inserted
  }

  /** The blocks in the memory files of a workspace. Changes nothing. */
  async status(workspace: string): Promise<readonly BlockStatus[]> {
    const found: BlockStatus[] = []
    const places = await Promise.all(this.#deps.placesOf(workspace).map((folder) => this.#cleanup.placesIn(folder)))
    for (const place of places.flat()) {
      const block = await this.#blocks.look(place)
      const path = pathOf(place)
      if (block.state === 'absent') continue
      if (block.state === 'broken') found.push({ path, state: 'broken', problem: block.problem })
      else if (block.state !== 'held') found.push({ path, state: block.state })
      else {
        const { threadKey, sourceThreadId, expiresAt } = block.held
        const { thread, isOfOtherStore } = await this.#cleanup.threadOf(block.held)
        // One whose thread is not on record yet is being opened, or ends by its time.
        const isLive = expiresAt > this.#deps.clock.now()
        const isPending = isLive && (thread === undefined || isPendingThread(thread))
        found.push({ path, state: 'held', threadKey, sourceThreadId, expiresAt, isPending, isOfOtherStore })
      }
    }
    return found
  }

  /**
   * Takes summaries out of memory files: that of one thread, or those of a workspace that are over; with `force` those
   * that still wait as well. Doing it twice changes nothing.
   */
  async cleanup(
    request: { readonly thread: Conversation } | { readonly workspace: string; readonly force?: boolean },
  ): Promise<CleanupReport> {
    if ('thread' in request) return this.#cleanup.end(request.thread)
    return this.#cleanup.clear(this.#deps.placesOf(request.workspace), { force: request.force ?? false })
  }
}

/** Mirrors an accepted summary, for later questions. The record is whole without it, so this may fail. @returns warnings */
const keepInMirror = async (
  { mirror, logger, redact }: ThreadDeps,
  { source, summary, refinements, isEdited }: ThreadDraft,
  handoff: HandoffMetadata,
): Promise<readonly string[]> => {
  if (handoff.status !== 'completed' || handoff.targetConversationId === undefined) return []
  try {
    const { text, plainText, tokens, modelUsed } = summary
    await mirror?.keep({
      handoffId: handoff.id,
      sourceThreadId: source.conversationId,
      targetThreadId: handoff.targetConversationId,
      agentName: source.agentName,
      summary: text,
      ...{ plainText, tokens, modelUsed, refinements, isEdited },
      timestamp: handoff.initiatedAt,
    })
    return []
  } catch (error) {
    const cause = redact(describeThrown(error))
    logger.warn({ handoffId: handoff.id, cause }, 'a summary was not mirrored; the thread is open all the same')
    return [`The thread is open, but its summary is missing from "baton thread history" (${cause}).`]
  }
}
