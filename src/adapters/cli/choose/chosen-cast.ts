import { existsSync } from 'node:fs'
import { defined } from '../../../domain/kernel/defined.ts'
import type { ConfiguredAgent } from '../../../domain/run/agent-settings.ts'
import type { AgentRuntime } from '../../../ports/agent/agent-runtime.ts'
import type { CastMember } from '../../../services/run/cast.ts'
import { plain } from '../render/render-text.ts'
import type { Invocation } from '../tree/command.ts'
import { UsageError } from '../tree/problems.ts'
import { agentFrom, asConfigured } from './chosen-agent.ts'
import { chosenRuntime, type RuntimeOfAgent, runtimeFrom, runtimeName } from './chosen-runtime.ts'

/** Flags that are about one agent, and so not about several. */
const OF_ONE = ['config', 'runtime', 'command', 'model', 'context-limit', 'resume'] as const

/** The agents of a file as a cast, and the one that begins: the first, unless a flag names another. */
export interface ChosenCast {
  readonly start: ConfiguredAgent
  readonly runtimes: readonly RuntimeOfAgent[]
  readonly agents: Readonly<Record<string, CastMember>>
}

/** @throws UsageError when there are no agents, or a flag does not go with several */
export const castFrom = async (
  invocation: Invocation,
  configured: readonly ConfiguredAgent[],
  listened: (runtime: AgentRuntime) => AgentRuntime,
): Promise<ChosenCast> => {
  const stray = OF_ONE.find((flag) => invocation.values[flag] !== undefined)
  if (stray !== undefined)
    throw new UsageError(`--${stray} does not go with --agents: write it in that file, for the agent that it is about.`)
  mustNotBePlaced(invocation, configured)
  const [first] = configured
  if (first === undefined)
    throw new UsageError('--agents: the file names no agents. Write agents: [{ name: writer, runtime: claude }].')
  const start = invocation.values.agent === undefined ? first : (agentFrom(invocation, configured) ?? first)
  const memberOf = async (agent: ConfiguredAgent): Promise<CastMember> => {
    const asked = asConfigured(invocation, agent)
    const name = chosenRuntime(asked)
    runtimes.push({ agent: agent.name, name, isFound: runtimeName(asked) === undefined })
    return defined({ runtime: listened(await runtimeFrom(asked, name, agent.name)), model: agent.model })
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
