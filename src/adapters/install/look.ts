import {
  type AgentPlace,
  CLAUDE_SCOPES,
  type ClaudeScope,
  claudeSettingsOf,
  isOwnPlugin,
  ownHookIn,
} from '../../agent-settings.ts'
import {
  claudeHooksOf,
  claudeServersOf,
  codexFilesOf,
  codexHooksOf,
  commandFileOf,
  type Part,
  serverStartOf,
  type Wanted,
} from './agents.ts'
import { handoffCommand, isHandoffCommand } from './handoff-command.ts'
import { hookEntriesIn, type WantedHooks } from './hook-entries.ts'
import { type JsonDocument, jsonDocument } from './json-document.ts'
import { memberOf } from './json-tree.ts'
import { isOwnServer, isSameStart, type ServerStart, serverIn } from './server-entry.ts'
import { readSettingsFile } from './settings-file.ts'
import { statusLineIn } from './status-line-entry.ts'
import { tomlServerIn } from './toml-server.ts'

/** How a part of an installation stands. */
export type PartState = 'absent' | 'installed' | 'incomplete' | 'outdated' | 'foreign' | 'unreadable'

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
  /** The plugin is switched on by these settings. */
  readonly hasPlugin: boolean
}

/** Looks at every scope of Claude Code. Nothing is changed. */
export const lookAtClaude = (place: AgentPlace, wanted: Wanted): readonly FoundScope[] =>
  CLAUDE_SCOPES.map((scope) => {
    const file = claudeSettingsOf(scope, place)
    const servers = claudeServersOf(scope, place)
    return {
      scope,
      hasPlugin: onDocument(file, hasPlugin) === true,
      parts: [
        lookAt('hooks', file, (document) => hooksState(document, claudeHooksOf(wanted))),
        lookAt('statusLine', file, (document) => statusLineState(document, wanted.program.words)),
        lookAt('mcp', servers.file, (document) => serverState(serverIn(document, servers.list), serverStartOf(wanted))),
        commandState(commandFileOf(scope, place), wanted),
      ],
    }
  })

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

/** Whether the plugin is switched on in a scope. */
export const hasPluginIn = (scope: ClaudeScope, place: AgentPlace): boolean =>
  onDocument(claudeSettingsOf(scope, place), hasPlugin) === true

const hasPlugin = ({ root }: JsonDocument): boolean => {
  const plugins = memberOf(root, 'enabledPlugins')?.value
  const named = plugins?.kind === 'object' ? plugins.children : []
  return named.some(({ key, value }) => isOwnPlugin(key) && value.kind === 'scalar' && value.value === true)
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
