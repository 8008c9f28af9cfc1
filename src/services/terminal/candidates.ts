import { defined } from '../../domain/kernel/defined.ts'
import type { ConversationId } from '../../domain/kernel/ids.ts'
import { candidacyOf, isGiven, withTypedPrompt } from '../../domain/terminal/candidate.ts'
import type { Candidate } from '../../ports/terminal/pending-files.ts'
import type { PendingDocument } from '../../ports/terminal/wire.ts'
import type { TerminalHookEvent } from './hook-event.ts'
import type { PendingDocuments } from './pending-documents.ts'
import type { TerminalDeps } from './terminal-deps.ts'
import type { TerminalSessions } from './terminal-sessions.ts'

/** The sessions that began with a pending document, the summary of a thread or as a fork, until the first turn of one of them says whose it is. */
export class Candidates {
  readonly #deps: TerminalDeps
  readonly #sessions: TerminalSessions
  readonly #documents: PendingDocuments
  #all: Promise<Map<string, Candidate>> | undefined

  constructor(deps: TerminalDeps, sessions: TerminalSessions, documents: PendingDocuments) {
    this.#deps = deps
    this.#sessions = sessions
    this.#documents = documents
  }

  async find(providerSessionId: string): Promise<Candidate | undefined> {
    return (await this.#byName()).get(providerSessionId)
  }

  async list(): Promise<readonly Candidate[]> {
    return [...(await this.#byName()).values()]
  }

  /** The candidate that an event is about: one that is known, or one that a start makes. */
  async about(event: TerminalHookEvent): Promise<Candidate | undefined> {
    const found = await this.find(event.input.providerSessionId)
    if (found !== undefined || event.event !== 'session-start') return found
    const candidacy = candidacyOf(event.input)
    const workspace = this.#deps.pending.workspaceOf(event.input.cwd ?? '')
    if (candidacy === 'copy' && workspace !== undefined) return this.#beginFork(event, workspace)
    if (candidacy !== 'successor') return undefined
    const pending = await this.#pendingFor(event)
    if (pending !== undefined) return this.#begin(event, pending, { branchOf: pending.conversationId })
    const thread = await this.#threadFor(event)
    return thread && workspace ? this.#begin(event, { id: thread, workspace }, { thread }) : undefined
  }

  /** The document that a candidate begins with, as long as it waits. */
  async documentOf({ workspace, pendingId }: Candidate): Promise<PendingDocument | undefined> {
    const pending = await this.#deps.pending.readPending(workspace)
    return pending?.id === pendingId ? pending : undefined
  }

  async change(candidate: Candidate): Promise<void> {
    await this.#deps.pending.writeCandidate(candidate)
    ;(await this.#byName()).set(candidate.providerSessionId, candidate)
  }

  async addPrompt(candidate: Candidate, { commandId, input: { prompt } }: TerminalHookEvent): Promise<void> {
    if (prompt === undefined || this.#deps.readers.transcripts(candidate.runtime).isOwnPrompt?.(prompt)) return
    const prompted = withTypedPrompt(candidate, { commandId, prompt })
    if (prompted !== candidate) await this.change(prompted)
  }

  async forget({ providerSessionId }: Candidate): Promise<void> {
    await this.#deps.pending.forgetCandidate(providerSessionId)
    ;(await this.#byName()).delete(providerSessionId)
  }

  /** A fork is decided once its transcript is there: until then nobody can say what it is a copy of. */
  async #beginFork(event: TerminalHookEvent, workspace: string): Promise<Candidate | undefined> {
    if ((await this.#sessions.find(event.input.providerSessionId)) !== undefined) return undefined
    return this.#begin(event, { id: this.#deps.ids.next(), workspace }, { isFork: true })
  }

  /** The thread whose summary the session has read. A session that is on record has work of its own. */
  async #threadFor({ runtime, input }: TerminalHookEvent): Promise<ConversationId | undefined> {
    const { cwd, providerSessionId } = input
    const { file, untracked } = this.#deps.agents.named(runtime).memoryFiles
    const read = untracked === undefined ? [file] : [file, untracked]
    const waiting = await this.#deps.threads?.waitingIn(cwd, read)
    if (waiting === undefined) return undefined
    return (await this.#sessions.find(providerSessionId)) === undefined ? waiting.id : undefined
  }

  /** The document that waits for a session that starts so. */
  async #pendingFor({ input, at }: TerminalHookEvent): Promise<PendingDocument | undefined> {
    const workspace = this.#deps.pending.workspaceOf(input.cwd ?? '')
    const { document } = (workspace === undefined ? undefined : await this.#documents.waitingIn(workspace)) ?? {}
    if (document === undefined) return undefined
    const isOwn = document.providerSessionId === input.providerSessionId
    const isOnRecord = isOwn || (await this.#sessions.find(input.providerSessionId)) !== undefined
    return isGiven(document, input, { now: at ?? this.#deps.clock.now(), isOnRecord }) ? document : undefined
  }

  async #begin(
    { runtime, input }: TerminalHookEvent,
    { id, workspace }: Pick<PendingDocument, 'id' | 'workspace'>,
    kind: Pick<Candidate, 'thread' | 'branchOf' | 'isFork'>,
  ): Promise<Candidate> {
    const { providerSessionId, cwd, model, transcriptPath } = input
    const about = { v: 1 as const, runtime, providerSessionId, pendingId: id, workspace }
    const begun = defined({ ...about, ...kind, cwd, model, transcriptPath, prompts: [], hasEnded: false })
    await this.change(begun)
    return begun
  }

  #byName(): Promise<Map<string, Candidate>> {
    this.#all ??= this.#deps.pending
      .listCandidates()
      .then((all) => new Map(all.map((candidate) => [candidate.providerSessionId, candidate])))
    return this.#all
  }
}
