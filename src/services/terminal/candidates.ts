import { defined } from '../../domain/kernel/defined.ts'
import type { Candidate, PendingDocument } from '../../ports/pending-files.ts'
import type { HookEvent } from './hook-event.ts'
import type { PendingDocuments } from './pending-documents.ts'
import type { TerminalDeps } from './terminal-deps.ts'
import type { TerminalSessions } from './terminal-sessions.ts'

/** As many prompts are kept of a session that has taken no turn. */
const MOST_PROMPTS = 50

/** The starts after which a session has nothing in its window. */
const FRESH: readonly (string | undefined)[] = [undefined, 'startup', 'clear']

/** The sessions that began with a pending document, until the first turn of one of them says whose it is. */
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
    if (known !== undefined || event.event !== 'session-start') return known
    const pending = await this.#pendingFor(event)
    return pending && this.#begin(event, pending)
  }

  /** The text that a candidate begins with, as long as its document waits. */
  async textOf({ workspace, pendingId }: Candidate): Promise<string | undefined> {
    const pending = await this.#deps.pending.readPending(workspace)
    return pending?.id === pendingId ? pending.text : undefined
  }

  async change(candidate: Candidate): Promise<void> {
    await this.#deps.pending.writeCandidate(candidate)
    ;(await this.#known()).set(candidate.providerSessionId, candidate)
  }

  async addPrompt(candidate: Candidate, { commandId, input: { prompt } }: HookEvent): Promise<void> {
    const { prompts } = candidate
    if (prompt === undefined || prompt.trim() === '' || prompts.some((one) => one.commandId === commandId)) return
    await this.change({ ...candidate, prompts: [...prompts, { commandId, prompt }].slice(-MOST_PROMPTS) })
  }

  async forget({ providerSessionId }: Candidate): Promise<void> {
    await this.#deps.pending.forgetCandidate(providerSessionId)
    ;(await this.#known()).delete(providerSessionId)
  }

  /** The document that waits for a session that starts so; a session that another one started is not the next one. */
  async #pendingFor({ input, at }: HookEvent): Promise<PendingDocument | undefined> {
    const { source, cwd, providerSessionId, parentSessionId, within } = input
    if (!FRESH.includes(source) || cwd === undefined || parentSessionId !== undefined || within !== undefined)
      return undefined
    const workspace = this.#deps.pending.workspaceOf(cwd)
    const pending = workspace === undefined ? undefined : await this.#deps.pending.readPending(workspace)
    if (pending === undefined || this.#documents.isOver(pending, at)) return undefined
    if (pending.providerSessionId === providerSessionId) return source === 'clear' ? pending : undefined
    return (await this.#sessions.find(providerSessionId)) === undefined ? pending : undefined
  }

  async #begin({ runtime, input }: HookEvent, { id, workspace }: PendingDocument): Promise<Candidate> {
    const { providerSessionId, cwd, model, transcriptPath } = input
    const about = { v: 1 as const, runtime, providerSessionId, pendingId: id, workspace }
    const begun = defined({ ...about, cwd, model, transcriptPath, prompts: [], hasEnded: false })
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
