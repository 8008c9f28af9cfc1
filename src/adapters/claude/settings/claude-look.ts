import type { SettingsPlace } from '../../../ports/agent/vendor.ts'
import { handoffCommand, isHandoffCommand } from '../../install/handoff-command.ts'
import { type JsonDocument, jsonDocument, membersOf, valueAt } from '../../install/json-document.ts'
import {
  ABSENT,
  type FoundPart,
  findPart,
  hooksState,
  serverState,
  statusLineState,
  textIn,
} from '../../install/look.ts'
import { isOwnPlugin } from '../../install/own-hook.ts'
import { Receipts } from '../../install/receipts.ts'
import { serverIn } from '../../install/server-entry.ts'
import { readSettingsFile } from '../../install/settings-file.ts'
import { type Part, serverStartOf, type Wanted } from '../../install/wanted.ts'
import { claudeHolder, claudeHooksOf, wantedIn } from './claude-entries.ts'
import { CLAUDE_SCOPES, type ClaudeScope, claudeServersOf, claudeSettingsOf, commandFileOf } from './claude-files.ts'

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
export const lookAtClaude = (place: SettingsPlace, wanted: Wanted, folder: string): readonly FoundScope[] => {
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

const partsOf = (
  scope: ClaudeScope,
  place: SettingsPlace,
  wanted: Wanted,
  receipts: Receipts,
): readonly FoundPart[] => {
  const file = claudeSettingsOf(scope, place)
  const servers = claudeServersOf(scope, place)
  const command = commandFileOf(scope, place)
  return [
    findPart('hooks', file, (document) => hooksState(document, claudeHooksOf(wanted))),
    findPart('statusLine', file, (document) => statusLineState(document, wanted.program.launcher)),
    findPart('mcp', servers.file, (document) => serverState(serverIn(document, servers.list), serverStartOf(wanted))),
    ownerOf(command, scope, place, receipts) ?? commandState(command, wanted),
  ]
}

/** The scopes of a project share one file of `/baton:handoff`. It is in that scope which has put it there. */
const ownerOf = (file: string, scope: ClaudeScope, place: SettingsPlace, receipts: Receipts): FoundPart | undefined => {
  const read = readSettingsFile(file)
  if (scope === 'user' || !read.ok || read.value.bytes === undefined) return undefined
  const holders = receipts.read(read.value.target)?.holders ?? []
  const own = claudeHolder(scope, place)
  if (holders.some((one) => one.scope === own.scope && one.folder === own.folder)) return undefined
  // A file that nobody here has put there came with the project.
  const owner = holders[0]?.scope ?? 'project'
  return owner === scope ? undefined : { part: 'command', file, ...ABSENT, detail: `that one is of the scope ${owner}` }
}

/** The scope whose settings switch the plugin on here. Those that are nearer win: local, then project, then user. */
export const pluginScope = (place: SettingsPlace): ClaudeScope | undefined => {
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

const onDocument = <Answer>(file: string, ask: (document: JsonDocument) => Answer): Answer | undefined => {
  const document = jsonDocument(textIn(file) ?? '')
  return document.ok ? ask(document.value) : undefined
}

const commandState = (file: string, { program, shippedCommand }: Wanted): FoundPart => {
  const text = textIn(file)
  if (text === undefined) return { part: 'command', file, ...ABSENT }
  if (text === handoffCommand(shippedCommand, program.words)) return { part: 'command', file, state: 'installed' }
  if (isHandoffCommand(shippedCommand, text)) return { part: 'command', file, state: 'outdated' }
  return { part: 'command', file, state: 'foreign', detail: 'another file, or one that was changed' }
}
