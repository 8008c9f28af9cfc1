import { nearestWord } from '../kernel/nearest-word.ts'
import type { AgentRuntimeName } from './agent-settings.ts'

const OF_CLAUDE = ['default', 'acceptEdits', 'plan', 'dontAsk', 'auto', 'bypassPermissions'] as const

/** The permission modes of each runtime: how much an agent may do without asking. Codex calls it a sandbox. */
export const PERMISSION_MODES = {
  'claude-sdk': OF_CLAUDE,
  claude: OF_CLAUDE,
  codex: ['read-only', 'workspace-write', 'danger-full-access'],
  command: [],
} as const satisfies Record<AgentRuntimeName, readonly string[]>

/**
 * Why a permission mode is invalid for a runtime; undefined when it is valid. While no runtime is chosen, the modes of
 * all are valid.
 */
export const permissionProblem = (
  mode: string,
  runtime: AgentRuntimeName | undefined,
): { readonly problem: string; readonly advice: string } | undefined => {
  const modes: readonly string[] =
    runtime === undefined ? Object.values(PERMISSION_MODES).flat() : PERMISSION_MODES[runtime]
  if (modes.includes(mode)) return undefined
  const whose = runtime === undefined ? 'any runtime' : runtime
  if (modes.length === 0)
    return {
      problem: 'a command of your own has no permission mode',
      advice: 'Say it in the command itself, or leave it out.',
    }
  const nearest = nearestWord(mode, modes)
  const words = [...new Set(modes)].join(', ')
  return {
    problem: `${JSON.stringify(mode)} is not a permission mode of ${whose}`,
    advice: nearest === undefined ? `Use one of: ${words}.` : `Did you mean "${nearest}"?`,
  }
}
