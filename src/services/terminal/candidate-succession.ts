import { LEFT_FOR_NEXT, takenDocument } from '../../domain/handoff/document-notice.ts'
import type { HandoffCompleted } from '../../domain/handoff/settle-handoff.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { ConversationId } from '../../domain/kernel/ids.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import { decidePassing, decideSuccession } from '../../domain/terminal/candidate.ts'
import type { Candidate } from '../../ports/terminal/pending-files.ts'
import type { PendingDocument } from '../../ports/terminal/wire.ts'
import { heldOrTaken } from '../commands/answers.ts'
import { derivedCommand } from '../commands/derived-command.ts'
import type { Candidates } from './candidates.ts'
import type { FollowedSession } from './followed-session.ts'
import type { PendingDocuments, StoredDocument } from './pending-documents.ts'
import { isTask, notePrompts } from './seen-prompts.ts'
import type { TerminalDeps } from './terminal-deps.ts'
import type { TerminalSessions } from './terminal-sessions.ts'
import type { TurnImport } from './turn-import.ts'

/** The parts that a succession is made of. */
export interface SuccessionParts {
  readonly sessions: TerminalSessions
  readonly documents: PendingDocuments
  readonly candidates: Candidates
  readonly turns: TurnImport
  /** Does something about a session while nothing else happens to it. */
  readonly inTurn: <T>(providerSessionId: string, work: () => Promise<T>) => Promise<T>
}

const TAKEN_UP =
  'The document that this session began with was taken up by another session, replaced or withdrawn: this one is a conversation of its own.'

const THREAD_GONE =
  'The summary in the memory file was for a thread that another session has taken up, or its time was over: this one is a conversation of its own.'

/**
 * Makes a session of a candidate, with its first turn: the next one in the conversation that left the document, the first of
 * a thread, a branch, or a conversation of its own. The domain decides which (`decideSuccession`). Every step has a name of
 * its own, so that a service that was interrupted finishes it, once.
 */
export class CandidateSuccession {
  readonly #deps: TerminalDeps
  readonly #parts: SuccessionParts

  constructor(deps: TerminalDeps, parts: SuccessionParts) {
    this.#deps = deps
    this.#parts = parts
  }

  /** Makes a session of a candidate. Undefined where it can be none; the next event tries again. */
  async settle(candidate: Candidate): Promise<FollowedSession | undefined> {
    const at = (await this.#joined(candidate)) ?? (await this.#alone(candidate, aloneNotice(candidate)))
    if (at === undefined) return undefined
    notePrompts(
      this.#deps,
      at,
      candidate.prompts.map(({ commandId, prompt }) => ({ by: commandId, text: prompt })),
    )
    await this.#parts.sessions.keep(at)
    for (const { commandId, prompt } of candidate.prompts.filter((typed) => isTask(typed.prompt))) {
      const named = derivedCommand(this.#deps.sha256, commandId, 'prompt')
      await this.#deps.handoffs.askConversation({ conversation: at.session.conversationId, prompt, commandId: named })
    }
    await this.#parts.candidates.forget(candidate)
    return at
  }

  /** The session of the work that the candidate began with. Undefined where somebody else has that by now. */
  #joined(candidate: Candidate): Promise<FollowedSession | undefined> {
    if (candidate.isFork === true) return this.#beginFork(candidate)
    if (candidate.thread === undefined) return this.#asSuccessor(candidate)
    return this.#parts.documents.inWorkspace(candidate.workspace, () => this.#beginThread(candidate))
  }

  /**
   * Makes a terminal the first session of the thread whose summary it began with. The session waits on record since the
   * thread was opened: it is taken over and gets the name of the terminal. Undefined where somebody else has it.
   */
  async #beginThread(candidate: Candidate): Promise<FollowedSession | undefined> {
    const { store, handoffs, context } = this.#deps
    const { runtime, providerSessionId, cwd, transcriptPath, thread } = candidate
    const conversation = thread && (await store.conversations.find(thread))
    const baton = thread && (await store.sessions.findBaton(thread))
    const onRecord = conversation && baton && { conversation, baton }
    const decided = decideSuccession(candidate, defined({ thread: onRecord }))
    if (decided.type !== 'thread') return undefined
    const { session: first, isAgain } = decided
    const how = isAgain ? {} : { ifAbandoned: true as const }
    const taken = await handoffs.takeOverSession({ session: first.id, ...how })
    const named = taken.ok ? await handoffs.attachSession({ ...taken.value, providerSessionId }) : taken
    // A person works the session: nobody would carry out a restart that a turn begins by itself.
    const settings = { policy: 'advise' as const }
    const watched = named.ok ? await context.watch({ session: first.id, settings }) : named
    if (!taken.ok || !named.ok || !watched.ok) return undefined
    const session = (await store.sessions.find(first.id)) ?? named.value.session
    const { holder } = taken.value
    const { sessions } = this.#parts
    const at = await sessions.takeUp({ runtime, providerSessionId, session, holder, monitor: watched.value.monitor })
    at.keep(defined({ cwd, transcriptPath, hasSummary: true }))
    await sessions.keep(at)
    return at
  }

  /**
   * Makes a forked session a branch of the conversation that its source is in. The part of its transcript that is a copy is
   * on record there, and is not recorded again. Undefined where nobody knows its source.
   */
  async #beginFork(candidate: Candidate): Promise<FollowedSession | undefined> {
    const { runtime, providerSessionId, model, cwd, transcriptPath } = candidate
    const { sessions, turns } = this.#parts
    if (transcriptPath === undefined) return undefined
    for (const { source, copied } of await this.#deps.transcripts.forkOf(runtime, transcriptPath)) {
      if ((await sessions.find(source)) === undefined) continue
      const branchOf = await this.#conversationOf(source)
      const registered = await sessions.register(defined({ runtime, providerSessionId, model, cwd, branchOf }))
      if (!registered.ok) return undefined
      const at = registered.value
      const counted = await turns.countIn({ runtime, transcriptPath }, copied)
      const before = {
        turns: Math.max(counted.turns, at.tracking.turns),
        boundaries: Math.max(counted.boundaries, at.tracking.boundaries),
      }
      at.keep(defined({ ...before, transcriptPath, cwd }))
      await sessions.keep(at)
      return at
    }
    return undefined
  }

  /** The conversation of a session that was copied, once everything it has done is on record. */
  #conversationOf(source: string): Promise<ConversationId | undefined> {
    const { sessions, turns, inTurn } = this.#parts
    return inTurn(source, async () => {
      const at = await sessions.find(source)
      if (at !== undefined) await turns.take(at, { isAtRest: true })
      if (at !== undefined) await sessions.keep(at)
      return at?.session.conversationId
    })
  }

  async #asSuccessor(candidate: Candidate): Promise<FollowedSession | undefined> {
    const source = (await this.#documentFor(candidate))?.document.providerSessionId ?? candidate.providerSessionId
    const work = (): Promise<FollowedSession | undefined> => this.#takeUp(candidate)
    // The session that wrote it may be the same one, cleared: its turn has come already.
    return source === candidate.providerSessionId ? work() : this.#parts.inTurn(source, work)
  }

  #documentFor({ pendingId, workspace }: Candidate): Promise<StoredDocument | undefined> {
    return this.#parts.documents.find({ id: pendingId, workspace })
  }

  /** Takes the document, for the first of all candidates that comes here, and passes the conversation on. */
  async #takeUp(candidate: Candidate): Promise<FollowedSession | undefined> {
    const { documents } = this.#parts
    const taken = await documents.inWorkspace(candidate.workspace, async () => {
      const document = await this.#documentFor(candidate)
      const decided = decideSuccession(candidate, defined({ document }))
      if (document === undefined || decided.type !== 'document') return undefined
      const changed = await documents.change(document, { type: 'take', by: candidate.providerSessionId })
      return changed.ok ? changed.value : undefined
    })
    if (taken === undefined) return undefined
    const at = await this.#passOn(taken, candidate)
    await documents.change(taken, { type: 'forget', by: candidate.providerSessionId })
    return at
  }

  async #passOn(taken: StoredDocument, candidate: Candidate): Promise<FollowedSession | undefined> {
    const { document } = taken
    const { sessions, turns, documents } = this.#parts
    const source = await sessions.find(document.providerSessionId)
    const isSame = document.providerSessionId === candidate.providerSessionId
    if (source !== undefined && !isSame) await turns.take(source, { isAtRest: true })
    const passed = await this.#handOff(document, candidate, source)
    if (typeof passed === 'string') {
      this.#deps.logger.warn({ sessionId: document.sessionId, refusal: passed }, 'a pending document was not taken up')
      if (source !== undefined) await documents.release(source, taken)
      if (source !== undefined) await sessions.keep(source)
      return this.#alone(candidate, refusedNotice(passed, document.path), document.path)
    }
    const restarts = (source?.tracking.restarts ?? 0) + 1
    const { transcriptPath, cwd, runtime, providerSessionId } = candidate
    const at = await sessions.takeUp({ runtime, providerSessionId, ...passed })
    at.keep({ restarts, lastHandoffPath: document.path, transcriptPath, cwd, pending: undefined, hasEnded: undefined })
    await sessions.keep(at)
    if (source === undefined || isSame) return at
    const notice = source.tracking.hasEnded === true ? undefined : takenDocument(providerSessionId)
    source.keep({ pending: undefined, hasEnded: undefined, notice })
    await sessions.keep(source)
    return at
  }

  /** The handoff from beginning to end, or the code of the refusal. */
  async #handOff(
    left: PendingDocument,
    { runtime, model, providerSessionId }: Candidate,
    source: FollowedSession | undefined,
  ): Promise<Pick<HandoffCompleted, 'session' | 'holder' | 'monitor'> | string> {
    const { handoffs, sha256 } = this.#deps
    const { id, sessionId, document, reason, text, workspace } = left
    const named = (step: string) => ({ commandId: derivedCommand(sha256, id, step) })
    const { agentName: targetAgent, backend } = this.#deps.agents.named(runtime)
    const passing = decidePassing(left, source?.tracking, targetAgent)
    if (!passing.ok) return passing.error
    const metadata = { ...LEFT_FOR_NEXT, workspace, left_by: left.providerSessionId, taken_by: providerSessionId }
    const about = { session: sessionId, ...passing.value, targetAgent, reason, document, metadata }
    const begun = await handoffs.initiateHandoff(defined({ ...about, ...named('initiate') }))
    if (!begun.ok) return begun.error.code
    const { handoff } = begun.value
    const wanted = { handoff: handoff.id, providerSessionId, backend, model, continuation: text, ...named('complete') }
    const completed = await handoffs.completeHandoff(defined(wanted))
    const held = completed.ok ? await heldOrTaken(handoffs, completed.value) : completed
    if (completed.ok) return held.ok ? { ...completed.value, ...held.value } : held.error.code
    await handoffs.failHandoff({ handoff: handoff.id, reason: 'Its successor could not start.', ...named('fail') })
    return completed.error.code
  }

  async #alone(
    candidate: Candidate,
    notice: string | undefined,
    lastHandoffPath?: string,
  ): Promise<FollowedSession | undefined> {
    const { runtime, providerSessionId, model, cwd, transcriptPath, branchOf } = candidate
    const { sessions } = this.#parts
    const registered = await sessions.register(defined({ runtime, providerSessionId, model, cwd, branchOf }))
    if (!registered.ok) {
      this.#deps.logger.warn({ refusal: registered.error.code }, 'a terminal session was not registered')
      return undefined
    }
    const at = registered.value
    // One that was interrupted after its handoff is found again here, and nothing is to be said of it.
    const firstNotice = isSuccessor(at.session) ? undefined : notice
    at.keep(defined({ notice: firstNotice, lastHandoffPath, transcriptPath, cwd }))
    await sessions.keep(at)
    return at
  }
}

const aloneNotice = ({ thread, isFork }: Candidate): string | undefined =>
  isFork === true ? undefined : thread === undefined ? TAKEN_UP : THREAD_GONE

const isSuccessor = ({ initiatedByHandoff }: AgentSession): boolean => initiatedByHandoff !== undefined

const refusedNotice = (code: string, path: string): string =>
  `The document of the earlier session came with this one, but not its conversation (${code}): this is a conversation of its own. The document is in ${path}.`
