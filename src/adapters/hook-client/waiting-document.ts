import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { isRecord } from '../../domain/kernel/record.ts'
import type { PendingDocument } from '../../ports/terminal/wire.ts'
import { readOwnFile } from '../files/own-files.ts'
import { pendingFile, workspaceOf } from '../place/workspace.ts'
import type { RawInput } from './read-input.ts'

/** A document of a megabyte may grow to this when it is put into JSON. */
const MOST_BYTES = 9 * 1024 * 1024

/** The starts after which a session has nothing in its window. */
const FRESH: readonly unknown[] = [undefined, 'startup', 'clear']

const PARTS = [
  'text',
  'document',
  'providerSessionId',
  'agentName',
  'workspace',
  'path',
  'writtenAt',
  'expiresAt',
] as const satisfies readonly (keyof PendingDocument)[]

/** The document that waits in a workspace, as far as it is read without the service. */
export type PendingFound = { readonly [Part in (typeof PARTS)[number]]: string }

/** Finds the document that waits in a workspace. Absent where none does, or its time is over. @throws where it cannot be read */
export const readPending = (folder: string, workspace: string): PendingFound | undefined => {
  const pending = pendingIn(`${folder}/${pendingFile(workspace)}`)
  if (pending !== undefined && pending.workspace !== workspace)
    throw new Error('it is not a document that this version knows')
  return pending
}

/** Every document that waits, in whatever workspace. One that cannot be read is left out. */
export const listPending = (folder: string): readonly PendingFound[] =>
  jsonFilesIn(`${folder}/${dirname(pendingFile(''))}`).flatMap((path) => {
    try {
      return pendingIn(path) ?? []
    } catch {
      return []
    }
  })

const jsonFilesIn = (path: string): readonly string[] => {
  try {
    return readdirSync(path)
      .filter((name) => name.endsWith('.json'))
      .map((name) => `${path}/${name}`)
  } catch {
    return []
  }
}

const pendingIn = (path: string): PendingFound | undefined => {
  const file = readOwnFile(path, MOST_BYTES)
  if (file === undefined) return undefined
  const pending: unknown = JSON.parse(file)
  if (!isPending(pending)) throw new Error('it is not a document that this version knows')
  return Date.parse(pending.expiresAt) > Date.now() ? pending : undefined
}

const isPending = (pending: unknown): pending is PendingFound =>
  isRecord(pending) && pending.v === 1 && PARTS.every((part) => typeof pending[part] === 'string')

/**
 * The document that waits for a session that starts, found without the service. Absent where none waits, and for the session
 * that wrote it, unless that was cleared. @throws where it cannot be read
 */
export const pendingAtStart = (
  folder: string,
  { cwd, source }: RawInput,
  session: string,
): PendingFound | undefined => {
  if (!FRESH.includes(source) || typeof cwd !== 'string') return undefined
  const workspace = workspaceOf(cwd)
  const pending = workspace === undefined ? undefined : readPending(folder, workspace)
  const isItsOwn = pending?.providerSessionId === session && source !== 'clear'
  return isItsOwn ? undefined : pending
}
