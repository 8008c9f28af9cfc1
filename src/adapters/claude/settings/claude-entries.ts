import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { SettingsPlace } from '../../../ports/agent/vendor.ts'
import { excludeEdit, serverEdit, settingsEdit, wholeFileEdit } from '../../install/edits.ts'
import type { FileEdit } from '../../install/file-edit.ts'
import { handoffCommand, isHandoffCommand } from '../../install/handoff-command.ts'
import type { WantedHooks } from '../../install/hook-entries.ts'
import type { Holder } from '../../install/receipts.ts'
import { flagsOf, type GitFiles, hooksOf, serverStartOf, type Wanted } from '../../install/wanted.ts'
import { type ClaudeScope, claudeFolderOf, claudeServersOf, claudeSettingsOf, commandFileOf } from './claude-files.ts'
import { realFolder } from './claude-project.ts'

/** The entries of a scope: settings that others share name no path of this machine, where that can be. */
export const wantedIn = (scope: ClaudeScope, wanted: Wanted): Wanted =>
  scope === 'project' ? { ...wanted, program: { ...wanted.program, ...wanted.program.shared } } : wanted

/** The hooks that Claude Code is to call. */
export const claudeHooksOf = (wanted: Wanted): WantedHooks => hooksOf('claude', wanted)

/** The files of a scope that stand in the folder of the project, by their paths in it. */
export const projectFilesOf = (scope: ClaudeScope, place: SettingsPlace): readonly string[] => {
  if (scope === 'user') return []
  const files = [claudeSettingsOf(scope, place), commandFileOf(scope, place)]
  const all = scope === 'project' ? [...files, claudeServersOf(scope, place).file] : files
  return all.map((file) => relative(place.workingFolder, file).replaceAll('\\', '/'))
}

/** Keeps the files of one person out of git. Those that others have already are not our matter. */
const ignoredEdit = (place: SettingsPlace, wanted: Wanted, git: GitFiles): FileEdit => {
  const [settings = '', command = ''] = projectFilesOf('local', place)
  const isOpen = (file: string): boolean => git.files[file]?.state === 'open'
  const isNew = wanted.parts.includes('command') && !existsSync(join(place.workingFolder, command))
  const own = [...(isOpen(settings) ? [settings] : []), ...(isOpen(command) && isNew ? [command] : [])]
  const linesOf = (files: readonly string[]) => files.flatMap((file) => git.files[file]?.pattern ?? [])
  const edit = excludeEdit({ path: git.excludeFile, lines: linesOf([settings, command]), wanted: linesOf(own) })
  return { ...edit, holder: { ...claudeHolder('local', place), slot: `/${git.prefix}` } }
}

/** The files of an installation in a scope of Claude Code. A part that is not wanted is still found when it is to go. */
export const claudeEdits = (
  scope: ClaudeScope,
  place: SettingsPlace,
  all: Wanted,
  git?: GitFiles,
): readonly FileEdit[] => {
  const wanted = wantedIn(scope, all)
  const { parts, program, shippedCommand } = wanted
  const { file, list, isLive } = claudeServersOf(scope, place)
  const holder = claudeHolder(scope, place)
  const server = serverEdit(file, list, parts.includes('mcp') ? serverStartOf(wanted) : undefined, isLive)
  const edits = [
    settingsEdit({
      path: claudeSettingsOf(scope, place),
      ...(parts.includes('hooks') && { hooks: claudeHooksOf(wanted) }),
      ...(parts.includes('statusLine') && { statusLine: { program: program.launcher, flags: flagsOf(wanted) } }),
    }),
    // The scopes of a person share that file, each with a list of its own.
    isLive === true ? { ...server, holder: { ...holder, slot: JSON.stringify(list) } } : server,
    wholeFileEdit({
      path: commandFileOf(scope, place),
      content: parts.includes('command') ? handoffCommand(shippedCommand, program.words) : undefined,
      isOurs: (text) => isHandoffCommand(shippedCommand, text),
      isBorrowed: scope === 'local',
    }),
  ]
  const local = scope === 'local' && git !== undefined ? [ignoredEdit(place, wanted, git)] : []
  return [...local, ...edits].map((edit) => ({ holder, ...edit }))
}

/** The name of an installation in Claude Code, for files that it shares with others. */
export const claudeHolder = (scope: ClaudeScope, place: SettingsPlace): Holder => ({
  scope,
  folder: realFolder(scope === 'user' ? claudeFolderOf(scope, place) : place.workingFolder),
})
