import type { CheckpointFacts } from '../checkpoint/checkpoint-facts.ts'
import { type Decided, newDraft } from '../decision.ts'
import type { HandoffFacts } from '../facts.ts'
import { defined } from '../kernel/defined.ts'
import type { AgentSessionId, HandoffId, SnapshotId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { takeSnapshot } from '../session/snapshot-aggregate.ts'
import type { HolderProof } from '../session/stored-session.ts'
import type { HandoffFlag } from './handoff.ts'
import { type HandoffAccepted, moveHandoff } from './settle-handoff.ts'

/** A request to keep the checkpoint of the outgoing agent, or the fact that it left none. */
export interface KeepCheckpoint {
  readonly handoffId: HandoffId
  /** The checkpoint; absent when there is none. */
  readonly document?: string
  readonly flags?: readonly HandoffFlag[]
  readonly checkpoint: CheckpointFacts
  /** Who works the source: it is refused to anybody else. */
  readonly holder: HolderProof
}

/** A request to keep the opening of a successor. */
export interface PrepareHandoff {
  readonly handoffId: HandoffId
  readonly claimant: string
  readonly continuation: string
  /** The session that will be, so that hooks and runtimes can be told of it before. */
  readonly targetSessionId: AgentSessionId
  /** Who works the source: it is refused to anybody else. */
  readonly holder: HolderProof
}

/** Keeps what became of asking the outgoing agent, and a picture of the window it wrote from. */
export const keepCheckpoint = (
  facts: HandoffFacts,
  { handoffId, document, flags = [], checkpoint, holder }: KeepCheckpoint,
  { snapshotId, at }: { readonly snapshotId: SnapshotId; readonly at: Instant },
): Decided<HandoffAccepted> => {
  const draft = newDraft()
  const step = { type: 'checkpoint', ...defined({ document }), flags, checkpoint, at, now: facts.now } as const
  const moved = moveHandoff(draft, facts, { handoffId, holder }, step)
  if (!moved.ok) return moved
  if (document !== undefined) takeSnapshot(draft, moved.value.session, { id: snapshotId, type: 'checkpoint', at })
  return draft.finish(moved.value)
}

/** Keeps what the successor is to open with, and which session it will be. */
export const prepareHandoff = (
  facts: HandoffFacts,
  { handoffId, claimant, continuation, targetSessionId: sessionId, holder }: PrepareHandoff,
  at: Instant,
): Decided<HandoffAccepted> => {
  const draft = newDraft()
  const step = { type: 'prepare', by: claimant, prepared: { sessionId, continuation }, at, now: facts.now } as const
  const moved = moveHandoff(draft, facts, { handoffId, holder }, step)
  return moved.ok ? draft.finish(moved.value) : moved
}
