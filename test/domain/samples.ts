import { DEFAULT_RESTART_BUDGET } from '../../src/domain/budget/restart-budget.ts'
import type { Conversation } from '../../src/domain/conversation/conversation.ts'
import type { Claim, HandoffLifecycle, HandoffMetadata, HandoffStatus } from '../../src/domain/handoff/handoff.ts'
import {
  agentSessionId,
  commandId,
  conversationId,
  handoffId,
  holderToken,
  messageId,
  snapshotId,
  turnId,
} from '../../src/domain/kernel/ids.ts'
import { instant, later } from '../../src/domain/kernel/instant.ts'
import { sequenceNumber, sequenceRange } from '../../src/domain/kernel/sequence.ts'
import type { AgentSession, SessionLifecycle } from '../../src/domain/session/agent-session.ts'
import type { HolderProof } from '../../src/domain/session/stored-session.ts'
import { EMPTY_SUMMARY } from '../../src/domain/turn/message-summary.ts'
import { UNKNOWN_USAGE } from '../../src/domain/window/usage-reading.ts'
import { tokenDigest } from '../../src/ports/system/holder-tokens.ts'

/** A UUID that ends in this number. */
export const uuid = (n: number): string => `0190a0a0-0000-7000-8000-${n.toString(16).padStart(12, '0')}`

export const AT = instant('2026-03-01T10:00:00.000Z')
export const LATER = later(AT, 1_000)
export const DEADLINE = later(AT, 60_000)
export const CONVERSATION = conversationId(uuid(1))
export const SESSION = agentSessionId(uuid(2))
export const TARGET = agentSessionId(uuid(3))
export const HANDOFF = handoffId(uuid(4))
export const OTHER_HANDOFF = handoffId(uuid(5))
export const TURN = turnId(uuid(6))
export const MESSAGE = messageId(uuid(7))
export const SNAPSHOT = snapshotId(uuid(8))
export const COMMAND = commandId(uuid(9))
/** A token and its digest. */
export const proofOf = (number: number): HolderProof => {
  const token = holderToken(uuid(number))
  return { token, digest: tokenDigest(token) }
}

export const HOLDER = proofOf(10)
export const CLAIM: Claim = { claimant: 'worker-1', acceptedAt: AT, deadline: DEADLINE }

export const conversationOf = (over: Partial<Conversation> = {}): Conversation => ({
  id: CONVERSATION,
  originalTask: 'Fix the flaky test',
  restartBudget: DEFAULT_RESTART_BUDGET,
  openedAt: AT,
  ...over,
})

/** A session of one turn with two messages, at version 3. */
export const sessionOf = (lifecycle: SessionLifecycle, over: Partial<AgentSession> = {}): AgentSession =>
  ({
    id: SESSION,
    conversationId: CONVERSATION,
    epoch: 1,
    agentName: 'claude-code',
    backend: 'scripted',
    startSequence: sequenceNumber(1),
    startedAt: AT,
    version: 3,
    progress: {
      turns: 1,
      lastTurnId: TURN,
      nextSequence: sequenceNumber(3),
      lastSequence: sequenceNumber(2),
      exchangeStart: sequenceNumber(1),
      window: {
        messages: { ...EMPTY_SUMMARY, user: 1, assistant: 1 },
        range: sequenceRange(1, 2),
        usage: UNKNOWN_USAGE,
      },
    },
    ...lifecycle,
    ...over,
  }) as AgentSession

const END = { endedAt: AT, endSequence: sequenceNumber(2) } as const

/** A session in every situation the rules tell apart. */
export const SESSIONS = {
  active: sessionOf({ state: 'active' }),
  paused: sessionOf({ state: 'paused' }),
  held: sessionOf({ state: 'paused', heldBy: HANDOFF }),
  handed_off: sessionOf({ state: 'handed_off', terminatedByHandoff: HANDOFF, ...END }),
  completed: sessionOf({ state: 'completed', ...END }),
  failed: sessionOf({ state: 'failed', endReason: 'It gave up', ...END }),
} as const

export const handoffOf = (lifecycle: HandoffLifecycle, over: Partial<HandoffMetadata> = {}): HandoffMetadata =>
  ({
    id: HANDOFF,
    kind: 'agent_transfer',
    conversationId: CONVERSATION,
    sourceSessionId: SESSION,
    sourceAgent: 'claude-code',
    targetAgent: 'opus',
    reason: 'The window is nearly full',
    priorTurnId: TURN,
    triggeringToolCalls: [],
    flags: [],
    initiatedAt: AT,
    version: 2,
    ...lifecycle,
    ...over,
  }) as HandoffMetadata

/** A handoff in every status; whoever has claimed one is `worker-1`, until the deadline. */
export const HANDOFFS: Readonly<Record<HandoffStatus, HandoffMetadata>> = {
  initiated: handoffOf({ status: 'initiated' }),
  accepted: handoffOf({ status: 'accepted', claim: CLAIM }),
  completed: handoffOf({ status: 'completed', claim: CLAIM, targetSessionId: TARGET, endedAt: AT }),
  cancelled: handoffOf({ status: 'cancelled', endReason: 'Not needed', endedAt: AT }),
  failed: handoffOf({ status: 'failed', claim: CLAIM, endReason: 'It broke', endedAt: AT }),
}
