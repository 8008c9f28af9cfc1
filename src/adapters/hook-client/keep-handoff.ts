import { ownFolder } from '../files/own-files.ts'
import { writeWhole } from '../files/whole-file.ts'
import { spoolFile } from './spool.ts'
import { uuidV7 } from './uuid-v7.ts'

/** A handoff that no service could be given. */
export interface UnsentHandoff {
  /** The session, by the runtime's name or ours; else the one that works in this folder when it is taken. */
  readonly session?: string
  readonly working_in?: string
  readonly document: string
  readonly reason?: string
  readonly target_agent?: string
}

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
  const kept = { ...handoff, document: redact(document), ...(reason !== undefined && { reason: redact(reason) }) }
  writeWhole(`${documents}/${id}.md`, kept.document)
  spoolFile(folder, id, JSON.stringify({ v: 1, commandId: id, at: new Date().toISOString(), handoff: kept }))
  return `${documents}/${id}.md`
}
