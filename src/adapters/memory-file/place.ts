import { lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { MemoryFileFailure } from '../../ports/terminal/memory-file.ts'
import { codeOf } from '../files/own-files.ts'

/** The place of a memory file, at the end of every link. */
export interface FilePlace {
  /** The folder that the file is in, and that its drafts are made in. */
  readonly folder: string
  readonly target: string
}

/** The name of a file in its workspace. @throws MemoryFileFailure when it leads out of it */
export const nameWithin = (workspace: string, name: string): string => {
  const path = resolve(workspace, name)
  if (name.trim() === '' || name.includes('\0') || !isWithin(resolve(workspace), path)) throw outside(name, workspace)
  return path
}

/**
 * Follows every link of a path. It is asked again right before a file is replaced, because links can change.
 *
 * @throws MemoryFileFailure when the path ends outside of its workspace, or nowhere
 */
export const filePlaceOf = (workspace: string, path: string): FilePlace => {
  const root = realFolder(workspace, 'There is no such workspace.')
  const link = lstatSync(path, { throwIfNoEntry: false })
  const real = link?.isSymbolicLink() === true ? realTarget(path) : undefined
  const folder =
    real === undefined ? realFolder(dirname(path), 'Its folder does not exist: make it first.') : dirname(real)
  const target = real ?? join(folder, basename(path))
  if (!isWithin(root, target)) throw outside(path, workspace)
  return { folder, target }
}

const realTarget = (path: string): string => {
  try {
    return realpathSync(path)
  } catch (cause) {
    const message = `${path} is a link that leads to no file (${codeOf(cause)}). Remove the link, or make the file.`
    throw new MemoryFileFailure('memory_file.not_a_file', message, { cause })
  }
}

const realFolder = (folder: string, problem: string): string => {
  try {
    return realpathSync(folder)
  } catch (cause) {
    throw new MemoryFileFailure('memory_file.no_folder', `${folder} cannot be used (${codeOf(cause)}). ${problem}`, {
      cause,
    })
  }
}

const isWithin = (folder: string, path: string): boolean => {
  const way = relative(folder, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

const outside = (name: string, workspace: string): MemoryFileFailure =>
  new MemoryFileFailure(
    'memory_file.outside',
    `${JSON.stringify(name)} leads out of the workspace ${workspace}, so it is not touched. Name a file inside of it.`,
  )
