import { LEFT_FOR_NEXT, takenDocument } from '../../domain/handoff/document-notice.ts'
import type { HandoffCompleted } from '../../domain/handoff/settle-handoff.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import type { Candidate, TakenDocument } from '../../ports/terminal/pending-files.ts'
import { derivedCommand } from '../commands/derived-command.ts'
import { heldOrTaken } from '../commands/held-or-taken.ts'
import { beginFork } from './begin-fork.ts'
import { beginThread } from './begin-thread.ts'
import type { Candidates } from './candidates.ts'
import type { FollowedSession } from './followed-session.ts'
import type { PendingDocuments } from './pending-documents.ts'
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
 * Decides whose session a candidate is, with its first turn: the next one in the conversation that left the document, or a
 * conversation of its own. Every step has a name of its own, so that whoever is interrupted finishes it, once.
 */
export class Succession {
  readonly #deps: TerminalDeps
  readonly #parts: SuccessionParts

  constructor(deps: TerminalDeps, parts: SuccessionParts) {
    this.#deps = deps
    this.#parts = parts
  }

  /** Makes a session of a candidate. Undefined where it can be none; the next event tries again. */
  async settle(candidate: Candidate): Promise<FollowedSession | undefined> {
    const at = (await this.#taken(candidate)) ?? (await this.#alone(candidate, aloneNotice(candidate)))
    if (at === undefined) return undefined
    notePrompts(
      this.#deps,
      at,
      candidate.prompts.map(({ commandId, prompt }) => ({ by: commandId, text: prompt })),
    )
    await this.#parts.sessions.keep(at)
    for (const { commandId, prompt } of candidate.prompts.filter((asked) => isTask(asked.prompt))) {
      const named = derivedCommand(this.#deps.sha256, commandId, 'prompt')
      await this.#deps.handoffs.askConversation({ conversation: at.session.conversationId, prompt, commandId: named })
    }
    await this.#parts.candidates.forget(candidate)
    return at
  }

  /** A session that ended before its first turn leaves the thread to another one. */
  #taken(candidate: Candidate): Promise<FollowedSession | undefined> {
    const { thread, hasEnded, workspace, isFork } = candidate
    if (isFork === true) return beginFork(this.#deps, this.#parts, candidate)
    if (thread === undefined) return this.#asSuccessor(candidate)
    if (hasEnded) return Promise.resolve(undefined)
    return this.#parts.documents.inWorkspace(workspace, () =>
      beginThread(this.#deps, this.#parts.sessions, { ...candidate, thread }),
    )
  }

  async #asSuccessor(candidate: Candidate): Promise<FollowedSession | undefined> {
    const source = (await this.#sourceOf(candidate)) ?? candidate.providerSessionId
    const work = (): Promise<FollowedSession | undefined> => this.#takeUp(candidate)
    // The session that wrote it may be the same one, cleared: its turn has come already.
    return source === candidate.providerSessionId ? work() : this.#parts.inTurn(source, work)
  }

  async #sourceOf({ workspace, pendingId, providerSessionId }: Candidate): Promise<string | undefined> {
    const waiting = await this.#deps.pending.readPending(workspace)
    if (waiting?.id === pendingId) return waiting.providerSessionId
    return (await this.#takenBy(pendingId, providerSessionId))?.pending.providerSessionId
  }

  async #takenBy(id: string, by: string): Promise<TakenDocument | undefined> {
    return (await this.#deps.pending.listTaken()).find((taken) => taken.pending.id === id && taken.by === by)
  }

  /** Takes the document, for the first of all candidates that comes here, and passes the conversation on. */
  async #takeUp({
    pendingId,
    workspace,
    providerSessionId,
    ...candidate
  }: Candidate): Promise<FollowedSession | undefined> {
    const { pending: files } = this.#deps
    const mine = await this.#parts.documents.inWorkspace(workspace, async () => {
      const waiting = await files.readPending(workspace)
      if (waiting?.id === pendingId) await files.takePending(waiting, providerSessionId)
      return this.#takenBy(pendingId, providerSessionId)
    })
    if (mine === undefined) return undefined
    const at = await this.#passOn(mine, { pendingId, workspace, providerSessionId, ...candidate })
    await files.forgetTaken(mine)
    return at
  }

  async #passOn(mine: TakenDocument, candidate: Candidate): Promise<FollowedSession | undefined> {
    const { pending } = mine
    const { sessions, turns, documents } = this.#parts
    const source = await sessions.find(pending.providerSessionId)
    const isSame = pending.providerSessionId === candidate.providerSessionId
    if (source !== undefined && !isSame) await turns.take(source, { isAtRest: true })
    const passed = source === undefined ? 'session.not_found' : await this.#handOff(mine, candidate, source)
    if (typeof passed === 'string') {
      this.#deps.logger.warn({ sessionId: pending.sessionId, refusal: passed }, 'a pending document was not taken up')
      if (source !== undefined) await documents.release(source, pending)
      if (source !== undefined) await sessions.keep(source)
      return this.#alone(candidate, refusedNotice(passed, pending.path), pending.path)
    }
    const restarts = (source?.kept.restarts ?? 0) + 1
    const { transcriptPath, cwd, runtime, providerSessionId } = candidate
    const at = await sessions.takeUp({ runtime, providerSessionId, ...passed })
    at.keep({ restarts, lastHandoffPath: pending.path, transcriptPath, cwd, pending: undefined, hasEnded: undefined })
    await sessions.keep(at)
    if (source === undefined || isSame) return at
    const notice = source.kept.hasEnded === true ? undefined : takenDocument(providerSessionId)
    source.keep({ pending: undefined, hasEnded: undefined, notice })
    await sessions.keep(source)
    return at
  }

  /** The handoff from beginning to end, or the code of the refusal. */
  async #handOff(
    { pending }: TakenDocument,
    { runtime, model, providerSessionId }: Candidate,
    source: FollowedSession,
  ): Promise<Pick<HandoffCompleted, 'session' | 'holder' | 'monitor'> | string> {
    const { handoffs, sha256 } = this.#deps
    const { id, sessionId, document, reason, text, workspace } = pending
    const named = (step: string) => ({ commandId: derivedCommand(sha256, id, step) })
    const { agentName: targetAgent, backend } = this.#deps.agents.named(runtime)
    const kind = targetAgent === pending.agentName ? ('context_restart' as const) : ('agent_transfer' as const)
    const { holder } = source.kept
    // Another process works the source by now: its conversation is not ours to pass on.
    if (holder === undefined) return 'session.superseded'
    const metadata = { ...LEFT_FOR_NEXT, workspace, left_by: pending.providerSessionId, taken_by: providerSessionId }
    const asked = { session: sessionId, holder, kind, targetAgent, reason, document, metadata, ...named('initiate') }
    const begun = await handoffs.initiateHandoff(defined(asked))
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
    const said = isSuccessor(at.session) ? undefined : notice
    at.keep(defined({ notice: said, lastHandoffPath, transcriptPath, cwd }))
    await sessions.keep(at)
    return at
  }
}

const aloneNotice = ({ thread, isFork }: Candidate): string | undefined =>
  isFork === true ? undefined : thread === undefined ? TAKEN_UP : THREAD_GONE

const isSuccessor = ({ initiatedByHandoff }: AgentSession): boolean => initiatedByHandoff !== undefined

const refusedNotice = (code: string, path: string): string =>
  `The document of the earlier session came with this one, but not its conversation (${code}): this is a conversation of its own. The document is in ${path}.`
