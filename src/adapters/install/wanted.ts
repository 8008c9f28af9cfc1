import { quoted } from '../../processes/quoted.ts'
import type { WantedHooks } from './hook-entries.ts'
import type { OwnProgram } from './own-program.ts'
import type { ServerStart } from './server-entry.ts'

/** The parts of an installation. */
export const PARTS = ['hooks', 'statusLine', 'mcp', 'command'] as const

/** One of the parts. */
export type Part = (typeof PARTS)[number]

/** How git treats the files of a project: the list of ignored files of this clone, and each file by its path. */
export interface GitFiles {
  readonly excludeFile: string
  /** The folder, from the root of the repository on. */
  readonly prefix: string
  readonly files: Readonly<Record<string, { readonly state: 'tracked' | 'ignored' | 'open'; readonly pattern: string }>>
}

/** The entries that are to be in the settings of an agent. */
export interface Wanted {
  readonly program: OwnProgram
  /** The hooks of each agent by the agent's name: its name of each, and the word after `baton hook`. */
  readonly hooks: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly parts: readonly Part[]
  /** The folder of the service, where the person named one. */
  readonly dataDir?: string
  /** The command file that comes with the package. */
  readonly shippedCommand: string
}

/** Flags that every command of ours gets. */
export const flagsOf = ({ dataDir }: Wanted): string => (dataDir === undefined ? '' : ` --data-dir ${quoted(dataDir)}`)

/** The hooks of an agent with the commands that answer them. */
export const hooksOf = (agent: string, wanted: Wanted, more = ''): WantedHooks => {
  const { launcher } = wanted.program
  const commands = Object.entries(wanted.hooks[agent] ?? {}).map(([name, event]) => [
    name,
    `${launcher} hook ${event}${more}${flagsOf(wanted)}`,
  ])
  return { program: launcher, hooks: Object.fromEntries(commands) as Record<string, string> }
}

/** How the MCP server is started. */
export const serverStartOf = ({ program, dataDir }: Wanted): ServerStart => ({
  command: program.start.command,
  args: [...program.start.args, 'mcp', ...(dataDir === undefined ? [] : ['--data-dir', dataDir])],
})
