import { randomUUID } from 'node:crypto'
import type { Environment } from '../../ports/system/environment.ts'
import { removeAbandoned } from '../files/folder-lock.ts'
import { readOwnFile } from '../files/own-files.ts'
import { writeWhole } from '../files/whole-file.ts'
import { isKnownProject, rememberProject } from './known-stores.ts'

const NAME = 'store.id'
const MOST_BYTES = 100
const ID = /^[0-9a-f-]{36}$/

/** Whether a folder is a project store: its id and its path are together in the person's private list. */
export const isProjectStore = (environment: Environment, folder: string): boolean => {
  const id = idIn(folder)
  return id !== undefined && isKnownProject(environment, folder, id)
}

/**
 * Makes a folder a project store, under a new id: one that came with it may be known to others.
 *
 * @throws where the id or the list cannot be written
 */
export const makeProjectStore = (environment: Environment, folder: string): void => {
  const id = randomUUID()
  removeAbandoned(folder)
  writeWhole(`${folder}/${NAME}`, `${id}\n`)
  rememberProject(environment, folder, id)
}

const idIn = (folder: string): string | undefined => {
  try {
    const id = readOwnFile(`${folder}/${NAME}`, MOST_BYTES)?.trim()
    return id !== undefined && ID.test(id) ? id : undefined
  } catch {
    return undefined
  }
}
