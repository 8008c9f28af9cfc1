import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join, sep } from 'node:path'
import { claude } from '../adapters/claude/vendor.ts'
import { codex } from '../adapters/codex/vendor.ts'
import type { PermissionModes } from '../domain/run/permission-mode.ts'
import type { AgentRuntime } from '../ports/agent/agent-runtime.ts'
import { RuntimeFailure } from '../ports/agent/runtime-failure.ts'
import type { Summarizer } from '../ports/agent/summarizer.ts'
import type { AgentVendor, RuntimeChoices, TerminalAgent, VendorRuntime } from '../ports/agent/vendor.ts'
import type { WindowReader } from '../ports/agent/window-reader.ts'
import type { TerminalReaders } from '../services/terminal/terminal-deps.ts'

/** Every agent there is. A new one is a folder with a `vendor.ts`, and a line here. */
export const VENDORS: readonly AgentVendor[] = [claude, codex]

/** The agents whose terminal sessions can be followed; the first is meant where a hook names none. */
export const TERMINAL_AGENTS: readonly TerminalAgent[] = VENDORS.flatMap(({ name, memoryFiles, terminal }) =>
  terminal === undefined ? [] : [{ ...terminal, name, memoryFiles }],
)

/** The memory file names of every agent. */
export const MEMORY_FILES: readonly string[] = VENDORS.flatMap(({ memoryFiles: { file, untracked } }) =>
  untracked === undefined ? [file] : [file, untracked],
)

/** The agent that a backend is of. */
export const vendorOf = (backend: string): AgentVendor | undefined =>
  VENDORS.find(({ name }) => backend.startsWith(name))

/** The memory files of the agent that a backend is of; of any other one those of the first. */
export const memoryFilesOf = (backend: string): AgentVendor['memoryFiles'] =>
  (vendorOf(backend) ?? VENDORS[0] ?? claude).memoryFiles

/** The session of an agent that our program was typed in, where its tools say so. */
export const sessionAround = (environment: Environment): string | undefined =>
  TERMINAL_AGENTS.map(({ variables }) => environment[variables.session ?? '']).find((session) => !!session)

/** The folder of the project that a terminal agent works in, where it says so. */
export const projectFolderAround = (environment: Environment): string | undefined =>
  TERMINAL_AGENTS.map(({ variables }) => environment[variables.projectFolder ?? '']).find((folder) => !!folder)

/**
 * The formats that can be read, the most particular first: an agent that came later may write records in the form of an
 * earlier one's, so the latest is asked first.
 */
export const FORMATS: readonly string[] = VENDORS.toReversed().flatMap(({ formats }) => formats)

/** The readers of every agent, in the order of `FORMATS`. */
export const windowReaders = async (): Promise<readonly WindowReader[]> =>
  (await Promise.all(VENDORS.toReversed().map(({ readers }) => readers()))).flat()

/** The readers of terminal sessions: of status lines the one there is, of transcripts one for each agent. */
export const terminalReaders = async (): Promise<TerminalReaders> => {
  const transcripts = new Map<string, WindowReader>()
  for (const {
    name,
    transcripts: { reader },
  } of TERMINAL_AGENTS)
    transcripts.set(name, await reader())
  const statusLine = await TERMINAL_AGENTS.find(({ statusLineReader }) => statusLineReader)?.statusLineReader?.()
  if (statusLine === undefined) throw new TypeError('No terminal agent has a status line')
  const readerOf = (runtime: string): WindowReader => {
    const reader = transcripts.get(runtime)
    if (reader === undefined) throw new TypeError(`There is no terminal agent "${runtime}"`)
    return reader
  }
  return { statusLine, transcripts: readerOf }
}

/** The summarizers that have a name: agents that can be asked for a single answer. */
export const SUMMARIZERS: readonly string[] = VENDORS.flatMap(({ name, summarizer }) => (summarizer ? [name] : []))

/**
 * An agent as a summarizer: the record is quoted where it cannot be asked.
 *
 * @param name the first of `SUMMARIZERS` unless given
 */
export const summarizerNamed = async (
  model?: string,
  name: string | undefined = SUMMARIZERS[0],
): Promise<Summarizer> => {
  const made = await VENDORS.find((vendor) => vendor.name === name)?.summarizer?.(model)
  if (made === undefined) throw new TypeError(`There is no summarizer "${name}".`)
  return made
}

type Environment = Readonly<Record<string, string | undefined>>

/** Names in a sentence: one, another and a third. */
export const inSentence = (names: readonly string[], joint: 'and' | 'or'): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} ${joint} ${names.at(-1)}`

/** Something that a runtime lacks, and how to get it. */
interface RuntimeProblem {
  readonly problem: string
  readonly advice: string
  readonly cause?: unknown
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

type Needed = Pick<RuntimeChoices, 'command' | 'environment'>

/** Why a runtime cannot be used here, if it cannot. */
const lackOf = ({ needs }: VendorRuntime, { command: named, environment }: Needed): RuntimeProblem | undefined => {
  const { packageName, command } = needs
  if (packageName === undefined)
    return command === undefined ? undefined : commandProblem(named ?? command, environment)
  const lacking = packageProblem(packageName)
  const isCommandThere = command !== undefined && commandProblem(command, environment) === undefined
  if (lacking === undefined || !isCommandThere) return lacking
  return {
    ...lacking,
    problem: `needs the package ${packageName} beside the command ${command}, and it is not installed`,
  }
}

/** A program of the caller's own, which is no agent that is known: the reader that recognises its output reads it. */
const OWN_COMMAND = 'command'

const ownCommand: VendorRuntime = {
  backend: OWN_COMMAND,
  needs: {},
  permissionModes: [],
  takesCommand: true,
  takesAutoCompact: false,
  make: async ({ command = '', environment }) => {
    const { commandRuntime } = await import('../adapters/runtime/command-runtime.ts')
    return commandRuntime({
      command,
      readers: await windowReaders(),
      ...(environment !== undefined && { environment }),
    })
  },
}

/** Every runtime that has a name. */
export const RUNTIMES: Readonly<Record<string, VendorRuntime>> = {
  ...Object.fromEntries(VENDORS.flatMap(({ runtimes }) => Object.entries(runtimes))),
  [OWN_COMMAND]: ownCommand,
}

/** The names of all runtimes there are. */
export const RUNTIME_NAMES: readonly string[] = Object.keys(RUNTIMES)

/** The runtimes of agents: those that are looked for when none is named, of which the first that is installed counts. */
export const AGENT_RUNTIMES: readonly string[] = RUNTIME_NAMES.filter((name) => name !== OWN_COMMAND)

/** The agents that a configuration can name. */
export const KNOWN_AGENTS = { runtimes: RUNTIMES, summarizers: SUMMARIZERS }

/** The permission modes of each runtime. */
export const PERMISSION_MODES: PermissionModes = Object.fromEntries(
  Object.entries(RUNTIMES).map(([name, { permissionModes }]) => [name, permissionModes]),
)

const named = (name: string): VendorRuntime => {
  const found = Object.hasOwn(RUNTIMES, name) ? RUNTIMES[name] : undefined
  if (found === undefined) throw new TypeError(`There is no runtime "${name}". There are ${RUNTIME_NAMES.join(', ')}.`)
  return found
}

/** The backend that sessions of a runtime are kept under. */
export const backendOf = (name: string): string => named(name).backend

/**
 * A runtime by its name.
 *
 * @throws RuntimeFailure when it cannot be made here
 */
export const runtimeNamed = async (name: string, choices: RuntimeChoices): Promise<AgentRuntime> => {
  const runtime = named(name)
  const lacking = name === OWN_COMMAND ? noCommand(choices) : lackOf(runtime, choices)
  if (lacking === undefined) return runtime.make(choices)
  const { problem, advice, cause } = lacking
  throw new RuntimeFailure('runtime.missing', `The runtime "${name}" ${problem}. ${advice}`, { cause })
}

const noCommand = ({ command }: Needed): RuntimeProblem | undefined =>
  command === undefined ? { problem: 'needs the command to run', advice: 'Give it one.' } : undefined

/**
 * The runtime of an agent that names none: the first that is installed.
 *
 * @throws RuntimeFailure when none of them is installed, with what each needs
 */
export const installedRuntime = (choices: Pick<RuntimeChoices, 'environment'>): string => {
  const found = AGENT_RUNTIMES.map((name) => ({ name, lacking: lackOf(named(name), choices) }))
  const installed = found.find(({ lacking }) => lacking === undefined)
  if (installed !== undefined) return installed.name
  const each = found.map(({ name, lacking }) => `"${name}" ${lacking?.problem}. ${lacking?.advice}`)
  const others = 'Or name a program of your own with --command.'
  throw new RuntimeFailure('runtime.missing', ['No runtime is installed.', ...each, others].join('\n  '))
}
