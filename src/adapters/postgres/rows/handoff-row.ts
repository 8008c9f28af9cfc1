import { z } from 'zod'
import { CHECKPOINT_OUTCOMES } from '../../../domain/checkpoint/checkpoint-facts.ts'
import { CHECKPOINT_SECTIONS } from '../../../domain/checkpoint/checkpoint-section.ts'
import {
  claimOf,
  HANDOFF_FLAGS,
  HANDOFF_KINDS,
  HANDOFF_STATUSES,
  type HandoffLifecycle,
  type HandoffMetadata,
} from '../../../domain/handoff/handoff.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import {
  aConversation,
  aHandoff,
  aSession,
  aTurn,
  maybe,
  note,
  reader,
  time,
  toolCall,
  totalsRow,
} from './row-types.ts'

const checkpointRow = z.strictObject({
  outcome: z.enum(CHECKPOINT_OUTCOMES),
  reason: z.string().exactOptional(),
  characters: z.number().exactOptional(),
  isCut: z.boolean().exactOptional(),
  sections: z.array(z.enum(CHECKPOINT_SECTIONS)).exactOptional(),
  statements: z
    .strictObject({ cited: z.number(), uncited: z.number(), miscited: z.number(), exempt: z.number() })
    .exactOptional(),
  attempts: z.number().exactOptional(),
  totals: totalsRow.exactOptional(),
})

const row = z.object({
  conversation_id: aConversation,
  id: aHandoff,
  kind: z.enum(HANDOFF_KINDS),
  source_session_id: aSession,
  source_agent: z.string(),
  target_agent: z.string(),
  reason: z.string(),
  document: maybe(z.string()),
  prior_turn_id: aTurn,
  tool_calls: z.array(toolCall),
  flags: z.array(z.enum(HANDOFF_FLAGS)),
  checkpoint: maybe(checkpointRow),
  traceparent: maybe(z.string()),
  tracestate: maybe(z.string()),
  initiated_at: time,
  version: z.number(),
  status: z.enum(HANDOFF_STATUSES),
  claimant: maybe(z.string()),
  accepted_at: maybe(time),
  claim_deadline: maybe(time),
  continuation: maybe(z.string()),
  prepared_session_id: maybe(aSession),
  target_session_id: maybe(aSession),
  target_conversation_id: maybe(aConversation),
  end_reason: maybe(z.string()),
  ended_at: maybe(time),
  metadata: maybe(note),
  extract: maybe(z.string()),
})

type Row = z.output<typeof row>

/** Which facts a status has, and no others. */
const lifecycleOf = ({
  status,
  claimant,
  ended_at: endedAt,
  end_reason: endReason,
  ...stored
}: Row): HandoffLifecycle => {
  const { accepted_at: acceptedAt, claim_deadline: deadline, target_session_id: targetSessionId } = stored
  const claim = claimant !== undefined && acceptedAt && deadline ? { claimant, acceptedAt, deadline } : undefined
  const targetConversationId = stored.target_conversation_id
  if (status === 'initiated' && !claim && !endedAt) return { status }
  const { continuation, prepared_session_id: sessionId } = stored
  const prepared = continuation !== undefined && sessionId ? { sessionId, continuation } : undefined
  if (status === 'accepted' && claim && !endedAt) return defined({ status, claim, prepared })
  if (status === 'completed' && claim && targetSessionId && endedAt) {
    return defined({ status, claim, targetSessionId, targetConversationId, endedAt })
  }
  if ((status === 'cancelled' || status === 'failed') && endReason !== undefined && endedAt) {
    return defined({ status, claim, endReason, endedAt })
  }
  throw new TypeError(`handoff ${stored.id} is ${status}, with facts that status does not have`)
}

export const toHandoff = reader(
  'handoff',
  row.transform((stored): HandoffMetadata => {
    const { traceparent, tracestate } = stored
    if (traceparent === undefined && tracestate !== undefined) throw new TypeError('it has a tracestate of no trace')
    const origin = defined({
      id: stored.id,
      kind: stored.kind,
      conversationId: stored.conversation_id,
      sourceSessionId: stored.source_session_id,
      sourceAgent: stored.source_agent,
      targetAgent: stored.target_agent,
      reason: stored.reason,
      priorTurnId: stored.prior_turn_id,
      triggeringToolCalls: stored.tool_calls,
      traceContext: traceparent === undefined ? undefined : defined({ traceparent, tracestate }),
      initiatedAt: stored.initiated_at,
      metadata: stored.metadata,
      extract: stored.extract,
    })
    const papers = defined({ document: stored.document, flags: stored.flags, checkpoint: stored.checkpoint })
    return { ...origin, ...papers, version: stored.version, ...lifecycleOf(stored) }
  }),
)

/** Written when the handoff begins and when its checkpoint comes, before anyone accepts it; later they do not change. */
const fromPapers = ({ document, flags, checkpoint }: HandoffMetadata) => ({ document, flags, checkpoint })

/** The changed columns of a handoff; its beginning, its texts above all, is not written again. */
export const fromMovedHandoff = (handoff: HandoffMetadata) => {
  const claim = claimOf(handoff)
  const prepared = handoff.status === 'accepted' ? handoff.prepared : undefined
  return {
    ...(handoff.status === 'initiated' && fromPapers(handoff)),
    conversation_id: handoff.conversationId,
    id: handoff.id,
    version: handoff.version,
    status: handoff.status,
    claimant: claim?.claimant,
    accepted_at: claim?.acceptedAt,
    claim_deadline: claim?.deadline,
    continuation: prepared?.continuation,
    prepared_session_id: prepared?.sessionId,
    target_session_id: 'targetSessionId' in handoff ? handoff.targetSessionId : undefined,
    target_conversation_id: 'targetConversationId' in handoff ? handoff.targetConversationId : undefined,
    end_reason: 'endReason' in handoff ? handoff.endReason : undefined,
    ended_at: 'endedAt' in handoff ? handoff.endedAt : undefined,
  }
}

export const fromHandoff = (handoff: HandoffMetadata) => ({
  ...fromMovedHandoff(handoff),
  ...fromPapers(handoff),
  kind: handoff.kind,
  source_session_id: handoff.sourceSessionId,
  source_agent: handoff.sourceAgent,
  target_agent: handoff.targetAgent,
  reason: handoff.reason,
  prior_turn_id: handoff.priorTurnId,
  traceparent: handoff.traceContext?.traceparent,
  tracestate: handoff.traceContext?.tracestate,
  initiated_at: handoff.initiatedAt,
  metadata: handoff.metadata,
  extract: handoff.extract,
})
