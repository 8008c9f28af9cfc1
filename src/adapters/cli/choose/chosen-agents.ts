import { existsSync } from 'node:fs'
import { defined } from '../../../domain/kernel/defined.ts'
import { nearestWord } from '../../../domain/kernel/nearest-word.ts'
import type { ConfiguredAgent } from '../../../domain/run/configured-agent.ts'
import { permissionProblem } from '../../../domain/run/permission-mode.ts'
import {
  inSentence,
  installedRuntime,
  PERMISSION_MODES,
  RUNTIME_NAMES,
  RUNTIMES,
  runtimeNamed,
} from '../../../main/runtimes.ts'
import type { AgentRuntime } from '../../../ports/agent/agent-runtime.ts'
import type { RuntimeChoices } from '../../../ports/agent/vendor.ts'
import { agentEnvironment } from '../../../processes/agent-environment.ts'
import type { CastMember } from '../../../services/run/cast.ts'
import { UsageError } from '../invocation/command-problems.ts'
import type { Invocation } from '../invocation/invocation.ts'
import { plain } from '../render/text.ts'
import { parsedFlag, textFlag, wordFlag } from './flag-values.ts'

/** Flags that are about one agent, and so not about several. */
const OF_ONE = ['config', 'runtime', 'command', 'model', 'context-limit', 'resume'] as const

/** The agents of a file as a cast, and the one that begins: the first, unless a flag names another. */
export interface ChosenCast {
  readonly start: ConfiguredAgent
  readonly runtimes: readonly RuntimeOfAgent[]
  readonly agents: Readonly<Record<string, CastMember>>
}

/** @throws UsageError when there are no agents, or a flag does not go with several */
export const castFrom = async (invocation: Invocation, configured: readonly ConfiguredAgent[]): Promise<ChosenCast> => {
  const stray = OF_ONE.find((flag) => invocation.values[flag] !== undefined)
  if (stray !== undefined)
    throw new UsageError(`--${stray} does not go with --agents: write it in that file, for the agent that it is about.`)
  mustNotBePlaced(invocation, configured)
  const [first] = configured
  if (first === undefined)
    throw new UsageError('--agents: the file names no agents. Write agents: [{ name: writer, runtime: claude }].')
  const start = invocation.values.agent === undefined ? first : (agentFrom(invocation, configured) ?? first)
  const memberOf = async (agent: ConfiguredAgent): Promise<CastMember> => {
    const flags = asConfigured(invocation, agent)
    const name = chosenRuntime(flags)
    runtimes.push({ agent: agent.name, name, isFound: runtimeName(flags) === undefined })
    return defined({ runtime: await runtimeFrom(flags, name, agent.name), model: agent.model })
  }
  const runtimes: RuntimeOfAgent[] = []
  const agents: Record<string, CastMember> = {}
  for (const agent of configured) agents[agent.name] = await memberOf(agent)
  return { start, agents, runtimes }
}

/** Flags about the place of the work. They would move agents that have a place of their own. */
const OF_PLACE = ['cwd', 'worktree', 'branch', 'base-branch'] as const

const mustNotBePlaced = ({ values }: Invocation, configured: readonly ConfiguredAgent[]): void => {
  for (const { place } of configured)
    for (const path of [place?.workspace?.workingDirectory, place?.workspace?.worktreePath])
      if (path !== undefined && !existsSync(path)) throw new UsageError(`There is no folder "${path}".`)
  const stray = OF_PLACE.find((flag) => values[flag] !== undefined)
  const placed = configured.find(({ place }) => place !== undefined)
  if (stray === undefined || placed === undefined) return
  const advice = 'Leave the flag out, or write the place of every agent in that file.'
  throw new UsageError(
    `--${stray} does not go with the agent "${plain(placed.name)}", which has a workspace. ${advice}`,
  )
}

/**
 * The agent of a configuration that a flag names. One that is the only one need not be named.
 *
 * @throws UsageError when there is no such agent, or several and none is named
 */
export const agentFrom = (invocation: Invocation, agents: readonly ConfiguredAgent[]): ConfiguredAgent | undefined => {
  const named = textFlag(invocation, 'agent')?.trim()
  const names = agents.map(({ name }) => name)
  if (names.length === 0) return undefined
  if (named === undefined && names.length > 1)
    throw new UsageError(`The configuration has several agents. Name one with --agent: ${listed(names)}.`)
  const found = named === undefined ? agents[0] : agents.find(({ name }) => name === named)
  if (found !== undefined) return found
  const nearest = nearestWord(named ?? '', names)
  const advice = nearest === undefined ? `It has: ${listed(names)}.` : `Did you mean "${plain(nearest)}"?`
  throw new UsageError(`--agent: the configuration has no agent "${plain(named ?? '')}". ${advice}`)
}

const listed = (names: readonly string[]): string => names.map(plain).join(', ')

/** The flags as they would be had the agent's runtime, command, model and permission mode been written out. What a flag says counts. */
export const asConfigured = (invocation: Invocation, agent: ConfiguredAgent | undefined): Invocation => {
  if (agent === undefined) return invocation
  const { runtime, command, model, permissionMode } = agent
  const { values } = invocation
  const isChosen = values.runtime !== undefined || values.command !== undefined
  // Another runtime has other words for what an agent may do.
  const own = isChosen ? { model } : { runtime, command, model, 'permission-mode': permissionMode }
  return { ...invocation, values: { ...defined(own), ...values } }
}

/** The runtime that is named; a command needs no name. */
export const runtimeName = (invocation: Invocation): string | undefined =>
  parsedFlag(invocation, 'runtime', wordFlag(RUNTIME_NAMES)) ??
  (textFlag(invocation, 'command') === undefined ? undefined : 'command')

/** The runtime of an agent, and whether it was found rather than named. */
export interface RuntimeOfAgent {
  readonly agent: string
  readonly name: string
  readonly isFound: boolean
}

/** The runtimes of a run in one line: it is the first thing that a run says. */
export const runtimesText = (runtimes: readonly RuntimeOfAgent[]): string => {
  const [only] = runtimes
  if (only === undefined || runtimes.length > 1)
    return `runtimes: ${runtimes.map(({ agent, name }) => `${plain(agent)} on ${name}`).join(', ')}`
  return `runtime: ${only.name}${only.isFound ? ', the first that is installed; --runtime names another' : ''}`
}

/** The runtime that is named, or the first one that is installed. @throws RuntimeFailure when none is */
export const chosenRuntime = (invocation: Invocation): string =>
  runtimeName(invocation) ?? installedRuntime({ environment: agentEnvironment(invocation.environment) })

/**
 * The runtime of a name, with what the flags choose for it.
 *
 * @param agent whose runtime it is, where there are several
 * @throws UsageError when a flag is missing, or does not go with it
 */
export const runtimeFrom = async (invocation: Invocation, name: string, agent?: string): Promise<AgentRuntime> => {
  if (invocation.values['no-auto-compact'] !== undefined && RUNTIMES[name]?.takesAutoCompact !== true) {
    const taking = RUNTIME_NAMES.filter((each) => RUNTIMES[each]?.takesAutoCompact === true)
    throw new UsageError(`--no-auto-compact goes with --runtime ${inSentence(taking, 'or')}.`)
  }
  mustKnowMode(invocation, name, agent)
  const command = textFlag(invocation, 'command')
  if (name === 'command' && command === undefined) throw new UsageError('--runtime command goes with --command.')
  if (RUNTIMES[name]?.takesCommand === false && command !== undefined)
    throw new UsageError(`--command does not go with ${name}.`)
  return runtimeNamed(name, choices(invocation))
}

const mustKnowMode = (invocation: Invocation, name: string, agent: string | undefined): void => {
  const mode = textFlag(invocation, 'permission-mode')
  const found = mode === undefined ? undefined : permissionProblem(mode, name, PERMISSION_MODES)
  if (found === undefined) return
  const { problem, advice } = found
  const whose =
    agent === undefined
      ? advice
      : `The agent "${plain(agent)}" runs on ${name}. Write permission_mode for each agent in the file instead.`
  throw new UsageError(`--permission-mode: ${plain(problem)}. ${whose}`)
}

const choices = (invocation: Invocation): RuntimeChoices => ({
  ...defined({
    model: textFlag(invocation, 'model'),
    command: textFlag(invocation, 'command'),
    permissionMode: textFlag(invocation, 'permission-mode'),
    autoCompact: invocation.values['no-auto-compact'] === true ? false : undefined,
  }),
  environment: agentEnvironment(invocation.environment),
})
