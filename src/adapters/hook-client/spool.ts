import { readdirSync, rmSync } from 'node:fs'
import { ownFolder } from '../files/own-files.ts'
import { writeWhole } from '../files/whole-file.ts'
import type { HookPost } from './hook-events.ts'

/** A spool that nobody empties is not filled for ever: so many events are weeks of work. */
const MOST_FILES = 5_000

/** Keeps an event until the service has it. @returns the file, to be removed after delivery @throws where it cannot be kept */
export const spool = (folder: string, post: HookPost): string => spoolFile(folder, post.commandId, JSON.stringify(post))

/** Keeps a text for the service under the id of its command. @returns the file @throws where it cannot be kept */
export const spoolFile = (folder: string, commandId: string, text: string): string => {
  const spooled = `${folder}/spool`
  ownFolder(spooled)
  if (readdirSync(spooled).length >= MOST_FILES) throw new Error('it is full')
  const file = `${spooled}/${commandId}.json`
  writeWhole(file, text)
  return file
}

/** Removes an event that the service has taken; it may have done so itself. */
export const unspool = (file: string): void => rmSync(file, { force: true })
