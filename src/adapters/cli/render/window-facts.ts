import type { CheckpointFacts } from '../../../domain/checkpoint/checkpoint-facts.ts'
import type { WindowAtTurn } from '../../../domain/history/window-at-turn.ts'
import { counted } from '../../../domain/kernel/counted.ts'
import { type MessageSummary, totalMessages } from '../../../domain/turn/message-summary.ts'
import type { ToolCallReference } from '../../../domain/turn/tool-call.ts'
import { type ContextMonitor, type MonitorEvent, monitoredPressure } from '../../../domain/window/context-monitor.ts'
import type { WindowSize } from '../../../domain/window/context-pressure.ts'
import { milestoneProblem } from '../../../domain/window/milestone.ts'
import type { UsageReading, UsageTotals } from '../../../domain/window/usage-reading.ts'
import { describeFigures, levelIn, settingPercent } from '../../../domain/window/window-level.ts'
import { plain, renderBlock, renderFacts } from './text.ts'

/** How many messages there are, and of whom. */
export const describeMessages = (messages: MessageSummary): string =>
  `${totalMessages(messages)} (${Object.entries(messages)
    .map(([role, count]) => `${role} ${count}`)
    .join(', ')})`

/** A reading in words. */
export const describeUsage = (usage: UsageReading): string => {
  if (usage.state === 'percentage') return `${usage.usedPercent} % of the window`
  return usage.state === 'unknown' ? 'unknown' : `${usage.promptTokens} tokens sent, ${usage.outputTokens} answered`
}

/** How full a window is, what it was told, and how it is watched. */
export const describeMonitor = (monitor: ContextMonitor) => {
  const pressure = monitoredPressure(monitor)
  const spent = monitor.milestones.filter(({ at }) => at <= monitor.latchedAt).map(({ name }) => name)
  const problem = milestoneProblem(monitor.milestones)
  return {
    pressure:
      pressure.state === 'unknown'
        ? `unknown (${pressure.why === 'no_window' ? 'nobody says how large the window is' : 'nothing was read yet'})`
        : `${fullText(monitor)}${sourceOf(pressure.window)}`,
    watched: monitor.isEnabled ? `${monitor.policy}, cycle ${monitor.cycle}` : 'no',
    milestones:
      problem === undefined
        ? monitor.milestones.map(({ name, at }) => `${name} ${percent(at)}`).join(', ')
        : `not usable: ${problem}`,
    signalled: spent.join(', ') || 'nothing in this cycle',
  }
}

/** An event of a window, in a few words. */
export const describeMonitorEvent = (event: MonitorEvent): string => {
  switch (event.type) {
    case 'context.milestone_reached':
      return `reached ${event.milestone.name}: ${describeFigures(event)}`
    case 'context.compacted':
      return `compacted (${event.trigger})${event.preTokens === undefined ? '' : ` at ${event.preTokens} tokens`}`
    case 'context.rearmed':
      return `armed anew: ${event.why.replace('_', ' ')}`
    case 'context.restart_refused':
      return `full, and not restarted: ${event.limit.replace('_', ' ')} (${event.whenExhausted.replace('_', ' ')})`
    case 'context.monitor_set':
      return `watched: ${event.isEnabled ? (event.policy ?? 'as before') : 'no'}`
    default:
      return event satisfies never
  }
}

const fullText = ({ reading, window }: ContextMonitor): string => {
  const level = levelIn(reading, window)
  return level.state === 'known' ? describeFigures(level) : level.state
}

const sourceOf = (window: WindowSize | undefined): string => (window === undefined ? '' : `, by ${window.source}`)

const percent = (fraction: number): string => `${settingPercent(fraction)} %`

/** A tool call on one line, whatever its agent called it. */
export const describeCall = ({ toolName, callId, sequenceNumber }: ToolCallReference): string =>
  `${plain(toolName)} (message ${sequenceNumber}, ${plain(callId)})`

/** The content of a window at a turn. */
export const renderWindow = (window: WindowAtTurn, columns: number): readonly string[] => [
  ...renderFacts(
    {
      turn: window.turnId,
      number: window.turnNumber,
      recorded: window.recordedAt,
      session: window.sessionId,
      conversation: window.conversationId,
      range: `messages ${window.range.start}–${window.range.end}`,
      held: describeMessages(window.messages),
      usage: describeUsage(window.usage),
    },
    columns,
  ),
  ...renderBlock('Tool calls in it', window.visibleToolCalls.map(describeCall).join('\n') || 'none', columns),
]

/** Facts about a checkpoint beside its text. */
export const describeCheckpoint = (checkpoint: CheckpointFacts) => {
  const { outcome, reason, characters, isCut, sections, statements, attempts, totals } = checkpoint
  return {
    checkpoint: `${outcome.replace('_', ' ')}${reason === undefined ? '' : `: ${reason}`}`,
    length: characters === undefined ? undefined : `${characters} characters${isCut === true ? ', cut' : ''}`,
    sections: sections === undefined ? undefined : sections.join(', ') || 'none',
    statements:
      statements && `${statements.cited} cited, ${statements.uncited} uncited, ${statements.miscited} miscited`,
    'asked for': attempts === undefined ? undefined : counted(attempts, 'time'),
    'checkpoint used': totals && describeTotals(totals),
  }
}

/** The usage in sum, and the cost where the runtime says it. */
export const describeTotals = ({ inputTokens, outputTokens, requests, costUsd }: UsageTotals): string =>
  [
    `${inputTokens} tokens in`,
    `${outputTokens} out`,
    ...(requests === undefined ? [] : [`${requests} requests`]),
    ...(costUsd === undefined ? [] : [`$${costUsd.toFixed(4)}`]),
  ].join(', ')
