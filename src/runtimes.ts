import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join, sep } from 'node:path'
import { agentSdkRuntime } from './adapters/claude/agent-sdk-runtime.ts'
import { agentSdkSummarizer } from './adapters/claude/agent-sdk-summarizer.ts'
import { claudeCommandRuntime } from './adapters/claude/claude-command-runtime.ts'
import { codexRuntime } from './adapters/codex/codex-runtime.ts'
import { commandRuntime } from './adapters/runtime/command-runtime.ts'
import { defined } from './domain/kernel/defined.ts'
import type { AgentRuntimeName } from './domain/run/agent-settings.ts'
import type { AgentRuntime } from './ports/agent-runtime.ts'
import { RuntimeFailure } from './ports/runtime-failure.ts'
import type { Summarizer } from './ports/summarizer.ts'
import type { WindowReader } from './ports/window-reader.ts'

/** Options of a runtime that is chosen by name; each runtime takes the ones it knows. */
export interface RuntimeChoices {
  readonly model?: string
  /** The program to run, where it is not the usual one. */
  readonly command?: string
  readonly permissionMode?: string
  /** Whether the runtime may make room by itself; it may unless this is false. */
  readonly autoCompact?: boolean
  /** The environment of what is run. */
  readonly environment?: Environment
  /** Who may know what a command of one's own writes. */
  readonly readers: readonly WindowReader[]
}

/** A package that a runtime needs, and that is there only where somebody installed it. */
const needs = (name: string, packageName: string): void => {
  try {
    createRequire(import.meta.url).resolve(packageName)
  } catch (cause) {
    // A package that can only be imported, and not required, is installed too.
    if ((cause as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') return
    const hint = `It is optional: npm install ${packageName}, beside batonpass.`
    const problem = `The runtime "${name}" needs the package ${packageName}, which is not installed. ${hint}`
    throw new RuntimeFailure('runtime.missing', problem, { cause })
  }
}

/** A command that a runtime needs, by its path or in one of the places that commands are looked for in. */
const needsCommand = (name: string, command: string, { PATH = '' }: Environment = process.env): void => {
  const places = command.includes(sep) ? [command] : PATH.split(delimiter).map((place) => join(place, command))
  if (places.some((place) => existsSync(place))) return
  const problem = `The runtime "${name}" needs the command ${command}, which was not found.`
  throw new RuntimeFailure('runtime.missing', `${problem} Install it, or name it with its path.`)
}

type Environment = Readonly<Record<string, string | undefined>>

interface NamedRuntime {
  /** The backend that its sessions name. */
  readonly backend: string
  readonly make: (choices: RuntimeChoices) => AgentRuntime
}

/** Every runtime that has a name, each with the backend its sessions are kept under. */
const RUNTIMES = {
  'claude-sdk': {
    backend: 'claude_agent_sdk',
    make: ({ model, autoCompact, permissionMode, environment: env }) => {
      needs('claude-sdk', '@anthropic-ai/claude-agent-sdk')
      const mayDoAnything = permissionMode === 'bypassPermissions'
      const allowDangerouslySkipPermissions = mayDoAnything ? true : undefined
      const options = defined({ permissionMode, allowDangerouslySkipPermissions, env })
      return agentSdkRuntime(defined({ model, autoCompact, options }))
    },
  },
  claude: {
    backend: 'claude_code',
    make: ({ model, command, autoCompact, permissionMode, environment: env }) => {
      needsCommand('claude', command ?? 'claude', env)
      return claudeCommandRuntime(defined({ model, command, autoCompact, permissionMode, env }))
    },
  },
  codex: {
    backend: 'codex',
    make: ({ model, command: codexPathOverride, environment = {} }) => {
      needs('codex', '@openai/codex-sdk')
      const env: Record<string, string> = {}
      for (const [name, value] of Object.entries(environment)) if (value !== undefined) env[name] = value
      return codexRuntime({ codex: defined({ codexPathOverride, env }), thread: defined({ model }) })
    },
  },
  command: {
    backend: 'command',
    make: ({ command, environment, readers }) => {
      if (command === undefined)
        throw new RuntimeFailure('runtime.missing', 'The runtime "command" needs the command to run.')
      return commandRuntime({ command, readers, ...(environment !== undefined && { environment }) })
    },
  },
} as const satisfies Record<AgentRuntimeName, NamedRuntime>

/** The name of a runtime. */
export type RuntimeName = keyof typeof RUNTIMES

/** The names of all runtimes there are. */
export const RUNTIME_NAMES = Object.keys(RUNTIMES) as readonly RuntimeName[]

/** The backend that sessions of a runtime are kept under. */
export const backendOf = (name: RuntimeName): string => RUNTIMES[name].backend

/** Claude as a summarizer: the record is quoted where it cannot be asked. */
export const claudeSummarizer = (model: string): Summarizer => agentSdkSummarizer({ model })

/**
 * A runtime by its name.
 *
 * @throws RuntimeFailure when it cannot be made here
 */
export const runtimeNamed = (name: RuntimeName, choices: RuntimeChoices): AgentRuntime => RUNTIMES[name].make(choices)
