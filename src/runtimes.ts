import { commandRuntime } from './adapters/runtime/command-runtime.ts'
import type { AgentRuntime } from './ports/agent-runtime.ts'
import type { WindowReader } from './ports/window-reader.ts'

/** What may be chosen of a runtime that is named; each takes what it knows. */
export interface RuntimeChoices {
  readonly model?: string
  /** The program to run, where it is not the usual one. */
  readonly command?: string
  readonly permissionMode?: string
  /** Whether the runtime may make room by itself; it may unless this is false. */
  readonly autoCompact?: boolean
  /** The environment of what is run. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Who may know what a command of one's own writes. */
  readonly readers: readonly WindowReader[]
}

/** A runtime that is not here: it is not installed, or not part of this version. */
export class RuntimeNotAvailable extends Error {
  override readonly name = 'RuntimeNotAvailable'
}

const notAvailable = (name: string) => (): AgentRuntime => {
  throw new RuntimeNotAvailable(`The runtime "${name}" is not available in this version.`)
}

interface NamedRuntime {
  /** What sessions of it say that they run on. */
  readonly backend: string
  readonly make: (choices: RuntimeChoices) => AgentRuntime
}

/** Every runtime that has a name, each with the backend its sessions are kept under. */
const RUNTIMES = {
  // MERGE: agentSdkRuntime and claudeCommandRuntime of adapters/claude, codexRuntime of adapters/codex, one line each.
  'claude-sdk': { backend: 'claude_agent_sdk', make: notAvailable('claude-sdk') },
  claude: { backend: 'claude_code', make: notAvailable('claude') },
  codex: { backend: 'codex', make: notAvailable('codex') },
  command: {
    backend: 'command',
    make: ({ command, environment, readers }) => {
      if (command === undefined) throw new RuntimeNotAvailable('The runtime "command" needs the command to run.')
      return commandRuntime({ command, readers, ...(environment !== undefined && { environment }) })
    },
  },
} as const satisfies Record<string, NamedRuntime>

/** The name of a runtime. */
export type RuntimeName = keyof typeof RUNTIMES

/** The names of all runtimes there are. */
export const RUNTIME_NAMES = Object.keys(RUNTIMES) as readonly RuntimeName[]

/** The backend that sessions of a runtime are kept under. */
export const backendOf = (name: RuntimeName): string => RUNTIMES[name].backend

/**
 * A runtime by its name.
 *
 * @throws RuntimeNotAvailable when it cannot be made here
 */
export const runtimeNamed = (name: RuntimeName, choices: RuntimeChoices): AgentRuntime => RUNTIMES[name].make(choices)
