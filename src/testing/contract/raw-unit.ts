import type { AuditEvent } from '../../domain/audit-event.ts'
import type { Change } from '../../domain/decision.ts'
import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import { commandId, handoffId, snapshotId } from '../../domain/kernel/ids.ts'
import type { TurnsRecorded } from '../../domain/recording/record-turns.ts'
import type { WorkingSession } from '../../domain/session/agent-session.ts'
import type { SnapshotRecord } from '../../domain/session/context-snapshot.ts'
import type { StoredSession } from '../../domain/session/stored-session.ts'
import type { Unit } from '../../ports/store/unit-of-work.ts'
import { tokenDigest } from '../../ports/system/holder-tokens.ts'
import type { Scene } from '../scene.ts'

/** A unit put together by hand, for what no decision of the domain would ask. */
export const rawUnit = (scene: Scene, changes: readonly Change[], events: readonly AuditEvent[] = []): Unit => ({
  command: { id: commandId(scene.ids.next()), payload: '"by hand"' },
  changes,
  events,
  isRemembered: true,
})

/** A session as a store keeps it: with the digest of its holder's token. */
export const stored = ({ session, holder }: WorkingSession): StoredSession => ({ session, holder: tokenDigest(holder) })

/** A snapshot of a session, not yet stored. */
export const rawSnapshot = (scene: Scene, { session }: TurnsRecorded): SnapshotRecord => ({
  id: snapshotId(scene.ids.next()),
  conversationId: session.conversationId,
  sessionId: session.id,
  type: 'on_demand',
  capturedAt: scene.clock.now(),
  ...session.progress.window,
})

/** A handoff of a session, not yet stored. */
export const rawHandoff = (scene: Scene, { session, turns }: TurnsRecorded): HandoffMetadata => {
  const turn = turns[0]
  if (turn === undefined) throw new Error('a handoff needs a turn')
  return {
    id: handoffId(scene.ids.next()),
    kind: 'agent_transfer',
    conversationId: session.conversationId,
    sourceSessionId: session.id,
    sourceAgent: session.agentName,
    targetAgent: scene.name('opus'),
    reason: 'by hand',
    priorTurnId: turn.id,
    triggeringToolCalls: turn.toolCalls,
    flags: [],
    initiatedAt: scene.clock.now(),
    version: 1,
    status: 'initiated',
  }
}
