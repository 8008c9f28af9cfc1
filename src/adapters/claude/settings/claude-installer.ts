import type { AgentInstaller, Installation } from '../../install/installation.ts'
import type { PartState } from '../../install/look.ts'
import type { GitFiles, Wanted } from '../../install/wanted.ts'
import { claudeEdits, projectFilesOf } from './claude-entries.ts'
import type { ClaudeScope } from './claude-files.ts'
import { lookAtClaude, pluginScope } from './claude-look.ts'

/** Installs in one scope of Claude Code. */
export const claudeInstaller = (scope: ClaudeScope): AgentInstaller => ({
  name: 'claude',
  edits: ({ place, wanted, git }) => claudeEdits(scope, place, wanted, git),
  projectFiles: (place) => projectFilesOf(scope, place),
  beside: besideThePlugin,
  remarks: ({ wanted: { program }, git }) => [
    ...(scope === 'project' && program.start.args.length > 0 && program.shared === undefined
      ? [
          'A path of this machine is now in settings that others share. With baton on the PATH it would be its name alone.',
        ]
      : []),
    ...(git === undefined ? [] : gitRemarks(scope, git)),
  ],
})

/** The plugin brings all but the status line. Both would tell the service everything twice. */
const besideThePlugin = ({
  place,
  wanted,
  folder,
}: Installation): { readonly wanted: Wanted; readonly remarks: readonly string[] } => {
  if (pluginScope(place) === undefined) return { wanted, remarks: [] }
  const parts = wanted.parts.filter((part) => part === 'statusLine')
  const doubled = lookAtClaude(place, wanted, folder).flatMap(({ scope, parts }) =>
    parts.some(({ part, state }) => part !== 'statusLine' && OURS.includes(state)) ? [scope] : [],
  )
  const remove = doubled.map((scope) => `"baton claude uninstall --scope ${scope}"`).join(' and ')
  return {
    wanted: { ...wanted, parts },
    remarks: [
      'The plugin is switched on and brings the rest: only the status line is installed.',
      ...(doubled.length > 0
        ? [
            `The settings name hooks, server or command too, so each event is told twice: run ${remove}, then this again; or remove the plugin.`,
          ]
        : []),
    ],
  }
}

const OURS: readonly PartState[] = ['installed', 'incomplete', 'outdated']

/** Files that others get though they are one person's, or do not get though they are for everybody. */
const gitRemarks = (scope: ClaudeScope, { files }: GitFiles): readonly string[] => {
  const those = (wanted: string) =>
    Object.entries(files).flatMap(([file, { state }]) => (state === wanted ? [file] : []))
  const settings = those('tracked').filter((file) => file.endsWith('.json'))
  if (scope === 'local')
    return settings.map((file) => `Git keeps ${file}, so others get these entries too: take it out (git rm --cached).`)
  return those('ignored').map((file) => `Git ignores ${file}, so others do not get it.`)
}
