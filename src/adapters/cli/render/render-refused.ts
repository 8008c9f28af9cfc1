import type { RefusedTool } from '../../../domain/run/refused-tools.ts'
import type { RunSummary } from '../../../domain/run/run-summary.ts'
import { PERMISSION_MODES } from '../../../main/runtimes.ts'
import { plain } from './render-text.ts'

/** Modes that allow more stand later in the list of their runtime. */
const RANK: readonly string[] = Object.values(PERMISSION_MODES).flat()

/** The tools that were refused in a run, a line for each agent, and how to allow them. */
export const refusedLines = ({ refusedTools }: Pick<RunSummary, 'refusedTools'>): readonly string[] => {
  if (refusedTools.length === 0) return []
  const agents = [...new Set(refusedTools.map(({ agentName }) => agentName))]
  const lines = agents.map((agent) => {
    const tools = refusedTools.filter(({ agentName }) => agentName === agent)
    const whose = agents.length === 1 ? '' : ` of ${plain(agent)}`
    return `refused${whose}, because nobody has allowed it: ${tools.map(countText).join(', ')}`
  })
  const allowing = allowingText({ refusedTools })
  return [...lines, allowing === undefined ? 'No permission mode allows them.' : `To allow them: ${allowing}`]
}

const countText = ({ toolName, count }: RefusedTool): string =>
  `${plain(toolName)}${count === 1 ? '' : ` (${count} times)`}`

/** The flag that allows what was refused; or, where agents need different words, what to write in their file. */
export const allowingText = ({ refusedTools }: Pick<RunSummary, 'refusedTools'>): string | undefined => {
  const modes = new Map<string, string>()
  for (const { agentName, allowedBy } of refusedTools) {
    const known = modes.get(agentName)
    if (allowedBy !== undefined && (known === undefined || RANK.indexOf(allowedBy) > RANK.indexOf(known)))
      modes.set(agentName, allowedBy)
  }
  const [first, ...others] = new Set(modes.values())
  if (first === undefined) return undefined
  if (others.length === 0) return `--permission-mode ${first}`
  return [...modes].map(([agent, mode]) => `permission_mode: ${mode} for ${plain(agent)} in the file`).join(', ')
}
