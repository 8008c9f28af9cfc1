import type { Candidate, PendingFiles, TakenPendingDocument } from '../../src/ports/terminal/pending-files.ts'
import type { PendingDocument } from '../../src/ports/terminal/wire.ts'

/** Pending documents in memory: the twin of the folder, which keeps the same promises and survives nothing. */
export class MemoryPendingFiles implements PendingFiles {
  readonly #folders: ReadonlySet<string>
  /** By their workspace. */
  readonly #pending = new Map<string, PendingDocument>()
  /** By the id and the candidate, which is the document's place. */
  readonly #taken = new Map<string, TakenPendingDocument>()
  readonly #closed = new Map<string, PendingDocument>()
  readonly #candidates = new Map<string, Candidate>()

  /** @param folders the folders that there are; each is a workspace */
  constructor(folders: readonly string[] = []) {
    this.#folders = new Set(folders)
  }

  workspaceOf(folder: string): string | undefined {
    return this.#folders.has(folder) ? folder : undefined
  }

  async readPending(workspace: string): Promise<PendingDocument | undefined> {
    return structuredClone(this.#pending.get(workspace))
  }

  async writePending(document: PendingDocument): Promise<void> {
    this.#pending.set(document.workspace, structuredClone(document))
  }

  async listPending(): Promise<readonly PendingDocument[]> {
    return copied(this.#pending)
  }

  async takePending(document: PendingDocument, by: string): Promise<boolean> {
    const pending = this.#moved(document)
    if (pending !== undefined) this.#taken.set(placeOf({ pending, by }), { pending, by })
    return pending !== undefined
  }

  async listTaken(): Promise<readonly TakenPendingDocument[]> {
    return copied(this.#taken)
  }

  async forgetTaken(taken: TakenPendingDocument): Promise<void> {
    this.#taken.delete(placeOf(taken))
  }

  async closePending(document: PendingDocument): Promise<boolean> {
    const pending = this.#moved(document)
    if (pending !== undefined) this.#closed.set(pending.id, pending)
    return pending !== undefined
  }

  async listClosed(): Promise<readonly PendingDocument[]> {
    return copied(this.#closed)
  }

  async forgetClosed({ id }: PendingDocument): Promise<void> {
    this.#closed.delete(id)
  }

  async listCandidates(): Promise<readonly Candidate[]> {
    return copied(this.#candidates)
  }

  async writeCandidate(candidate: Candidate): Promise<void> {
    this.#candidates.set(candidate.providerSessionId, structuredClone(candidate))
  }

  async forgetCandidate(providerSessionId: string): Promise<void> {
    this.#candidates.delete(providerSessionId)
  }

  /** The document that was waiting, which waits no longer. */
  #moved({ id, workspace }: PendingDocument): PendingDocument | undefined {
    const waiting = this.#pending.get(workspace)
    if (waiting?.id !== id) return undefined
    this.#pending.delete(workspace)
    return waiting
  }
}

const placeOf = ({ pending: { id }, by }: TakenPendingDocument): string => `${id} ${by}`

const copied = <T>(all: ReadonlyMap<string, T>): readonly T[] => structuredClone([...all.values()])
