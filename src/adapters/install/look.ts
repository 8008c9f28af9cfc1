import {
  type AgentPlace,
  CLAUDE_SCOPES,
  type ClaudeScope,
  claudeSettingsOf,
  isOwnPlugin,
  ownHookIn,
} from './agent-settings.ts'
import {
  claudeHolder,
  claudeHooksOf,
  claudeServersOf,
  codexFilesOf,
  codexHooksOf,
  commandFileOf,
  type Part,
  serverStartOf,
  type Wanted,
  wantedIn,
} from './agents.ts'
import { handoffCommand, isHandoffCommand } from './handoff-command.ts'
import { hookEntriesIn, type WantedHooks } from './hook-entries.ts'
import { type JsonDocument, jsonDocument, membersOf, valueAt } from './json-document.ts'
import { Receipts } from './receipts.ts'
import { isOwnServer, isSameStart, type ServerStart, serverIn } from './server-entry.ts'
import { readSettingsFile } from './settings-file.ts'
import { statusLineIn } from './status-line-entry.ts'
import { tomlServerIn } from './toml-server.ts'

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

/** Everything that is found in a scope. */
export interface FoundScope {
  readonly scope: ClaudeScope
  readonly parts: readonly FoundPart[]
  /** The plugin is switched on by these settings, and no nearer ones switch it off. */
  readonly hasPlugin: boolean
}

/** The plugin brings all but the status line. */
const BY_PLUGIN: readonly Part[] = ['hooks', 'mcp', 'command']

/** Looks at every scope of Claude Code. Nothing is changed. @param folder where the notes are */
export const lookAtClaude = (place: AgentPlace, wanted: Wanted, folder: string): readonly FoundScope[] => {
  const receipts = new Receipts(folder)
  const plugin = pluginScope(place)
  return CLAUDE_SCOPES.map((scope) => {
    const parts = partsOf(scope, place, wantedIn(scope, wanted), receipts)
    const hasPlugin = scope === plugin
    return { scope, hasPlugin, parts: hasPlugin ? parts.map(byPlugin) : parts }
  })
}

const byPlugin = (found: FoundPart): FoundPart =>
  found.state === 'absent' && BY_PLUGIN.includes(found.part)
    ? { ...found, state: 'plugin', detail: 'switched on here, brings it' }
    : found

const partsOf = (scope: ClaudeScope, place: AgentPlace, wanted: Wanted, receipts: Receipts): readonly FoundPart[] => {
  const file = claudeSettingsOf(scope, place)
  const servers = claudeServersOf(scope, place)
  const command = commandFileOf(scope, place)
  return [
    lookAt('hooks', file, (document) => hooksState(document, claudeHooksOf(wanted))),
    lookAt('statusLine', file, (document) => statusLineState(document, wanted.program.launcher)),
    lookAt('mcp', servers.file, (document) => serverState(serverIn(document, servers.list), serverStartOf(wanted))),
    ownerOf(command, scope, place, receipts) ?? commandState(command, wanted),
  ]
}

/** The scopes of a project share one file of `/baton:handoff`. It is in that scope which has put it there. */
const ownerOf = (file: string, scope: ClaudeScope, place: AgentPlace, receipts: Receipts): FoundPart | undefined => {
  const read = readSettingsFile(file)
  if (scope === 'user' || !read.ok || read.value.bytes === undefined) return undefined
  const holders = receipts.read(read.value.target)?.holders ?? []
  const own = claudeHolder(scope, place)
  if (holders.some((one) => one.scope === own.scope && one.folder === own.folder)) return undefined
  // A file that nobody here has put there came with the project.
  const owner = holders[0]?.scope ?? 'project'
  return owner === scope ? undefined : { part: 'command', file, ...ABSENT, detail: `that one is of the scope ${owner}` }
}

/** Looks at Codex. */
export const lookAtCodex = (place: AgentPlace, wanted: Wanted): readonly FoundPart[] => {
  const files = codexFilesOf(place)
  const text = textIn(files.configuration)
  const server = text === undefined ? undefined : tomlServerIn(text)
  return [
    lookAt('hooks', files.hooks, (document) => hooksState(document, codexHooksOf(wanted))),
    {
      part: 'mcp',
      file: files.configuration,
      ...serverState(server === 'foreign' ? 'unknown' : server, serverStartOf(wanted)),
    },
  ]
}

/** The scope whose settings switch the plugin on here. Those that are nearer win: local, then project, then user. */
export const pluginScope = (place: AgentPlace): ClaudeScope | undefined => {
  for (const scope of CLAUDE_SCOPES.toReversed()) {
    const isOn = onDocument(claudeSettingsOf(scope, place), pluginIn)
    if (isOn !== undefined) return isOn ? scope : undefined
  }
  return undefined
}

/** Whether settings switch the plugin on or off. Absent where they do not name it. */
const pluginIn = ({ root }: JsonDocument): boolean | undefined => {
  const named = membersOf(valueAt(root, ['enabledPlugins'])).filter(({ key }) => isOwnPlugin(key))
  if (named.length === 0) return undefined
  // A list names the versions that are taken.
  return named.some(({ value }) => value.type === 'array' || value.value === true)
}

type State = Pick<FoundPart, 'state' | 'detail'>

const ABSENT: State = { state: 'absent' }

const lookAt = (part: Part, file: string, look: (document: JsonDocument) => State): FoundPart => {
  const read = readSettingsFile(file)
  if (!read.ok) return { part, file, state: 'unreadable', detail: read.error.message }
  if (read.value.bytes === undefined) return { part, file, ...ABSENT }
  const document = jsonDocument(read.value.bytes.toString('utf8'))
  if (!document.ok) return { part, file, state: 'unreadable', detail: `it ${document.error.problem}` }
  return { part, file, ...look(document.value) }
}

const onDocument = <Answer>(file: string, ask: (document: JsonDocument) => Answer): Answer | undefined => {
  const document = jsonDocument(textIn(file) ?? '')
  return document.ok ? ask(document.value) : undefined
}

const textIn = (file: string): string | undefined => {
  const read = readSettingsFile(file)
  return read.ok ? read.value.bytes?.toString('utf8') : undefined
}

const hooksState = (document: JsonDocument, { hooks, program }: WantedHooks): State => {
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

const statusLineState = (document: JsonDocument, program: string): State => {
  const line = statusLineIn(document)
  if (line === undefined) return ABSENT
  if (!line.isOurs) return { state: 'foreign', detail: 'a status line of your own' }
  return line.program === program ? { state: 'installed' } : { state: 'outdated', detail: `started as ${line.program}` }
}

const serverState = (there: ServerStart | 'unknown' | undefined, wanted: ServerStart): State => {
  if (there === undefined) return ABSENT
  if (there === 'unknown' || !isOwnServer(there))
    return { state: 'foreign', detail: 'a server of that name that is not ours' }
  return isSameStart(there, wanted)
    ? { state: 'installed' }
    : { state: 'outdated', detail: `started as ${[there.command, ...there.args].join(' ')}` }
}

const commandState = (file: string, { program, shippedCommand }: Wanted): FoundPart => {
  const text = textIn(file)
  if (text === undefined) return { part: 'command', file, ...ABSENT }
  if (text === handoffCommand(shippedCommand, program.words)) return { part: 'command', file, state: 'installed' }
  if (isHandoffCommand(shippedCommand, text)) return { part: 'command', file, state: 'outdated' }
  return { part: 'command', file, state: 'foreign', detail: 'another file, or one that was changed' }
}
