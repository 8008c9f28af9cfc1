import type { CheckpointFacts } from '../checkpoint/checkpoint-facts.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { type Decided, expectingHandoff } from '../decision.ts'
import type { HandoffFacts } from '../facts.ts'
import { defined } from '../kernel/defined.ts'
import type { AgentSessionId, HandoffId, HolderToken, SnapshotId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { ok } from '../kernel/result.ts'
import type { SourceSession } from '../session/agent-session.ts'
import { captureWindow } from '../session/context-snapshot.ts'
import type { HandoffFlag, HandoffMetadata } from './handoff.ts'
import { decideHandoff, evolveHandoff, type HandoffCommand } from './handoff-lifecycle.ts'
import { findHandoff, type HandoffAccepted, heldGuard } from './settle-handoff.ts'

/** What it takes to keep what the outgoing agent left, or that it left nothing. */
export interface KeepCheckpoint {
  readonly handoffId: HandoffId
  /** The checkpoint; absent when there is none. */
  readonly document?: string
  readonly flags?: readonly HandoffFlag[]
  readonly checkpoint: CheckpointFacts
  /** Who works the source: it is refused to anybody else. */
  readonly holder: HolderToken
}

/** What it takes to keep what a successor is to open with. */
export interface PrepareHandoff {
  readonly handoffId: HandoffId
  readonly claimant: string
  readonly continuation: string
  /** The session that will be, so that hooks and runtimes can be told of it before. */
  readonly targetSessionId: AgentSessionId
  /** Who works the source: it is refused to anybody else. */
  readonly holder: HolderToken
}

/** Keeps what became of asking the outgoing agent, and a picture of the window it wrote from. */
export const keepCheckpoint = (
  facts: HandoffFacts,
  { handoffId, document, flags = [], checkpoint, holder }: KeepCheckpoint,
  { snapshotId, at }: { readonly snapshotId: SnapshotId; readonly at: Instant },
): Decided<HandoffAccepted> => {
  const moved = moveHandoff(
    facts,
    { handoffId, holder },
    {
      type: 'checkpoint',
      ...defined({ document }),
      flags,
      checkpoint,
      at,
      now: facts.now,
    },
  )
  if (!moved.ok || document === undefined) return moved
  const { session } = moved.value.answer
  const { conversationId } = session
  const snapshot = captureWindow(session, { id: snapshotId, type: 'checkpoint', at })
  return ok({
    ...moved.value,
    changes: [...moved.value.changes, { type: 'add_snapshot', snapshot }],
    events: [...moved.value.events, { type: 'snapshot.captured', version: 1, conversationId, at, snapshot }],
  })
}

/** Keeps what the successor is to open with, and which session it will be. */
export const prepareHandoff = (
  facts: HandoffFacts,
  { handoffId, claimant, continuation, targetSessionId: sessionId, holder }: PrepareHandoff,
  at: Instant,
): Decided<HandoffAccepted> => {
  const prepared = { sessionId, continuation }
  return moveHandoff(facts, { handoffId, holder }, { type: 'prepare', by: claimant, prepared, at, now: facts.now })
}

const moveHandoff = (
  facts: HandoffFacts,
  { handoffId, holder }: Pick<PrepareHandoff, 'handoffId' | 'holder'>,
  command: HandoffCommand,
): Decided<HandoffAccepted> => {
  const found = findHandoff(facts, handoffId, holder)
  if (!found.ok) return found
  const { handoff, source, conversation } = found.value
  const decided = decideHandoff(handoff, command)
  if (!decided.ok) return decided
  const after = evolveHandoff(handoff, decided.value)
  return ok({
    changes: [
      { type: 'move_handoff', handoff: after, expected: expectingHandoff(handoff) },
      ...heldGuard(source, holder),
    ],
    events: [decided.value],
    answer: answerOf(after, source, conversation, facts),
  })
}

const answerOf = (
  handoff: HandoffMetadata,
  { session }: SourceSession,
  conversation: Conversation,
  { monitor }: HandoffFacts,
): HandoffAccepted => defined({ handoff, session, conversation, monitor })
