import type { TurnFacts } from '../../domain/facts.ts'
import { listOf, objectOf, optional, trueOrFalse } from '../../domain/input/check.ts'
import { traceContext } from '../../domain/input/details.ts'
import { TURN_CHECKS, turn } from '../../domain/input/turn-checks.ts'
import { text, trimmedName } from '../../domain/input/words.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { messageId, signalId, turnId } from '../../domain/kernel/ids.ts'
import { recordTurns as decideTurns, type HandOver, type RecordTurns } from '../../domain/recording/record-turns.ts'
import { reportsIn } from '../../domain/recording/reported-threads.ts'
import { shownBy } from '../../domain/session/stored-session.ts'
import { MAX_REFERENCED_TOOL_CALLS } from '../../domain/turn/tool-call.ts'
import type { TurnDraft, TurnInput } from '../../domain/turn/turn.ts'
import { UNKNOWN_USAGE } from '../../domain/window/usage-reading.ts'
import type { IdGenerator } from '../../ports/system/system.ts'
import { command, content } from './command.ts'
import { type CommandContext, newHandoffIds } from './command-context.ts'
import { asHolder, heldTargetOf } from './references.ts'
import type { RecordTurnRequest, RecordTurnsRequest } from './requests.ts'

const besideTurns = {
  withholdRestart: content(optional(trueOrFalse)),
  traceContext: content(optional(traceContext)),
  failLater: content(optional(trueOrFalse)),
  handOver: content(
    optional(objectOf<HandOver>({ targetAgent: trimmedName, reason: optional(text), document: optional(text) })),
  ),
}

/** A turn with its ids, made once per command however often it is decided. */
const draftOf = ({ messages, usage = UNKNOWN_USAGE, window, producedAt }: TurnInput, ids: IdGenerator): TurnDraft => ({
  id: turnId(ids.next()),
  messages: messages.map((input) => ({ id: messageId(ids.next()), input })),
  usage,
  ...defined({ window, producedAt }),
})

const planOf = (request: RecordTurnsRequest, { clock, ids }: CommandContext) => {
  const { session, monitor, turns, withholdRestart, traceContext, failLater, handOver } = request
  const { sessionId, holder } = heldTargetOf(request)
  const wanted: RecordTurns = { sessionId, holder, ...defined({ withholdRestart, traceContext, failLater, handOver }) }
  const recording = {
    drafts: turns.map((input) => draftOf(input, ids)),
    ids: { handoff: newHandoffIds(ids), signal: () => signalId(ids.next()) },
    at: clock.now(),
  }
  const reports = reportsIn(turns.flatMap(({ messages }) => messages))
  const isHeld = typeof session !== 'string' && monitor?.sessionId === sessionId
  return {
    question: {
      about: 'source' as const,
      sessionId,
      maxToolCalls: MAX_REFERENCED_TOOL_CALLS,
      isBudgeted: true,
      ...(reports.length > 0 && { reports }),
    },
    ...(isHeld && { held: { working: shownBy(session, holder), monitor } }),
    decide: (facts: TurnFacts) => decideTurns(facts, wanted, recording),
  }
}

export const recordTurn = command<RecordTurnRequest>()({
  name: 'record_turn',
  fields: {
    ...asHolder,
    ...besideTurns,
    messages: content(TURN_CHECKS.messages),
    usage: content(TURN_CHECKS.usage),
    window: content(TURN_CHECKS.window),
    producedAt: content(TURN_CHECKS.producedAt),
  },
  plan: ({ messages, usage, window, producedAt, ...request }, context) =>
    planOf({ ...request, turns: [{ messages, ...defined({ usage, window, producedAt }) }] }, context),
})

export const recordTurns = command<RecordTurnsRequest>()({
  name: 'record_turns',
  fields: { ...asHolder, ...besideTurns, turns: content(listOf(turn, { least: 1, most: 10_000 })) },
  plan: planOf,
})
