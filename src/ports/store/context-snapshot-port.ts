import type { AgentSessionId, SnapshotId } from '../../domain/kernel/ids.ts'
import type { ContextWindowSnapshot } from '../../domain/session/context-snapshot.ts'
import type { Page, Paged } from './page.ts'

/** Keeps snapshots, and finds the visible tool calls of each: those of its session within its range, in order. */
export interface ContextSnapshotPort {
  find(id: SnapshotId): Promise<ContextWindowSnapshot | undefined>
  findLatest(session: AgentSessionId): Promise<ContextWindowSnapshot | undefined>
  /** In the order they were taken. */
  listForSession(session: AgentSessionId, page: Page): Promise<Paged<ContextWindowSnapshot>>
}
