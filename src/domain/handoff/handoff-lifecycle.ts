import type { CheckpointFacts } from '../checkpoint/checkpoint-facts.ts'
import { defined } from '../kernel/defined.ts'
import type { DomainEvent } from '../kernel/event.ts'
import type { AgentSessionId, ConversationId, HandoffId } from '../kernel/ids.ts'
import { type Instant, later } from '../kernel/instant.ts'
import type { Metadata } from '../kernel/metadata.ts'
import { err, ok, type Result } from '../kernel/result.ts'
import { nextState } from '../kernel/state-machine.ts'
import type { Refusal } from '../refusal.ts'
import {
  type Claim,
  claimOf,
  HANDOFF_TRANSITIONS,
  type HandoffAttachments,
  type HandoffCommandType,
  type HandoffFlag,
  type HandoffLifecycle,
  type HandoffMetadata,
  type HandoffOrigin,
  type HandoffStatus,
  isClaimable,
  originOf,
  type PreparedSession,
} from './handoff.ts'

/** A command on a handoff. `now` is the store's clock: claims are compared by it alone. */
export type HandoffCommand = { readonly at: Instant; readonly now: Instant } & (
  | ({ readonly type: 'checkpoint' } & CheckpointKept)
  | { readonly type: 'accept' | 'renew'; readonly by: string; readonly claimMs: number }
  | { readonly type: 'prepare'; readonly by: string; readonly prepared: PreparedSession }
  | {
      readonly type: 'complete'
      readonly by: string
      readonly targetSessionId: AgentSessionId
      readonly targetConversationId?: ConversationId
    }
  | { readonly type: 'cancel' | 'fail'; readonly by?: string; readonly reason: string }
)

/** The outcome of asking the outgoing agent. */
export interface CheckpointKept {
  readonly document?: string
  readonly flags: readonly HandoffFlag[]
  readonly checkpoint: CheckpointFacts
}

type Of<Type extends string, Body> = DomainEvent<Type, { handoffId: HandoffId } & Body>

/** How a handoff begins. */
export type HandoffInitiated = DomainEvent<'handoff.initiated', { handoff: HandoffOrigin & HandoffAttachments }>

/** Events of a handoff after it was initiated. */
export type HandoffMoved =
  | Of<'handoff.checkpointed', CheckpointKept>
  | Of<'handoff.accepted' | 'handoff.claim_renewed', { claim: Claim }>
  | Of<'handoff.metadata_set', { metadata?: Metadata }>
  | Of<'handoff.extract_kept', { extract: string }>
  | Of<'handoff.prepared', { by: string; prepared: PreparedSession }>
  | Of<'handoff.completed', { by: string; targetSessionId: AgentSessionId; targetConversationId?: ConversationId }>
  | Of<'handoff.cancelled' | 'handoff.failed', { by?: string; endReason: string }>

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
  if (command.type === 'checkpoint') {
    const isThere = handoff.checkpoint !== undefined || handoff.document !== undefined
    return isThere ? err({ code: 'handoff.checkpointed', handoffId: handoff.id }) : ok(factOf(handoff, command))
  }
  const obstacle = claimObstacle(handoff, command)
  return obstacle === undefined ? ok(factOf(handoff, command)) : err(obstacle)
}

/** Who may do what while somebody has claimed the handoff. */
const claimObstacle = (
  handoff: HandoffMetadata,
  command: Exclude<HandoffCommand, { type: 'checkpoint' }>,
): Refusal | undefined => {
  const claim = claimOf(handoff)
  if (claim === undefined) return undefined
  const { claimant, deadline } = claim
  const about = { handoffId: handoff.id, claimant, deadline }
  const expired = isClaimable(handoff, command.now)
  if (command.type === 'accept') return expired ? undefined : { code: 'handoff.already_claimed', ...about }
  const isEnd = command.type === 'cancel' || command.type === 'fail'
  const mayAct = command.by === claimant || (expired && isEnd)
  const refused = { code: 'handoff.not_claimant', ...about, command: command.type } as const
  return mayAct ? undefined : defined({ ...refused, by: command.by })
}

const factOf = (handoff: HandoffMetadata, command: HandoffCommand): HandoffMoved => {
  const about = { version: 1, conversationId: handoff.conversationId, handoffId: handoff.id, at: command.at } as const
  switch (command.type) {
    case 'checkpoint': {
      const { document, flags, checkpoint } = command
      return { type: 'handoff.checkpointed', ...about, ...defined({ document, flags, checkpoint }) }
    }
    case 'prepare':
      return { type: 'handoff.prepared', ...about, by: command.by, prepared: command.prepared }
    case 'accept':
    case 'renew': {
      const claim = { claimant: command.by, acceptedAt: command.now, deadline: later(command.now, command.claimMs) }
      const type = command.type === 'accept' ? 'handoff.accepted' : 'handoff.claim_renewed'
      return { type, ...about, claim }
    }
    case 'complete': {
      const { by, targetSessionId, targetConversationId } = command
      return { type: 'handoff.completed', ...about, ...defined({ by, targetSessionId, targetConversationId }) }
    }
    case 'cancel':
      return { type: 'handoff.cancelled', ...about, ...endOf(command) }
    case 'fail':
      return { type: 'handoff.failed', ...about, ...endOf(command) }
    default:
      return command satisfies never
  }
}

const endOf = ({ by, reason }: Extract<HandoffCommand, { type: 'cancel' | 'fail' }>) =>
  defined({ by, endReason: reason })

/** The handoff right after it was initiated. */
export const beginHandoff = ({ handoff }: HandoffInitiated): HandoffMetadata => ({
  ...handoff,
  version: 1,
  status: 'initiated',
})

/** The handoff after the event. Never refuses. */
export const evolveHandoff = (handoff: HandoffMetadata, event: HandoffMoved): HandoffMetadata => {
  if (event.type === 'handoff.metadata_set') {
    const { metadata: _, ...rest } = handoff
    return { ...rest, ...defined({ metadata: event.metadata }) }
  }
  if (event.type === 'handoff.extract_kept') return { ...handoff, extract: event.extract }
  return {
    ...originOf(handoff),
    version: handoff.version + 1,
    ...attachmentsAfter(handoff, event),
    ...lifecycleAfter(handoff, event),
  }
}

/** The events that change the version of a handoff. A note or an extract does not. */
export type HandoffStep = Exclude<HandoffMoved, { type: 'handoff.metadata_set' | 'handoff.extract_kept' }>

const attachmentsAfter = ({ document, flags, checkpoint }: HandoffMetadata, event: HandoffStep): HandoffAttachments =>
  event.type === 'handoff.checkpointed'
    ? defined({ document: event.document, flags: [...flags, ...event.flags], checkpoint: event.checkpoint })
    : defined({ document, flags, checkpoint })

const lifecycleAfter = (handoff: HandoffMetadata, event: HandoffStep): HandoffLifecycle => {
  const claim = claimOf(handoff)
  // A claim goes by the store's clock, and an end by that of its process, which may be behind: nothing ends before its claim.
  const endedAt = claim !== undefined && claim.acceptedAt > event.at ? claim.acceptedAt : event.at
  const prepared = handoff.status === 'accepted' ? handoff.prepared : undefined
  switch (event.type) {
    case 'handoff.checkpointed':
      return { status: 'initiated' }
    case 'handoff.accepted':
    case 'handoff.claim_renewed':
      return defined({ status: 'accepted' as const, claim: event.claim, prepared })
    case 'handoff.prepared':
      return { status: 'accepted', claim: claimed(handoff), prepared: event.prepared }
    case 'handoff.completed': {
      const { targetSessionId, targetConversationId } = event
      return defined({
        status: 'completed' as const,
        claim: claimed(handoff),
        targetSessionId,
        targetConversationId,
        endedAt,
      })
    }
    case 'handoff.cancelled':
      return defined({ status: 'cancelled' as const, claim, endReason: event.endReason, endedAt })
    case 'handoff.failed':
      return defined({ status: 'failed' as const, claim, endReason: event.endReason, endedAt })
    default:
      return event satisfies never
  }
}

const claimed = (handoff: HandoffMetadata): Claim => {
  const claim = claimOf(handoff)
  if (claim === undefined) throw new TypeError(`Handoff ${handoff.id} went on before anyone accepted it`)
  return claim
}
