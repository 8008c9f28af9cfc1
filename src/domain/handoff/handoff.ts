import type { CheckpointFacts } from '../checkpoint/checkpoint-facts.ts'
import type { AgentSessionId, ConversationId, HandoffId, TurnId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import type { Metadata } from '../kernel/metadata.ts'
import { parts } from '../kernel/parts.ts'
import { statesOf, type TransitionTable, terminalStates } from '../kernel/state-machine.ts'
import type { ToolCallReference } from '../turn/tool-call.ts'

/** Why a conversation is passed on: to another agent, to a fresh window, or into a thread. */
export const HANDOFF_KINDS = ['agent_transfer', 'context_restart', 'thread'] as const

/** Why a conversation is passed on. */
export type HandoffKind = (typeof HANDOFF_KINDS)[number]

/** The commands of a handoff. */
export type HandoffCommandType = 'checkpoint' | 'accept' | 'renew' | 'prepare' | 'complete' | 'cancel' | 'fail'

/**
 * The life of a handoff. The checkpoint is stored before the handoff is claimed, and the opening of the successor
 * before the successor exists. A later claimant may accept again once the deadline has passed.
 *
 * @example
 * ```ts
 * console.log(Object.keys(HANDOFF_TRANSITIONS.initiated).join(', ')) // => checkpoint, accept, cancel, fail
 * ```
 */
export const HANDOFF_TRANSITIONS = {
  initiated: { checkpoint: 'initiated', accept: 'accepted', cancel: 'cancelled', fail: 'failed' },
  accepted: {
    accept: 'accepted',
    renew: 'accepted',
    prepare: 'accepted',
    complete: 'completed',
    cancel: 'cancelled',
    fail: 'failed',
  },
  completed: {},
  cancelled: {},
  failed: {},
} as const satisfies TransitionTable<string, HandoffCommandType>

/** Where a handoff is in its life. */
export type HandoffStatus = keyof typeof HANDOFF_TRANSITIONS

/** Every status of a handoff. */
export const HANDOFF_STATUSES: readonly HandoffStatus[] = statesOf(HANDOFF_TRANSITIONS)

/** The statuses a handoff never leaves. */
export const TERMINAL_HANDOFF_STATUSES = terminalStates<HandoffStatus, HandoffCommandType>(HANDOFF_TRANSITIONS)

/** How long a claim lasts unless the claimant asks for more or less: one minute. */
export const DEFAULT_CLAIM_MS = 60_000

/** The longest a claim may last: one day. Work that takes longer completes the handoff first. */
export const MAX_CLAIM_MS = 86_400_000

/** How far the beginning of a claim may be from the store's own time; beyond that the claim is decided again. */
export const CLAIM_TOLERANCE_MS = 2_000

/** Remarks about how a handoff came to be, for auditors. `delegated`: the source waits for the outcome of this thread. */
export const HANDOFF_FLAGS = [
  'minimal_continuation',
  'checkpoint_timed_out',
  'checkpoint_missing',
  'checkpoint_failed',
  'checkpoint_skipped',
  'checkpoint_unstructured',
  'recap_from_record',
  'decided_by_hook',
  'window_overflowed',
  'runtime_lost',
  'no_progress',
  'delegated',
] as const

/** A remark about how a handoff came to be. */
export type HandoffFlag = (typeof HANDOFF_FLAGS)[number]

/** W3C trace context, carried across the boundary. */
export interface TraceContext {
  readonly traceparent: string
  readonly tracestate?: string
}

/** The facts a handoff begins with: who, when, why, and what led to it. */
export interface HandoffOrigin<Note extends Metadata = Metadata> {
  readonly id: HandoffId
  readonly kind: HandoffKind
  readonly conversationId: ConversationId
  readonly sourceSessionId: AgentSessionId
  readonly sourceAgent: string
  readonly targetAgent: string
  readonly reason: string
  readonly priorTurnId: TurnId
  readonly triggeringToolCalls: readonly ToolCallReference[]
  readonly traceContext?: TraceContext
  readonly initiatedAt: Instant
  /** The caller's own note. It may be replaced at any time, which moves nothing else. */
  readonly metadata?: Note
  /** Work of the outgoing agent that was not recorded in time, read back from its transcript. Kept once. */
  readonly extract?: string
}

/** The attachments of a handoff. A document never changes once it is there. */
export interface HandoffAttachments {
  /** The checkpoint, or the caller's own text for the successor. */
  readonly document?: string
  readonly flags: readonly HandoffFlag[]
  /** The outcome of asking the outgoing agent; absent until it was asked. */
  readonly checkpoint?: CheckpointFacts
}

/** The opening of a successor, kept before the successor exists. */
export interface PreparedSession {
  readonly sessionId: AgentSessionId
  readonly continuation: string
}

/** Who took a handoff, since when, and until when nobody else may. Both times by the store's clock. */
export interface Claim {
  readonly claimant: string
  readonly acceptedAt: Instant
  readonly deadline: Instant
}

/** The known parts of a handoff depend on its status. */
export type HandoffLifecycle =
  | { readonly status: 'initiated' }
  | { readonly status: 'accepted'; readonly claim: Claim; readonly prepared?: PreparedSession }
  | {
      readonly status: 'completed'
      readonly claim: Claim
      readonly targetSessionId: AgentSessionId
      /** The child conversation a thread opened. */
      readonly targetConversationId?: ConversationId
      readonly endedAt: Instant
    }
  | {
      readonly status: 'cancelled' | 'failed'
      readonly claim?: Claim
      readonly endReason: string
      readonly endedAt: Instant
    }

/** The part of a handoff that changes, and the version it is compared by. */
export type HandoffStanding = { readonly version: number } & HandoffAttachments & HandoffLifecycle

/** The passing of a conversation from a source session to a target. */
export type HandoffMetadata<Note extends Metadata = Metadata> = HandoffOrigin<Note> & HandoffStanding

/**
 * Whether a handoff has not ended yet.
 *
 * @example
 * ```ts
 * await using batonpass = await createBatonpass({ store: 'memory' })
 * const { handoffs } = batonpass
 * const { conversation } = unwrap(await handoffs.openConversation({ originalTask: 'Fix the flaky test' }))
 * const agent = { agentName: 'claude-code', backend: 'claude_agent_sdk' }
 * const working = unwrap(await handoffs.startSession({ conversationId: conversation.id, ...agent }))
 * const worked = unwrap(await handoffs.recordTurn({ ...working, messages: [{ role: 'user', text: 'Continue' }] }))
 * const { handoff } = unwrap(await handoffs.initiateHandoff({ ...worked, targetAgent: 'opus', reason: 'Stuck' }))
 * const completed = unwrap(await handoffs.completeHandoff({ handoff }))
 * console.log(isOpen(handoff), isOpen(completed.handoff)) // => true false
 * ```
 */
export const isOpen = (handoff: HandoffMetadata): boolean => !TERMINAL_HANDOFF_STATUSES.includes(handoff.status)

/** The claim on a handoff, current or last. */
export const claimOf = (handoff: HandoffMetadata): Claim | undefined =>
  handoff.status === 'initiated' ? undefined : handoff.claim

/** Whether a handoff may be claimed now: nobody has claimed it, or the claimant's deadline has passed. */
export const isClaimable = (handoff: HandoffMetadata, now: Instant): boolean =>
  handoff.status === 'initiated' || (handoff.status === 'accepted' && handoff.claim.deadline <= now)

const ORIGIN = {
  id: true,
  kind: true,
  conversationId: true,
  sourceSessionId: true,
  sourceAgent: true,
  targetAgent: true,
  reason: true,
  priorTurnId: true,
  triggeringToolCalls: true,
  traceContext: true,
  initiatedAt: true,
  metadata: true,
  extract: true,
} satisfies Record<keyof HandoffOrigin, true>

/** The part of a handoff that never changes. */
export const originOf = (handoff: HandoffMetadata): HandoffOrigin => parts(handoff, ORIGIN, true)

/** The part of a handoff that changes. */
export const handoffStandingOf = (handoff: HandoffMetadata): HandoffStanding => parts(handoff, ORIGIN, false)
