import { nearestWord } from '../kernel/nearest-word.ts'
import type { AgentRuntimeName } from './agent-settings.ts'

const OF_CLAUDE = ['default', 'acceptEdits', 'plan', 'dontAsk', 'auto', 'bypassPermissions'] as const

/** The words of each runtime for what an agent may do without asking; Codex calls it a sandbox. */
export const PERMISSION_MODES = {
  'claude-sdk': OF_CLAUDE,
  claude: OF_CLAUDE,
  codex: ['read-only', 'workspace-write', 'danger-full-access'],
  command: [],
} as const satisfies Record<AgentRuntimeName, readonly string[]>

/** Why a runtime cannot be given a permission mode, if it cannot. One that is not chosen yet may know any of the words. */
export const permissionProblem = (
  mode: string,
  runtime: AgentRuntimeName | undefined,
): { readonly problem: string; readonly advice: string } | undefined => {
  const known: readonly string[] =
    runtime === undefined ? Object.values(PERMISSION_MODES).flat() : PERMISSION_MODES[runtime]
  if (known.includes(mode)) return undefined
  const whose = runtime === undefined ? 'any runtime' : runtime
  if (known.length === 0)
    return {
      problem: 'a command of your own has no permission mode',
      advice: 'Say it in the command itself, or leave it out.',
    }
  const nearest = nearestWord(mode, known)
  const words = [...new Set(known)].join(', ')
  return {
    problem: `${JSON.stringify(mode)} is not a permission mode of ${whose}`,
    advice: nearest === undefined ? `Use one of: ${words}.` : `Did you mean "${nearest}"?`,
  }
}
