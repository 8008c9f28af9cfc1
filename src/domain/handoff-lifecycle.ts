import { defined } from './defined.ts'
import type { Fact } from './fact.ts'
import {
  type Claim,
  claimOf,
  HANDOFF_TRANSITIONS,
  type HandoffCommandType,
  type HandoffLifecycle,
  type HandoffMetadata,
  type HandoffOrigin,
  type HandoffStatus,
  isClaimable,
  originOf,
} from './handoff.ts'
import type { AgentSessionId, ConversationId, HandoffId } from './ids.ts'
import { type Instant, later } from './instant.ts'
import type { Refusal } from './refusal.ts'
import { err, ok, type Result } from './result.ts'
import { nextState } from './state-machine.ts'

/** What is asked of a handoff. `now` is the store's clock: claims are compared by it alone. */
export type HandoffCommand = { readonly at: Instant; readonly now: Instant } & (
  | { readonly type: 'accept'; readonly by: string; readonly claimMs: number }
  | {
      readonly type: 'complete'
      readonly by: string
      readonly targetSessionId: AgentSessionId
      readonly targetConversationId?: ConversationId
    }
  | { readonly type: 'cancel' | 'fail'; readonly by?: string; readonly reason: string }
)

type Of<Type extends string, Body> = Fact<Type, { handoffId: HandoffId } & Body>

/** How a handoff begins. */
export type HandoffInitiated = Fact<'handoff.initiated', { handoff: HandoffOrigin }>

/** What happens to a handoff after it was initiated. */
export type HandoffMoved =
  | Of<'handoff.accepted', { claim: Claim }>
  | Of<'handoff.completed', { targetSessionId: AgentSessionId; targetConversationId?: ConversationId }>
  | Of<'handoff.cancelled' | 'handoff.failed', { endReason: string }>

/** Everything that happens to a handoff. */
export type HandoffEvent = HandoffInitiated | HandoffMoved

/** May this command happen now? Answers with the fact to record, or the reason it may not. */
export const decideHandoff = (handoff: HandoffMetadata, command: HandoffCommand): Result<HandoffMoved, Refusal> => {
  const to = nextState<HandoffStatus, HandoffCommandType>(HANDOFF_TRANSITIONS, handoff.status, command.type)
  if (to === undefined) {
    return err({
      code: 'handoff.illegal_transition',
      handoffId: handoff.id,
      from: handoff.status,
      command: command.type,
    })
  }
  const obstacle = claimObstacle(handoff, command)
  return obstacle === undefined ? ok(factOf(handoff, command)) : err(obstacle)
}

/** Who may do what while somebody has claimed the handoff. */
const claimObstacle = (handoff: HandoffMetadata, command: HandoffCommand): Refusal | undefined => {
  const claim = claimOf(handoff)
  if (claim === undefined) return undefined
  const { claimant, deadline } = claim
  const about = { handoffId: handoff.id, claimant, deadline }
  const expired = isClaimable(handoff, command.now)
  if (command.type === 'accept') return expired ? undefined : { code: 'handoff.already_claimed', ...about }
  const mayAct = command.by === claimant || (expired && command.type !== 'complete')
  const refused = { code: 'handoff.not_claimant', ...about, command: command.type } as const
  return mayAct ? undefined : defined({ ...refused, by: command.by })
}

const factOf = (handoff: HandoffMetadata, command: HandoffCommand): HandoffMoved => {
  const about = { version: 1, conversationId: handoff.conversationId, handoffId: handoff.id, at: command.at } as const
  switch (command.type) {
    case 'accept': {
      const claim = { claimant: command.by, acceptedAt: command.now, deadline: later(command.now, command.claimMs) }
      return { type: 'handoff.accepted', ...about, claim }
    }
    case 'complete': {
      const { targetSessionId, targetConversationId } = command
      return { type: 'handoff.completed', ...about, ...defined({ targetSessionId, targetConversationId }) }
    }
    case 'cancel':
      return { type: 'handoff.cancelled', ...about, endReason: command.reason }
    case 'fail':
      return { type: 'handoff.failed', ...about, endReason: command.reason }
    default:
      return command satisfies never
  }
}

/** What a handoff looks like when it has just been initiated. */
export const beginHandoff = ({ handoff }: HandoffInitiated): HandoffMetadata => ({
  ...handoff,
  version: 1,
  status: 'initiated',
})

/** What the handoff looks like once the event has happened. Never refuses. */
export const evolveHandoff = (handoff: HandoffMetadata, event: HandoffMoved): HandoffMetadata => ({
  ...originOf(handoff),
  version: handoff.version + 1,
  ...lifecycleAfter(handoff, event),
})

const lifecycleAfter = (handoff: HandoffMetadata, event: HandoffMoved): HandoffLifecycle => {
  const claim = claimOf(handoff)
  const endedAt = event.at
  switch (event.type) {
    case 'handoff.accepted':
      return { status: 'accepted', claim: event.claim }
    case 'handoff.completed': {
      const { targetSessionId, targetConversationId } = event
      if (claim === undefined) throw new TypeError(`Handoff ${handoff.id} was completed before anyone accepted it`)
      return defined({ status: 'completed' as const, claim, targetSessionId, targetConversationId, endedAt })
    }
    case 'handoff.cancelled':
      return defined({ status: 'cancelled' as const, claim, endReason: event.endReason, endedAt })
    case 'handoff.failed':
      return defined({ status: 'failed' as const, claim, endReason: event.endReason, endedAt })
    default:
      return event satisfies never
  }
}
