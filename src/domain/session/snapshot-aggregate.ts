import type { Change, DecisionDraft } from '../decision.ts'
import type { Aggregate, Begins } from '../kernel/draft.ts'
import type { AgentSession } from './agent-session.ts'
import { captureWindow, type SnapshotEvent, type SnapshotRecord } from './context-snapshot.ts'

/** A snapshot. It never changes. */
const SNAPSHOT: Aggregate<SnapshotRecord, SnapshotEvent, Change> & Begins<SnapshotRecord, SnapshotEvent> = {
  keyOf: ({ id }) => id,
  begin: ({ snapshot }) => snapshot,
  changesOf: ({ now: snapshot }) => [{ type: 'add_snapshot', snapshot }],
}

/** Takes a picture of a session's window as it is in this copy of it. */
export const takeSnapshot = (
  draft: DecisionDraft,
  session: AgentSession,
  capture: Parameters<typeof captureWindow>[1],
): SnapshotRecord => {
  const { conversationId } = session
  const snapshot = captureWindow(session, capture)
  return draft.begin(SNAPSHOT, { type: 'snapshot.captured', version: 1, conversationId, at: capture.at, snapshot })
}
