import { defined } from '../../domain/kernel/defined.ts'
import type { ConversationId } from '../../domain/kernel/ids.ts'
import type { Candidate, PendingDocument } from '../../ports/terminal/pending-files.ts'
import type { HookEvent } from './hook-event.ts'
import type { PendingDocuments } from './pending-documents.ts'
import type { TerminalDeps } from './terminal-deps.ts'
import type { TerminalSessions } from './terminal-sessions.ts'

/** As many prompts are kept of a session that has taken no turn. */
const MOST_PROMPTS = 50

/** The starts after which a session has nothing in its window. */
const FRESH: readonly (string | undefined)[] = [undefined, 'startup', 'clear']

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
    return (await this.#known()).get(providerSessionId)
  }

  async list(): Promise<readonly Candidate[]> {
    return [...(await this.#known()).values()]
  }

  /** The candidate that an event is about: one that is known, or one that a start makes. */
  async about(event: HookEvent): Promise<Candidate | undefined> {
    const known = await this.find(event.input.providerSessionId)
    if (known !== undefined || event.event !== 'session-start' || !isAlone(event)) return known
    const { cwd = '', source } = event.input
    const workspace = this.#deps.pending.workspaceOf(cwd)
    if (source === 'fork' && workspace !== undefined) return this.#beginFork(event, workspace)
    if (!FRESH.includes(source)) return undefined
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
    ;(await this.#known()).set(candidate.providerSessionId, candidate)
  }

  async addPrompt(candidate: Candidate, { commandId, input: { prompt } }: HookEvent): Promise<void> {
    const { prompts, runtime } = candidate
    if (prompt !== undefined && this.#deps.readers.transcripts(runtime).isOwnPrompt?.(prompt)) return
    if (prompt === undefined || prompt.trim() === '' || prompts.some((one) => one.commandId === commandId)) return
    await this.change({ ...candidate, prompts: [...prompts, { commandId, prompt }].slice(-MOST_PROMPTS) })
  }

  async forget({ providerSessionId }: Candidate): Promise<void> {
    await this.#deps.pending.forgetCandidate(providerSessionId)
    ;(await this.#known()).delete(providerSessionId)
  }

  /** A fork is decided once its transcript is there: until then nobody can say what it is a copy of. */
  async #beginFork(event: HookEvent, workspace: string): Promise<Candidate | undefined> {
    if ((await this.#sessions.find(event.input.providerSessionId)) !== undefined) return undefined
    return this.#begin(event, { id: this.#deps.ids.next(), workspace }, { isFork: true })
  }

  /** The thread whose summary the session has read; a session that is on record already is none of its. */
  async #threadFor({ runtime, input }: HookEvent): Promise<ConversationId | undefined> {
    const { cwd, providerSessionId } = input
    const { file, untracked } = this.#deps.agents.named(runtime).memoryFiles
    const read = untracked === undefined ? [file] : [file, untracked]
    const waiting = await this.#deps.threads?.waitingIn(cwd, read)
    if (waiting === undefined) return undefined
    return (await this.#sessions.find(providerSessionId)) === undefined ? waiting.id : undefined
  }

  /** The document that waits for a session that starts so. */
  async #pendingFor({ input, at }: HookEvent): Promise<PendingDocument | undefined> {
    const { source, cwd = '', providerSessionId } = input
    const workspace = this.#deps.pending.workspaceOf(cwd)
    const pending = workspace === undefined ? undefined : await this.#deps.pending.readPending(workspace)
    if (pending === undefined || this.#documents.isOver(pending, at)) return undefined
    if (pending.providerSessionId === providerSessionId) return source === 'clear' ? pending : undefined
    return (await this.#sessions.find(providerSessionId)) === undefined ? pending : undefined
  }

  async #begin(
    { runtime, input }: HookEvent,
    { id, workspace }: Pick<PendingDocument, 'id' | 'workspace'>,
    kind: Pick<Candidate, 'thread' | 'branchOf' | 'isFork'>,
  ): Promise<Candidate> {
    const { providerSessionId, cwd, model, transcriptPath } = input
    const about = { v: 1 as const, runtime, providerSessionId, pendingId: id, workspace }
    const begun = defined({ ...about, ...kind, cwd, model, transcriptPath, prompts: [], hasEnded: false })
    await this.change(begun)
    return begun
  }

  #known(): Promise<Map<string, Candidate>> {
    this.#all ??= this.#deps.pending
      .listCandidates()
      .then((all) => new Map(all.map((candidate) => [candidate.providerSessionId, candidate])))
    return this.#all
  }
}

/** Whether nobody but a person started a session; one that another session started continues nobody's work. */
const isAlone = ({ input: { cwd, parentSessionId, within } }: HookEvent): boolean =>
  cwd !== undefined && parentSessionId === undefined && within === undefined
