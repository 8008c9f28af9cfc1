import type { SettingsPlace } from '../../../ports/agent/vendor.ts'
import { settingsEdit, tomlEdit } from '../../install/edits.ts'
import type { FileEdit } from '../../install/file-edit.ts'
import type { WantedHooks } from '../../install/hook-entries.ts'
import type { AgentInstaller } from '../../install/installation.ts'
import { type FoundPart, findPart, hooksState, serverState, textIn } from '../../install/look.ts'
import { tomlServerIn } from '../../install/toml-server.ts'
import { hooksOf, serverStartOf, type Wanted } from '../../install/wanted.ts'
import { codexFilesOf } from './codex-files.ts'

/** Installs in the settings of a person. */
export const codexInstaller: AgentInstaller = {
  name: 'codex',
  edits: ({ place, wanted }) => codexEdits(place, wanted),
  remarks: () => [
    'Codex runs new hooks once you have trusted them: start it and say yes, or look at /hooks.',
    'Codex has no status line that another program draws.',
  ],
}

/** The hooks that Codex is to call. */
const codexHooksOf = (wanted: Wanted): WantedHooks => hooksOf('codex', wanted, ' --runtime codex')

/** The files of an installation in Codex. */
const codexEdits = (place: SettingsPlace, wanted: Wanted): readonly FileEdit[] => {
  const { parts } = wanted
  const files = codexFilesOf(place)
  return [
    settingsEdit({ path: files.hooks, ...(parts.includes('hooks') && { hooks: codexHooksOf(wanted) }) }),
    tomlEdit(files.configuration, parts.includes('mcp') ? serverStartOf(wanted) : undefined),
  ]
}

/** Looks at Codex. */
export const lookAtCodex = (place: SettingsPlace, wanted: Wanted): readonly FoundPart[] => {
  const files = codexFilesOf(place)
  const text = textIn(files.configuration)
  const server = text === undefined ? undefined : tomlServerIn(text)
  return [
    findPart('hooks', files.hooks, (document) => hooksState(document, codexHooksOf(wanted))),
    {
      part: 'mcp',
      file: files.configuration,
      ...serverState(server === 'foreign' ? 'unknown' : server, serverStartOf(wanted)),
    },
  ]
}
