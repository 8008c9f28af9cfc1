import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join, sep } from 'node:path'
import { agentSdkReader } from '../adapters/claude/agent-sdk-reader.ts'
import { agentSdkRuntime } from '../adapters/claude/agent-sdk-runtime.ts'
import { agentSdkSummarizer } from '../adapters/claude/agent-sdk-summarizer.ts'
import { claudeCommandRuntime } from '../adapters/claude/claude-command-runtime.ts'
import { statusLineReader } from '../adapters/claude/status-line-reader.ts'
import { transcriptReader } from '../adapters/claude/transcript-reader.ts'
import { codexRuntime } from '../adapters/codex/codex-runtime.ts'
import { execReader } from '../adapters/codex/exec-reader.ts'
import { rolloutReader } from '../adapters/codex/rollout-reader.ts'
import { commandRuntime } from '../adapters/runtime/command-runtime.ts'
import { defined } from '../domain/kernel/defined.ts'
import type { AgentRuntimeName } from '../domain/run/agent-settings.ts'
import { PERMISSION_MODES } from '../domain/run/permission-mode.ts'
import type { AgentRuntime } from '../ports/agent/agent-runtime.ts'
import { RuntimeFailure } from '../ports/agent/runtime-failure.ts'
import type { Summarizer } from '../ports/agent/summarizer.ts'
import type { WindowReader } from '../ports/agent/window-reader.ts'

/** The readers of every runtime there is one for, the most particular first. */
export const WINDOW_READERS: readonly WindowReader[] = [
  rolloutReader,
  execReader,
  statusLineReader,
  transcriptReader,
  agentSdkReader,
]

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
const packageProblem = (packageName: string): RuntimeProblem | undefined => {
  try {
    createRequire(import.meta.url).resolve(packageName)
    return undefined
  } catch (cause) {
    // A package that can only be imported, and not required, is installed too.
    if ((cause as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') return undefined
    const advice = `It is optional: npm install ${packageName}, beside batonpass.`
    return { problem: `needs the package ${packageName}, which is not installed`, advice, cause }
  }
}

/** A command that a runtime needs, by its path or in one of the places that commands are looked for in. */
const commandProblem = (command: string, { PATH = '' }: Environment = process.env): RuntimeProblem | undefined => {
  const places = command.includes(sep) ? [command] : PATH.split(delimiter).map((place) => join(place, command))
  if (places.some((place) => existsSync(place))) return undefined
  const advice = 'Install it, or name it with its path.'
  return { problem: `needs the command ${command}, which was not found`, advice }
}

/** Something that a runtime lacks, and how to get it. */
interface RuntimeProblem {
  readonly problem: string
  readonly advice: string
  readonly cause?: unknown
}

type Environment = Readonly<Record<string, string | undefined>>

interface NamedRuntime {
  /** The backend that its sessions name. */
  readonly backend: string
  /** Why it cannot be used here, if it cannot. */
  readonly lacks: (choices: Pick<RuntimeChoices, 'command' | 'environment'>) => RuntimeProblem | undefined
  readonly make: (choices: RuntimeChoices) => AgentRuntime
}

/** Every runtime that has a name, each with the backend its sessions are kept under. */
const RUNTIMES = {
  'claude-sdk': {
    backend: 'claude_agent_sdk',
    lacks: () => packageProblem('@anthropic-ai/claude-agent-sdk'),
    make: ({ model, autoCompact, permissionMode, environment: env }) => {
      const mayDoAnything = permissionMode === 'bypassPermissions'
      const allowDangerouslySkipPermissions = mayDoAnything ? true : undefined
      const options = defined({ permissionMode, allowDangerouslySkipPermissions, env })
      return agentSdkRuntime(defined({ model, autoCompact, options }))
    },
  },
  claude: {
    backend: 'claude_code',
    lacks: ({ command = 'claude', environment }) => commandProblem(command, environment),
    make: ({ model, command, autoCompact, permissionMode, environment: env }) =>
      claudeCommandRuntime(defined({ model, command, autoCompact, permissionMode, env })),
  },
  codex: {
    backend: 'codex',
    lacks: ({ environment }) => {
      const lacking = packageProblem('@openai/codex-sdk')
      const isCommandThere = commandProblem('codex', environment) === undefined
      return lacking && isCommandThere
        ? {
            ...lacking,
            problem: 'needs the package @openai/codex-sdk beside the command codex, and it is not installed',
          }
        : lacking
    },
    make: ({ model, command: codexPathOverride, permissionMode, environment = {} }) => {
      const env: Record<string, string> = {}
      for (const [name, value] of Object.entries(environment)) if (value !== undefined) env[name] = value
      const sandboxMode = PERMISSION_MODES.codex.find((mode) => mode === permissionMode)
      return codexRuntime({ codex: defined({ codexPathOverride, env }), thread: defined({ model, sandboxMode }) })
    },
  },
  command: {
    backend: 'command',
    lacks: ({ command }) =>
      command === undefined ? { problem: 'needs the command to run', advice: 'Give it one.' } : undefined,
    make: ({ command = '', environment, readers }) =>
      commandRuntime({ command, readers, ...(environment !== undefined && { environment }) }),
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
export const runtimeNamed = (name: RuntimeName, choices: RuntimeChoices): AgentRuntime => {
  const lacking: RuntimeProblem | undefined = RUNTIMES[name].lacks(choices)
  if (lacking === undefined) return RUNTIMES[name].make(choices)
  const { problem, advice, cause } = lacking
  throw new RuntimeFailure('runtime.missing', `The runtime "${name}" ${problem}. ${advice}`, { cause })
}

/** The runtimes that are looked for when none is named, the first one that is installed counts. */
const USUAL = ['claude-sdk', 'claude', 'codex'] as const satisfies readonly RuntimeName[]

/**
 * The runtime of an agent that names none: the Agent SDK, else the command `claude`, else Codex.
 *
 * @throws RuntimeFailure when none of them is installed, with what each needs
 */
export const installedRuntime = (choices: Pick<RuntimeChoices, 'environment'>): RuntimeName => {
  const found = USUAL.map((name) => ({ name, lacking: RUNTIMES[name].lacks(choices) }))
  const installed = found.find(({ lacking }) => lacking === undefined)
  if (installed !== undefined) return installed.name
  const each = found.map(({ name, lacking }) => `"${name}" ${lacking?.problem}. ${lacking?.advice}`)
  const others = 'Or name a program of your own with --command.'
  throw new RuntimeFailure('runtime.missing', ['No runtime is installed.', ...each, others].join('\n  '))
}
