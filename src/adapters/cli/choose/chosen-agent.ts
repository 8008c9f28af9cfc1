import { defined } from '../../../domain/kernel/defined.ts'
import { nearestWord } from '../../../domain/kernel/nearest-word.ts'
import type { ConfiguredAgent } from '../../../domain/run/agent-settings.ts'
import { plain } from '../render/render-text.ts'
import type { Invocation } from '../tree/command.ts'
import { UsageError } from '../tree/problems.ts'
import { textFlag } from './history-args.ts'

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
