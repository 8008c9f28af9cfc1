import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import type { HandoffPost, HookPost, UnsentHandoff } from '../../ports/terminal/wire.ts'
import { ownFolder } from '../files/own-files.ts'
import { writeWhole } from '../files/whole-file.ts'

/** A spool that nobody empties is not filled for ever: so many events are weeks of work. */
const MOST_FILES = 5_000

/** Keeps an event until the service has it. @returns the file, to be removed after delivery @throws where it cannot be kept */
export const spool = (folder: string, post: HookPost): string => spoolFile(folder, post.commandId, JSON.stringify(post))

/** Keeps a text for the service under the id of its command. @returns the file @throws where it cannot be kept */
const spoolFile = (folder: string, commandId: string, text: string): string => {
  const spooled = `${folder}/spool`
  ownFolder(spooled)
  if (readdirSync(spooled).length >= MOST_FILES) throw new Error('it is full')
  const file = `${spooled}/${commandId}.json`
  writeWhole(file, text)
  return file
}

/** Removes an event that the service has taken; it may have done so itself. */
export const unspool = (file: string): void => rmSync(file, { force: true })

/** A new id for a handoff: sent and kept under the same one, it is taken once. */
export const newHandoffId = (): string => uuidV7()

/**
 * Keeps a handoff for the next service, which takes it before anything that happens later. The document is also in a file of
 * its own, which a person can read. Its secrets are hidden first.
 *
 * @returns that file @throws where it cannot be kept
 */
export const keepHandoff = (
  folder: string,
  id: string,
  handoff: UnsentHandoff,
  redact: (text: string) => string,
): string => {
  const documents = `${folder}/handoffs`
  ownFolder(folder)
  ownFolder(documents)
  const { document, reason } = handoff
  const hidden = { ...handoff, document: redact(document), ...(reason !== undefined && { reason: redact(reason) }) }
  writeWhole(`${documents}/${id}.md`, hidden.document)
  const post: HandoffPost = { v: 1, commandId: id, at: new Date().toISOString(), handoff: hidden }
  spoolFile(folder, id, JSON.stringify(post))
  return `${documents}/${id}.md`
}

/** A new UUID of version 7. Made by hand, because a package more costs a hook a good part of its time. */
export const uuidV7 = (now: number = Date.now()): string => {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(now, 0, 6)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
