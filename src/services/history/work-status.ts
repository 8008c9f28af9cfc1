import { LEFT_FOR_NEXT } from '../../domain/handoff/document-notice.ts'
import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import { type Instant, later } from '../../domain/kernel/instant.ts'
import type { HolderState } from '../../domain/session/holder-state.ts'
import type { AgentProcesses } from '../../ports/agent/agent-processes.ts'
import type { Store } from '../../ports/store/store.ts'
import type { UnfinishedSession } from '../../ports/store/unfinished-session.ts'

/** How many sessions, and how many handoffs, are shown at most. */
const MOST_SHOWN = 50
const MOST_TAKEN = 10
const DAY_MS = 86_400_000

/** An unfinished session, and the state of its holder. */
export interface SessionNow extends UnfinishedSession {
  readonly holder: HolderState
  /** Whether its terminal was closed: nobody works it until it is resumed, or taken over. */
  readonly isClosed?: boolean
}

/** An open handoff, and whether its claim ran out. */
export interface WaitingHandoff {
  readonly handoff: HandoffMetadata
  /** The orchestrator's own key of its conversation, where the source session is among those shown. */
  readonly conversationKey?: string
  readonly isClaimOver: boolean
}

/** A document that a session left for the next one of its workspace, and the session that took it. */
export interface TakenDocument {
  readonly handoff: HandoffMetadata
  readonly workspace: string
  /** The runtimes' names of both sessions. */
  readonly leftBy: string
  readonly takenBy: string
}

/** The work that is under way in a store. */
export interface WorkStatus {
  /** The store's own time: leases and claims are compared with it. */
  readonly at: Instant
  readonly sessions: readonly SessionNow[]
  readonly handoffs: readonly WaitingHandoff[]
  /** Those of the last day, newest first. */
  readonly takenDocuments: readonly TakenDocument[]
  /** There are more of either than are shown. */
  readonly hasMoreSessions: boolean
  readonly hasMoreHandoffs: boolean
}

/** Reads what runs now, in three questions that cost the same however long the history is. */
export const readWorkStatus = async (
  { store, processes }: { readonly store: Store; readonly processes?: AgentProcesses },
  limit = MOST_SHOWN,
): Promise<WorkStatus> => {
  const [sessions, handoffs] = await Promise.all([
    store.sessions.listUnfinished({ limit }),
    store.handoffs.list({ isOpen: true }, { limit }),
  ])
  const { at } = sessions
  const takenDocuments = await readTaken(store, at)
  const keys = new Map(sessions.items.map(({ session, conversationKey }) => [session.conversationId, conversationKey]))
  return {
    at,
    sessions: sessions.items.map((item) => ({ ...item, holder: holderStateOf(item, processes) })),
    handoffs: handoffs.items.map((handoff) => {
      const conversationKey = keys.get(handoff.conversationId)
      const isClaimOver = handoff.status === 'accepted' && handoff.claim.deadline <= at
      return { handoff, isClaimOver, ...(conversationKey !== undefined && { conversationKey }) }
    }),
    takenDocuments,
    hasMoreSessions: sessions.next !== undefined,
    hasMoreHandoffs: handoffs.next !== undefined,
  }
}

const readTaken = async (store: Store, now: Instant): Promise<readonly TakenDocument[]> => {
  const filter = {
    ...{ metadata: LEFT_FOR_NEXT, status: 'completed' as const, order: 'newest_first' as const },
    initiatedFrom: later(now, -DAY_MS),
  }
  const { items } = await store.handoffs.list(filter, { limit: MOST_TAKEN })
  return items.map((handoff) => {
    const metadata = { ...handoff.metadata } as Readonly<Record<string, unknown>>
    const noted = (name: string): string => String(metadata[name] ?? '')
    return { handoff, workspace: noted('workspace'), leftBy: noted('left_by'), takenBy: noted('taken_by') }
  })
}

/** The state of the holder of a session, as far as its lease and this machine can tell. */
export const holderStateOf = (
  { lease }: Pick<UnfinishedSession, 'lease'>,
  processes: AgentProcesses | undefined,
): HolderState => {
  if (lease === undefined) return 'unleased'
  if (lease.runner !== undefined && processes?.isGone?.(lease.runner) === true) return 'gone'
  return lease.isOver ? 'over' : 'held'
}
