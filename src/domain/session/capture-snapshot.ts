import { type Decided, newDraft } from '../decision.ts'
import type { SessionFacts } from '../facts.ts'
import type { SnapshotId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { findWorking, type SessionTarget } from './change-session.ts'
import type { SnapshotRecord, SnapshotType } from './context-snapshot.ts'
import { SESSION } from './session-aggregate.ts'
import { takeSnapshot } from './snapshot-aggregate.ts'

/** Takes a picture of a session's window, in whatever state the session is. */
export const captureSnapshot = (
  facts: SessionFacts,
  target: SessionTarget,
  { id, type, at }: { readonly id: SnapshotId; readonly type: SnapshotType; readonly at: Instant },
): Decided<{ readonly snapshot: SnapshotRecord }> => {
  const found = findWorking(facts, target)
  if (!found.ok) return found
  const draft = newDraft()
  draft.guard(SESSION, found.value)
  return draft.finish({ snapshot: takeSnapshot(draft, found.value.session, { id, type, at }) })
}
