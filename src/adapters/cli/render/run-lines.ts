import type { BudgetLimit } from '../../../domain/budget/restart-budget.ts'
import { counted } from '../../../domain/kernel/counted.ts'
import { inQuotes } from '../../../domain/kernel/safe-text.ts'
import { describeFreshReason } from '../../../domain/run/follow-up.ts'
import type { RefusedTool } from '../../../domain/run/refused-tools.ts'
import { type HookProblem, levelInFigures, type RunEvent, type WindowFigures } from '../../../domain/run/run-event.ts'
import type { RunOutcome, RunSummary } from '../../../domain/run/run-summary.ts'
import type { UsageTotals } from '../../../domain/window/usage-reading.ts'
import { describeTokens, percentOf, shortTokens, tokensOf } from '../../../domain/window/window-level.ts'
import { PERMISSION_MODES } from '../../../main/runtimes.ts'
import { plain } from './text.ts'

const BAR_CELLS = 10

/** How full a window is, as a bar and in words: `[██████░░░░] 61 %, 102k of 167k before it compacts (200k window)`. */
export const renderFigures = (figures: WindowFigures, { isShort = false } = {}): string => {
  const level = levelInFigures(figures)
  if (level === undefined) return `[${'·'.repeat(BAR_CELLS)}] not known`
  const full = Math.min(BAR_CELLS, Math.max(0, Math.round(level.ratio * BAR_CELLS)))
  const bar = '█'.repeat(full) + '░'.repeat(BAR_CELLS - full)
  const tokens = isShort ? tokensOf(level) : describeTokens(level)
  return `[${bar}] ${percentOf(level.ratio)} %${tokens === undefined ? '' : `, ${tokens}`}`
}

/** The cost, where the runtime says it. */
export const costText = ({ costUsd, estimatedUsd }: UsageTotals): string | undefined =>
  costUsd === undefined ? undefined : moneyText({ costUsd, estimatedUsd: estimatedUsd ?? 0 })

/** An amount, which says so where some of it is estimated: `about $1.20 ($0.40 estimated)`. */
const moneyText = ({ costUsd, estimatedUsd }: { readonly costUsd: number; readonly estimatedUsd: number }): string => {
  if (estimatedUsd <= 0) return `$${costUsd.toFixed(2)}`
  const share = estimatedUsd < costUsd ? `$${estimatedUsd.toFixed(2)} ` : ''
  return `about $${costUsd.toFixed(2)} (${share}estimated)`
}

/** An event in one line. */
export const describeRunEvent = (event: RunEvent): string => {
  switch (event.type) {
    case 'session:start':
      return `session ${event.epoch} begins (${event.sessionId})${event.isContinuation ? ', in a fresh window' : ''}`
    case 'conversation:follow_up':
      return event.freshBecause === null
        ? `the prompt goes to the same session of the runtime (${plain(event.resumes ?? '')})`
        : `the prompt starts in a fresh window, from the record: ${describeFreshReason(event.freshBecause)}`
    case 'session:end':
      return `session ${event.sessionId} is ${event.state}${because(event.reason)}`
    case 'session:replaced':
      return `session ${event.sessionId} is held by another process now`
    case 'runner:gone':
      return `the process that ran session ${event.sessionId} has ended (process ${event.pid ?? 'unknown'}), so recovery does not wait for its lease`
    case 'process:left':
      return event.fate === 'ended'
        ? `the orphaned agent was ended (process ${event.pid ?? 'of its runtime'})`
        : `an agent may still be at work on ${plain(event.host)}, and cannot be ended from here; its lease has expired`
    case 'turn:recorded':
      return `turn ${event.turn} ${renderFigures(event)}${toolsText(event.toolCalls)}`
    case 'tool:refused':
      return `refused: ${plain(event.toolName)}${event.argument === null ? '' : ` ${inQuotes(event.argument)}`}`
    case 'context:milestone':
      return `milestone ${plain(event.milestone)}: ${renderFigures(event)}`
    case 'context:landing':
      return `the agent is told to bring its work to a soft landing: ${renderFigures(event)}`
    case 'context:compaction':
      return `the runtime compacted by itself (${event.trigger})`
    case 'context:window:lowered':
      return `the usable window is smaller than it was thought to be: ${loweredText(event)}`
    case 'context:window:unknown':
      return `no restart is possible: ${UNKNOWN_WINDOW[event.why]}${event.model === null ? '' : ` (${plain(event.model)})`}`
    case 'context:handoff:start':
      return `restart: ${renderFigures(event)} (handoff ${event.handoffId})`
    case 'context:handoff:checkpoint':
      return `checkpoint: ${event.outcome.replace('_', ' ')}`
    case 'context:handoff:complete':
      return `restart ${event.handoffNumber} is done: session ${event.newSessionId} continues`
    case 'agent:handoff:start':
      return `${plain(event.fromAgent)} hands the work to ${plain(event.toAgent)}${because(event.reason)} (handoff ${event.handoffId})`
    case 'agent:handoff:complete':
      return `${plain(event.toAgent)} works now, in session ${event.newSessionId}`
    case 'agent:handoff:left':
      return `the work waits for ${plain(event.toAgent)} (handoff ${event.handoffId})`
    case 'thread:start':
      return `${plain(event.fromAgent)} delegates to ${plain(event.toAgent)}: ${plain(firstLine(event.task))} (thread ${event.threadId})`
    case 'thread:end':
      return `the thread of ${plain(event.toAgent)} is ${event.outcome}${because(event.reason)} (thread ${event.threadId})`
    case 'context:handoff:cancelled':
      return `the restart was cancelled${because(event.reason)}`
    case 'context:restart:refused':
      return `no restart: ${event.limit.replace('_', ' ')} (${event.whenExhausted.replace('_', ' ')})`
    case 'budget:reached':
      return `limit reached: ${event.limit.replace('_', ' ')} (${moneyText(event)} so far)`
    case 'run:warning':
      return `warning: ${plain(event.message)}`
    case 'hook:called':
      return `hook ${plain(event.hook)} at ${event.moment}: ${event.error === null ? 'ok' : failureText(event.error)}`
    case 'run:end':
      return describeSummary(event.summary)
    default:
      return event satisfies never
  }
}

const failureText = ({ message, lastLine }: HookProblem): string =>
  `failed: ${plain(message)}${lastLine === null ? '' : ` It said last: ${inQuotes(lastLine)}`}`

const loweredText = ({ fromTokens, toTokens }: Extract<RunEvent, { type: 'context:window:lowered' }>): string =>
  `${shortTokens(toTokens)}${fromTokens === null ? '' : ` instead of ${shortTokens(fromTokens)}`}, for the rest of the session`

/** Why nobody knows how full a window is, and what to do about it. */
const UNKNOWN_WINDOW = {
  no_window: 'the size of the window is not known; give it with --context-limit',
  no_reading: 'the agent does not say what its requests used',
} as const

const LONGEST_TASK = 80

const firstLine = (task: string): string => {
  const [line = ''] = task.trim().split('\n')
  return line.length > LONGEST_TASK ? `${line.slice(0, LONGEST_TASK)}…` : line
}

const because = (reason: string | null): string => (reason === null ? '' : `: ${plain(reason)}`)

const toolsText = (calls: readonly { readonly toolName: string }[]): string =>
  calls.length === 0 ? '' : ` ${plain(calls.map(({ toolName }) => toolName).join(', '))}`

/** The result of a run, in one line. */
const describeSummary = (summary: RunSummary): string => {
  const { sessions, turns, restarts, transfers, threads, totals, durationMs } = summary
  const figures = [
    counted(sessions, 'session'),
    counted(turns, 'turn'),
    counted(restarts, 'restart'),
    transfers === 0 ? undefined : counted(transfers, 'transfer'),
    threads === 0 ? undefined : counted(threads, 'thread'),
    `${Math.round(durationMs / 100) / 10} s`,
    costText(totals),
  ]
  return `${outcomeText(summary)}: ${figures.filter((figure) => figure !== undefined).join(', ')}`
}

/** How a run ended, as the beginning of a sentence. */
export const outcomeText = ({ outcome, limit }: Pick<RunSummary, 'outcome' | 'limit'>): string =>
  outcome === 'exhausted' && limit !== undefined ? LIMITS[limit] : OUTCOMES[outcome]

const LIMITS = {
  restarts: 'no restart left',
  deadline: 'out of time',
  cost: 'out of money',
  takeovers: 'taken over too often',
  turns: 'out of turns',
  no_progress: 'no restart: no progress',
} as const satisfies Record<BudgetLimit, string>

const OUTCOMES = {
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
  timed_out: 'out of time',
  exhausted: 'no restart left',
  superseded: 'taken over by another process',
  handed_over: 'handed over to another agent',
  writes_refused: 'nothing was written',
} as const satisfies Record<RunOutcome, string>

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
    const mode = modes.get(agentName)
    if (allowedBy !== undefined && (mode === undefined || RANK.indexOf(allowedBy) > RANK.indexOf(mode)))
      modes.set(agentName, allowedBy)
  }
  const [first, ...others] = new Set(modes.values())
  if (first === undefined) return undefined
  if (others.length === 0) return `--permission-mode ${first}`
  return [...modes].map(([agent, mode]) => `permission_mode: ${mode} for ${plain(agent)} in the file`).join(', ')
}
