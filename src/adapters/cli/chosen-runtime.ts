import { agentEnvironment } from '../../command-parts.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { AgentRuntime } from '../../ports/agent-runtime.ts'
import { WINDOW_READERS } from '../../readers.ts'
import { RUNTIME_NAMES, type RuntimeChoices, type RuntimeName, runtimeNamed } from '../../runtimes.ts'
import type { Invocation } from './command.ts'
import { oneOf, parsedFlag, textFlag } from './history-args.ts'
import { UsageError } from './problems.ts'

/** The runtime that is named; a command needs no name. */
export const runtimeName = (invocation: Invocation): RuntimeName | undefined =>
  parsedFlag(invocation, 'runtime', oneOf(RUNTIME_NAMES)) ??
  (textFlag(invocation, 'command') === undefined ? undefined : 'command')

const OF_CLAUDE = ['no-auto-compact', 'permission-mode'] as const

/**
 * The runtime of a name, with what the flags choose for it.
 *
 * @throws UsageError when a flag is missing, or does not go with it
 */
export const runtimeFrom = (invocation: Invocation, name: RuntimeName): AgentRuntime => {
  const isClaude = name === 'claude' || name === 'claude-sdk'
  const stray = OF_CLAUDE.find((flag) => invocation.values[flag] !== undefined && !isClaude)
  if (stray !== undefined) throw new UsageError(`--${stray} goes with --runtime claude-sdk or claude.`)
  const command = textFlag(invocation, 'command')
  if (name === 'command' && command === undefined) throw new UsageError('--runtime command goes with --command.')
  if (name === 'claude-sdk' && command !== undefined) throw new UsageError('--command does not go with claude-sdk.')
  return runtimeNamed(name, choices(invocation))
}

const choices = (invocation: Invocation): RuntimeChoices => ({
  ...defined({
    model: textFlag(invocation, 'model'),
    command: textFlag(invocation, 'command'),
    permissionMode: textFlag(invocation, 'permission-mode'),
    autoCompact: invocation.values['no-auto-compact'] === true ? false : undefined,
  }),
  environment: agentEnvironment(invocation.environment),
  readers: WINDOW_READERS,
})
