import { type Decided, expecting } from '../decision.ts'
import type { SessionFacts } from '../facts.ts'
import type { SnapshotId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { ok } from '../kernel/result.ts'
import { findWorking, type SessionTarget } from './change-session.ts'
import { captureWindow, type SnapshotRecord, type SnapshotType } from './context-snapshot.ts'

/** Takes a picture of a session's window, in whatever state the session is. */
export const captureSnapshot = (
  facts: SessionFacts,
  target: SessionTarget,
  { id, type, at }: { readonly id: SnapshotId; readonly type: SnapshotType; readonly at: Instant },
): Decided<{ readonly snapshot: SnapshotRecord }> => {
  const found = findWorking(facts, target)
  if (!found.ok) return found
  const { session } = found.value
  const { conversationId } = session
  const snapshot = captureWindow(session, { id, type, at })
  return ok({
    changes: [
      { type: 'expect_session', session: { id: session.id, conversationId }, expected: expecting(found.value) },
      { type: 'add_snapshot', snapshot },
    ],
    events: [{ type: 'snapshot.captured', version: 1, conversationId, at, snapshot }],
    answer: { snapshot },
  })
}
