import { z } from 'zod'
import { BUDGET_LIMITS } from '../../../domain/budget/restart-budget.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { holderDigest } from '../../../domain/kernel/ids.ts'
import { SESSION_STATES, type SessionLifecycle } from '../../../domain/session/agent-session.ts'
import type { SourceSession, StoredSession } from '../../../domain/session/stored-session.ts'
import {
  aConversation,
  aHandoff,
  aSession,
  aTurn,
  fromWindow,
  maybe,
  note,
  place,
  reader,
  time,
  totalsRow,
  toWindow,
  windowColumns,
} from './row-types.ts'

const row = z.object({
  conversation_id: aConversation,
  id: aSession,
  epoch: z.number(),
  agent_name: z.string(),
  backend: z.string(),
  model: maybe(z.string()),
  provider_session_id: maybe(z.string()),
  parent_session_id: maybe(aSession),
  initiated_by_handoff: maybe(aHandoff),
  start_sequence: place,
  started_at: time,
  holder: z.string().transform(holderDigest),
  version: z.number(),
  turns: z.number(),
  last_turn_id: maybe(aTurn),
  next_sequence: place,
  last_sequence: maybe(place),
  exchange_start: maybe(place),
  ...windowColumns,
  totals: maybe(totalsRow),
  takeovers: maybe(z.number()),
  state: z.enum(SESSION_STATES),
  held_by: maybe(aHandoff),
  terminated_by_handoff: maybe(aHandoff),
  end_sequence: maybe(place),
  end_reason: maybe(z.string()),
  ended_by: maybe(z.enum(BUDGET_LIMITS)),
  ended_at: maybe(time),
  metadata: maybe(note),
})

type Row = z.output<typeof row>

/** Which facts a state has, and no others. */
const lifecycleOf = ({ state, held_by: heldBy, ...stored }: Row): SessionLifecycle => {
  const {
    terminated_by_handoff: terminatedByHandoff,
    ended_at: endedAt,
    end_reason: endReason,
    ended_by: endedBy,
  } = stored
  const end = endedAt && defined({ endedAt, endSequence: stored.end_sequence })
  if (state === 'active' && !heldBy && !end) return { state }
  if (state === 'paused' && !end) return defined({ state, heldBy })
  if (state === 'handed_off' && terminatedByHandoff && end) return { state, terminatedByHandoff, ...end }
  if (state === 'completed' && end) return { state, ...end }
  if (state === 'failed' && endReason !== undefined && end) return { state, endReason, ...defined({ endedBy }), ...end }
  throw new TypeError(`session ${stored.id} is ${state}, with facts that state does not have`)
}

export const toWorkingSession = reader(
  'session',
  row.transform(
    (stored): StoredSession => ({
      holder: stored.holder,
      session: {
        ...defined({
          id: stored.id,
          conversationId: stored.conversation_id,
          epoch: stored.epoch,
          agentName: stored.agent_name,
          backend: stored.backend,
          model: stored.model,
          parentSessionId: stored.parent_session_id,
          initiatedByHandoff: stored.initiated_by_handoff,
          startSequence: stored.start_sequence,
          startedAt: stored.started_at,
          metadata: stored.metadata,
        }),
        version: stored.version,
        ...defined({
          providerSessionId: stored.provider_session_id,
          totals: stored.totals,
          takeovers: stored.takeovers,
        }),
        progress: defined({
          turns: stored.turns,
          lastTurnId: stored.last_turn_id,
          nextSequence: stored.next_sequence,
          lastSequence: stored.last_sequence,
          exchangeStart: stored.exchange_start,
          window: toWindow(stored),
        }),
        ...lifecycleOf(stored),
      },
    }),
  ),
)

/** The changed columns of a session; columns that never change are not written again. */
export const fromMovedSession = ({ session, holder }: SourceSession) => ({
  conversation_id: session.conversationId,
  id: session.id,
  holder,
  version: session.version,
  turns: session.progress.turns,
  last_turn_id: session.progress.lastTurnId,
  next_sequence: session.progress.nextSequence,
  last_sequence: session.progress.lastSequence,
  exchange_start: session.progress.exchangeStart,
  ...fromWindow(session.progress.window),
  provider_session_id: session.providerSessionId,
  totals: session.totals,
  takeovers: session.takeovers,
  state: session.state,
  held_by: 'heldBy' in session ? session.heldBy : undefined,
  terminated_by_handoff: 'terminatedByHandoff' in session ? session.terminatedByHandoff : undefined,
  end_sequence: 'endSequence' in session ? session.endSequence : undefined,
  end_reason: 'endReason' in session ? session.endReason : undefined,
  ended_by: 'endedBy' in session ? session.endedBy : undefined,
  ended_at: 'endedAt' in session ? session.endedAt : undefined,
})

export const fromWorkingSession = (working: SourceSession) => {
  const { session } = working
  return {
    ...fromMovedSession(working),
    epoch: session.epoch,
    agent_name: session.agentName,
    backend: session.backend,
    model: session.model,
    parent_session_id: session.parentSessionId,
    initiated_by_handoff: session.initiatedByHandoff,
    start_sequence: session.startSequence,
    started_at: session.startedAt,
    metadata: session.metadata,
  }
}
