import type { Decided, Expected } from '../decision.ts'
import type { SourceFacts, TurnFacts } from '../facts.ts'
import type { TraceContext } from '../handoff/handoff.ts'
import { defined } from '../kernel/defined.ts'
import type { Instant } from '../kernel/instant.ts'
import type { WorkingSession } from '../session/agent-session.ts'
import { MAX_REFERENCED_TOOL_CALLS, type ToolCallReference } from '../turn/tool-call.ts'
import type { MilestoneReached } from '../window/context-monitor.ts'
import { describeFill } from '../window/context-pressure.ts'
import { beginRestart, type RestartBegun } from './begin-restart.ts'
import type { PressureIds, TurnsRecorded } from './record-turns.ts'

/** The restart that these turns lead to: a handoff to the same agent, named after what was reached. */
export const restartAfter = (
  facts: TurnFacts,
  kept: TurnsRecorded & WorkingSession,
  context: {
    readonly ids: PressureIds
    readonly at: Instant
    readonly reached: readonly MilestoneReached[]
    readonly guard: Expected
    readonly traceContext?: TraceContext
    readonly failLater?: boolean
  },
): Decided<RestartBegun> | undefined => {
  const { session, holder, turns, monitor } = kept
  const { ids, at, reached, guard, traceContext, failLater } = context
  const { conversation, restarts } = facts
  const leading = leadingCalls(facts, kept)
  if (leading === undefined || conversation === undefined || restarts === undefined) return undefined
  const priorTurnId = turns.at(-1)?.id
  const source: SourceFacts = {
    working: { session, holder },
    monitor,
    conversation,
    restarts,
    ...(priorTurnId !== undefined && { priorTurnId }),
    namedToolCalls: [],
    ...leading,
    now: at,
  }
  const request = {
    sessionId: session.id,
    holder,
    reason: reasonOf(reached),
    ...defined({ traceContext, failLater }),
  }
  const decided = beginRestart(source, request, { ids: ids.handoff, at })
  if (!decided.ok) return decided
  // Guarded by what the turns were decided on: nobody has seen the versions in between.
  const changes = decided.value.changes.map((change) =>
    change.type === 'move_session' ? { ...change, expected: guard } : change,
  )
  return { ok: true, value: { ...decided.value, changes } }
}

const reasonOf = (reached: readonly MilestoneReached[]): string => {
  const last = reached.at(-1)
  return `The context window is ${describeFill(last ?? { ratio: 0 })}.`
}

/** The calls of the exchange, or of the last turn that has any; absent when only the store can tell. */
const leadingCalls = (
  facts: TurnFacts,
  { session, turns }: TurnsRecorded,
): Pick<SourceFacts, 'exchangeToolCalls' | 'lastToolCalls'> | undefined => {
  const start = session.progress.exchangeStart ?? session.startSequence
  const isWhole = Number(turns[0]?.range.start) <= start
  if (!isWhole && facts.exchangeToolCalls === undefined) return undefined
  const inExchange = ({ sequenceNumber }: ToolCallReference): boolean => sequenceNumber >= start
  const exchange = [...(facts.exchangeToolCalls ?? []), ...turns.flatMap((turn) => turn.toolCalls)].filter(inExchange)
  const last = turns.findLast(({ toolCalls }) => toolCalls.length > 0)?.toolCalls ?? facts.lastToolCalls
  if (exchange.length === 0 && last === undefined) return undefined
  return {
    exchangeToolCalls: exchange.slice(-MAX_REFERENCED_TOOL_CALLS),
    lastToolCalls: (last ?? []).slice(-MAX_REFERENCED_TOOL_CALLS),
  }
}
