import { readOwnFile } from '../../own-files.ts'
import { pendingFile, workspaceOf } from '../../workspace.ts'
import { type HookInput, isRecord } from './read-input.ts'

/** A document of a megabyte may grow to this when it is put into JSON. */
const MOST_BYTES = 9 * 1024 * 1024

/** The starts after which a session has nothing in its window. */
const FRESH: readonly unknown[] = [undefined, 'startup', 'clear']

/** The document that waits in a workspace, as far as it is read without the service. */
export interface PendingFound {
  readonly text: string
  readonly document: string
  readonly providerSessionId: string
  readonly path: string
  readonly writtenAt: string
  readonly expiresAt: string
}

const PARTS = ['text', 'document', 'providerSessionId', 'path', 'writtenAt', 'expiresAt'] as const

/** Finds the document that waits in a workspace. Absent where none does, or its time is over. @throws where it cannot be read */
export const readPending = (folder: string, workspace: string): PendingFound | undefined => {
  const file = readOwnFile(`${folder}/${pendingFile(workspace)}`, MOST_BYTES)
  if (file === undefined) return undefined
  const pending: unknown = JSON.parse(file)
  if (!isPending(pending) || pending.workspace !== workspace)
    throw new Error('it is not a document that this version knows')
  return Date.parse(pending.expiresAt) > Date.now() ? pending : undefined
}

const isPending = (pending: unknown): pending is PendingFound & { readonly workspace: unknown } =>
  isRecord(pending) && pending.v === 1 && PARTS.every((part) => typeof pending[part] === 'string')

/**
 * The text that waits for a session that starts, found without the service. Absent where none waits, and for the session
 * that wrote it, unless that was cleared. @throws where it cannot be read
 */
export const pendingText = (folder: string, { cwd, source }: HookInput, session: string): string | undefined => {
  if (!FRESH.includes(source) || typeof cwd !== 'string') return undefined
  const workspace = workspaceOf(cwd)
  const pending = workspace === undefined ? undefined : readPending(folder, workspace)
  const isItsOwn = pending?.providerSessionId === session && source !== 'clear'
  return isItsOwn ? undefined : pending?.text
}
