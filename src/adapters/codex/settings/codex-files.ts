import { join } from 'node:path'
import type { SettingsPlace, TerminalSettings } from '../../../ports/agent/vendor.ts'
import { homeOf } from '../../place/home-folder.ts'

/** The files of Codex in a folder: hooks, and configuration with MCP servers. */
interface CodexFiles {
  readonly hooks: string
  readonly configuration: string
}

const filesIn = (folder: string): CodexFiles => ({
  hooks: join(folder, 'hooks.json'),
  configuration: join(folder, 'config.toml'),
})

/** The files of Codex that belong to a person. */
export const codexFilesOf = ({ environment }: SettingsPlace): CodexFiles =>
  filesIn(environment.CODEX_HOME || join(homeOf(environment), '.codex'))

const projectFilesOf = ({ workingFolder }: SettingsPlace): CodexFiles => filesIn(join(workingFolder, '.codex'))

/** Where Codex looks for hooks and servers. */
export const codexSettings: TerminalSettings = {
  title: 'Codex',
  hookFiles: (place) => {
    const { hooks, configuration } = codexFilesOf(place)
    return [hooks, configuration, projectFilesOf(place).hooks]
  },
  serverLists: (place) =>
    [codexFilesOf(place), projectFilesOf(place)].map(({ configuration }) => ({
      file: configuration,
      list: ['mcp_servers'],
    })),
  removeServer: 'codex mcp remove',
}
