// Parts for `baton claude` and `baton codex`: our entries in the settings of terminal agents.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gitFilesIn } from '../adapters/git/git-files.ts'
import { PARTS, type Part, projectFilesOf, type Wanted } from '../adapters/install/agents.ts'
import {
  type Installation,
  install as installFiles,
  uninstall as uninstallFiles,
} from '../adapters/install/installation.ts'
import { ownProgram } from '../adapters/install/own-program.ts'
import { defined } from '../domain/kernel/defined.ts'
import { ok, type Result } from '../domain/kernel/result.ts'

/** The choices of a person. */
export interface InstallChoices {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The words that start this program, where the usual ones are not meant. */
  readonly command?: string
  /** The folder of the service, where the hooks are to name it. */
  readonly dataDir?: string
  /** The parts that are left out. */
  readonly without: readonly Part[]
}

const SCRIPT = fileURLToPath(new URL('../adapters/cli/main.js', import.meta.url))
const COMMAND_FILE = new URL('../../plugin/commands/handoff.md', import.meta.url)

/** Describes the entries that are to be in the settings. @returns a sentence where it is not known how to start this program */
export const wantedBy = ({ environment, command, dataDir, without }: InstallChoices): Result<Wanted, string> => {
  const program = ownProgram({ environment, script: SCRIPT, ...defined({ named: command }) })
  if (!program.ok) return program
  const parts = PARTS.filter((part) => !without.includes(part))
  const shippedCommand = readFileSync(COMMAND_FILE, 'utf8')
  return ok({ program: program.value, parts, shippedCommand, ...defined({ dataDir }) })
}

/** Puts our entries into the settings of an agent, all of them or none. Files of one person are kept out of git. */
export const install = async (installation: Installation) => installFiles(await withGit(installation))

/** Takes our entries out again. A file that nobody has changed since is given back byte for byte. */
export const uninstall = async (installation: Installation) => uninstallFiles(await withGit(installation))

const withGit = async (installation: Installation): Promise<Installation> => {
  const { agent, place } = installation
  if (agent.name !== 'claude' || agent.scope === 'user') return installation
  const git = await gitFilesIn(place.workingFolder, projectFilesOf(agent.scope, place))
  return { ...installation, ...defined({ git }) }
}

export { CLAUDE_SCOPES, type ClaudeScope } from '../adapters/install/agent-settings.ts'
export type { Part } from '../adapters/install/agents.ts'
export type { Agent, Installation, Installed } from '../adapters/install/installation.ts'
export { type FoundPart, lookAtClaude, lookAtCodex } from '../adapters/install/look.ts'
export { homeStore } from '../adapters/place/home-folder.ts'
