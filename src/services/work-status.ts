import type { HandoffMetadata } from '../domain/handoff/handoff.ts'
import type { Instant } from '../domain/kernel/instant.ts'
import type { HolderState } from '../domain/session/holder-state.ts'
import type { AgentProcesses } from '../ports/agent-processes.ts'
import type { Store } from '../ports/store.ts'
import type { UnfinishedSession } from '../ports/unfinished-session.ts'

/** How many sessions, and how many handoffs, are shown at most. */
const MOST_SHOWN = 50

/** An unfinished session, and the state of its holder. */
export interface SessionNow extends UnfinishedSession {
  readonly holder: HolderState
}

/** An open handoff, and whether its claim ran out. */
export interface WaitingHandoff {
  readonly handoff: HandoffMetadata
  /** The orchestrator's own key of its conversation, where the source session is among those shown. */
  readonly conversationKey?: string
  readonly isClaimOver: boolean
}

/** The work that is under way in a store. */
export interface WorkStatus {
  /** The store's own time: leases and claims are compared with it. */
  readonly at: Instant
  readonly sessions: readonly SessionNow[]
  readonly handoffs: readonly WaitingHandoff[]
  /** There are more of either than are shown. */
  readonly hasMoreSessions: boolean
  readonly hasMoreHandoffs: boolean
}

/** Reads what runs now, in two questions that cost the same however long the history is. */
export const readWorkStatus = async (
  { store, processes }: { readonly store: Store; readonly processes?: AgentProcesses },
  limit = MOST_SHOWN,
): Promise<WorkStatus> => {
  const [sessions, handoffs] = await Promise.all([
    store.sessions.listUnfinished({ limit }),
    store.handoffs.list({ isOpen: true }, { limit }),
  ])
  const { at } = sessions
  const keys = new Map(sessions.items.map(({ session, conversationKey }) => [session.conversationId, conversationKey]))
  return {
    at,
    sessions: sessions.items.map((item) => ({ ...item, holder: holderOf(item, processes) })),
    handoffs: handoffs.items.map((handoff) => {
      const conversationKey = keys.get(handoff.conversationId)
      const isClaimOver = handoff.status === 'accepted' && handoff.claim.deadline <= at
      return { handoff, isClaimOver, ...(conversationKey !== undefined && { conversationKey }) }
    }),
    hasMoreSessions: sessions.next !== undefined,
    hasMoreHandoffs: handoffs.next !== undefined,
  }
}

/** The state of the holder of a session, as far as its lease and this machine can tell. */
export const holderOf = (
  { lease }: Pick<UnfinishedSession, 'lease'>,
  processes: AgentProcesses | undefined,
): HolderState => {
  if (lease === undefined) return 'unleased'
  if (lease.runner !== undefined && processes?.isGone?.(lease.runner) === true) return 'gone'
  return lease.isOver ? 'over' : 'held'
}
