import type { SourceFacts } from '../facts.ts'
import { type AgentSession, exchangeStartOf } from '../session/agent-session.ts'
import { MAX_REFERENCED_TOOL_CALLS, referenceTo, type ToolCallReference } from '../turn/tool-call.ts'
import type { Turn } from '../turn/turn.ts'

/** The tool calls of a session that may lead to a handoff, each list in order. */
export type KnownCalls = Pick<SourceFacts, 'exchangeToolCalls' | 'lastToolCalls'>

/**
 * The tool calls that led to a handoff: those that were named, else those of the current exchange, else those of the last
 * turn that has any. In order; beyond {@link MAX_REFERENCED_TOOL_CALLS} the oldest are left out.
 *
 * This is the only place that chooses: stores answer with the rows of each range.
 */
export const leadingCalls = (
  { exchangeToolCalls, lastToolCalls }: KnownCalls,
  named?: SourceFacts['namedToolCalls'],
): readonly ToolCallReference[] => {
  const latest = exchangeToolCalls.length > 0 ? exchangeToolCalls : lastToolCalls
  return (named ?? latest).slice(-MAX_REFERENCED_TOOL_CALLS).map(referenceTo)
}

/**
 * The calls that are known once these turns were recorded, the last one just now. Without what the store knew before
 * them, it is `undefined` unless the turns tell all: they reach back to where the exchange began, without a gap, and one
 * of them called a tool.
 */
export const callsAfter = (
  session: AgentSession,
  turns: readonly Turn[],
  before: Partial<KnownCalls> = {},
): KnownCalls | undefined => {
  const start = exchangeStartOf(session)
  const isWhole = before.exchangeToolCalls !== undefined || Number(turns[0]?.range.start) <= start
  if (!isWhole || !areAdjacent(turns)) return undefined
  const calls = [...(before.exchangeToolCalls ?? []), ...turns.flatMap((turn) => turn.toolCalls)]
  const exchangeToolCalls = calls.filter(({ sequenceNumber }) => sequenceNumber >= start)
  const lastToolCalls = turns.findLast(({ toolCalls }) => toolCalls.length > 0)?.toolCalls ?? before.lastToolCalls
  if (exchangeToolCalls.length === 0 && lastToolCalls === undefined) return undefined
  return { exchangeToolCalls, lastToolCalls: lastToolCalls ?? [] }
}

const areAdjacent = (turns: readonly Turn[]): boolean =>
  turns.every(({ range }, index) => index === 0 || Number(turns[index - 1]?.range.end) + 1 === Number(range.start))
