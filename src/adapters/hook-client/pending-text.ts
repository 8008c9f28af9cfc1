import { pendingFile, workspaceOf } from '../../workspace.ts'
import { readOwnFile } from './own-files.ts'
import { type HookInput, isRecord } from './read-input.ts'

/** A document of a megabyte may grow to this when it is put into JSON. */
const MOST_BYTES = 9 * 1024 * 1024

/** The starts after which a session has nothing in its window. */
const FRESH: readonly unknown[] = [undefined, 'startup', 'clear']

/**
 * The text that waits for the next session of a workspace, found without the service. Absent where none waits, where its
 * time is over, and for the session that wrote it, unless that was cleared. @throws where it cannot be read
 */
export const pendingText = (folder: string, { cwd, source }: HookInput, session: string): string | undefined => {
  if (!FRESH.includes(source) || typeof cwd !== 'string') return undefined
  const workspace = workspaceOf(cwd)
  const file = workspace === undefined ? undefined : readOwnFile(`${folder}/${pendingFile(workspace)}`, MOST_BYTES)
  if (file === undefined) return undefined
  const pending: unknown = JSON.parse(file)
  if (!isRecord(pending) || pending.v !== 1 || pending.workspace !== workspace || typeof pending.text !== 'string')
    throw new Error('it is not a document that this version knows')
  const isOver = !(Date.parse(String(pending.expiresAt)) > Date.now())
  const isItsOwn = pending.providerSessionId === session && source !== 'clear'
  return isOver || isItsOwn ? undefined : pending.text
}
