import { hookEntriesIn, type WantedHooks } from './hook-entries.ts'
import { type JsonDocument, jsonDocument } from './json-document.ts'
import { ownHookIn } from './own-hook.ts'
import { isOwnServer, isSameStart, type ServerStart } from './server-entry.ts'
import { readSettingsFile } from './settings-file.ts'
import { statusLineIn } from './status-line-entry.ts'
import type { Part } from './wanted.ts'

/** How a part of an installation stands. */
export type PartState = 'absent' | 'installed' | 'plugin' | 'incomplete' | 'outdated' | 'foreign' | 'unreadable'

/** One part of an installation, where it is looked for, and how it stands there. */
export interface FoundPart {
  readonly part: Part
  readonly file: string
  readonly state: PartState
  /** A few words: what is missing, or what is wrong with the file. */
  readonly detail?: string
}

/** How a part stands, wherever it is. */
export type State = Pick<FoundPart, 'state' | 'detail'>

/** Of a part that is not there. */
export const ABSENT: State = { state: 'absent' }

/** Looks at a part in a JSON file. */
export const findPart = (part: Part, file: string, look: (document: JsonDocument) => State): FoundPart => {
  const read = readSettingsFile(file)
  if (!read.ok) return { part, file, state: 'unreadable', detail: read.error.message }
  if (read.value.bytes === undefined) return { part, file, ...ABSENT }
  const document = jsonDocument(read.value.bytes.toString('utf8'))
  if (!document.ok) return { part, file, state: 'unreadable', detail: `it ${document.error.problem}` }
  return { part, file, ...look(document.value) }
}

/** The text of a file of settings, if it can be read. */
export const textIn = (file: string): string | undefined => {
  const read = readSettingsFile(file)
  return read.ok ? read.value.bytes?.toString('utf8') : undefined
}

/** How the hooks stand in settings. */
export const hooksState = (document: JsonDocument, { hooks, program }: WantedHooks): State => {
  const entries = hookEntriesIn(document)
  if (entries.length === 0) return ABSENT
  const events = entries.map(({ event }) => event)
  const missing = Object.values(hooks)
    .flatMap((command) => ownHookIn(command)?.event ?? [])
    .filter((event) => !events.includes(event))
  if (missing.length > 0) return { state: 'incomplete', detail: `without ${missing.join(', ')}` }
  const twice = events.find((event, at) => events.indexOf(event) !== at)
  if (twice !== undefined) return { state: 'incomplete', detail: `${twice} is there twice` }
  const old = entries.find((entry) => !entry.isMixed && entry.program !== program)
  return old === undefined ? { state: 'installed' } : { state: 'outdated', detail: `started as ${old.program}` }
}

/** How the status line stands in settings. */
export const statusLineState = (document: JsonDocument, program: string): State => {
  const line = statusLineIn(document)
  if (line === undefined) return ABSENT
  if (!line.isOurs) return { state: 'foreign', detail: 'a status line of your own' }
  return line.program === program ? { state: 'installed' } : { state: 'outdated', detail: `started as ${line.program}` }
}

/** How our MCP server stands, by its entry. */
export const serverState = (there: ServerStart | 'unknown' | undefined, wanted: ServerStart): State => {
  if (there === undefined) return ABSENT
  if (there === 'unknown' || !isOwnServer(there))
    return { state: 'foreign', detail: 'a server of that name that is not ours' }
  return isSameStart(there, wanted)
    ? { state: 'installed' }
    : { state: 'outdated', detail: `started as ${[there.command, ...there.args].join(' ')}` }
}
