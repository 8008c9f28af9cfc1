import { defined } from '../../../domain/kernel/defined.ts'
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
import { plain } from '../render/render-text.ts'
import type { Invocation } from '../tree/command.ts'
import { UsageError } from '../tree/problems.ts'
import { oneOf, parsedFlag, textFlag } from './history-args.ts'

/** The runtime that is named; a command needs no name. */
export const runtimeName = (invocation: Invocation): string | undefined =>
  parsedFlag(invocation, 'runtime', oneOf(RUNTIME_NAMES)) ??
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
