// Parts for `baton claude` and `baton codex`: our entries in the settings of terminal agents.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { ClaudeScope } from '../adapters/claude/settings/claude-files.ts'
import { claudeInstaller } from '../adapters/claude/settings/claude-installer.ts'
import { codexInstaller } from '../adapters/codex/settings/codex-installer.ts'
import { gitFilesIn } from '../adapters/git/git-files.ts'
import {
  type AgentInstaller,
  type Installation as InstallationInFiles,
  install as installFiles,
  uninstall as uninstallFiles,
} from '../adapters/install/installation.ts'
import { ownProgram } from '../adapters/install/own-program.ts'
import { PARTS, type Part, type Wanted } from '../adapters/install/wanted.ts'
import { defined } from '../domain/kernel/defined.ts'
import { ok, type Result } from '../domain/kernel/result.ts'
import { TERMINAL_AGENTS } from './runtimes.ts'

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
  const hooks = Object.fromEntries(TERMINAL_AGENTS.map((agent) => [agent.name, agent.hooks]))
  return ok({ program: program.value, hooks, parts, shippedCommand, ...defined({ dataDir }) })
}

/** The agent whose settings are changed. */
export type Agent = { readonly name: 'claude'; readonly scope: ClaudeScope } | { readonly name: 'codex' }

/** One installation: whose settings, where they are, and what is to be in them. */
export interface Installation extends InstallationInFiles {
  readonly agent: Agent
}

/** Puts our entries into the settings of an agent, all of them or none. Files of one person are kept out of git. */
export const install = async (installation: Installation) =>
  installFiles(await withGit(installation), installerOf(installation.agent))

/** Takes our entries out again. A file that nobody has changed since is given back byte for byte. */
export const uninstall = async (installation: Installation) =>
  uninstallFiles(await withGit(installation), installerOf(installation.agent))

const installerOf = (agent: Agent): AgentInstaller =>
  agent.name === 'claude' ? claudeInstaller(agent.scope) : codexInstaller

const withGit = async (installation: Installation): Promise<Installation> => {
  const { agent, place } = installation
  const files = installerOf(agent).projectFiles?.(place) ?? []
  if (files.length === 0) return installation
  return { ...installation, ...defined({ git: await gitFilesIn(place.workingFolder, files) }) }
}

export { CLAUDE_SCOPES, type ClaudeScope } from '../adapters/claude/settings/claude-files.ts'
export { lookAtClaude } from '../adapters/claude/settings/claude-look.ts'
export { lookAtCodex } from '../adapters/codex/settings/codex-installer.ts'
export type { Installed } from '../adapters/install/installation.ts'
export type { FoundPart } from '../adapters/install/look.ts'
export type { Part } from '../adapters/install/wanted.ts'
export { homeStore } from '../adapters/place/home-folder.ts'
