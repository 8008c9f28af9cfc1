import { createHash } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'

/**
 * The workspace of a folder: the root of the git worktree around it, or the folder itself, through no link. Absent where
 * there is no such folder. Cheap, because a hook asks it while a person waits.
 */
export const workspaceOf = (folder: string): string | undefined => {
  const real = realOf(folder)
  for (let at = real; at !== undefined; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return real
  }
  return undefined
}

/** The folders whose memory files an agent reads that works in this one: itself, and every folder up to its workspace. */
export const foldersRead = (folder: string = process.cwd()): readonly string[] => {
  const workspace = workspaceOf(folder)
  if (workspace === undefined || workspace === folder) return [folder]
  const read = [folder]
  for (let at = dirname(realOf(folder) ?? folder); at.startsWith(workspace) && at !== workspace; at = dirname(at))
    read.push(at)
  return [...read, workspace]
}

const realOf = (folder: string): string | undefined => {
  try {
    return isAbsolute(folder) ? realpathSync(folder) : undefined
  } catch {
    return undefined
  }
}

/** The file in the folder of the service that the document for the next session of a workspace waits in. */
export const pendingFile = (workspace: string): string =>
  `pending/${createHash('sha256').update(workspace).digest('hex').slice(0, 32)}.json`
