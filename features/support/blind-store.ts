import { instant } from '../../src/domain/kernel/instant.ts'
import type { Store } from '../../src/ports/store/store.ts'

/**
 * A store whose ports find nothing, whatever was written.
 *
 * Commands go to the real store and succeed. A scenario that still passes has looked at what a command answered, or at
 * nothing at all, instead of what was kept; `test/features.test.ts` makes sure there is none.
 */
export const blindStore = (store: Store): Store => {
  const nothing = async (): Promise<undefined> => undefined
  const none = async () => ({ items: [] })
  const noEntries = async () => ({ entries: [], next: '' })
  return {
    unitOfWork: store.unitOfWork,
    conversations: {
      find: nothing,
      findByExternalKey: nothing,
      findUse: nothing,
      list: none,
      lineage: nothing,
      listDelegated: async () => [],
      listJobs: async () => ({ items: [], at: instant('2000-01-01T00:00:00Z') }),
      findTree: nothing,
    },
    sessions: {
      find: nothing,
      findActive: nothing,
      findBaton: nothing,
      findLatest: nothing,
      isHeldBy: async () => false,
      listForConversation: none,
      list: none,
      listUnfinished: async () => ({ items: [], at: instant('2000-01-01T00:00:00Z') }),
      findByProviderSession: async () => [],
    },
    handoffs: { find: nothing, findOpenFor: nothing, listPendingFor: none, listForConversation: none, list: none },
    snapshots: { find: nothing, findLatest: nothing, listForSession: none },
    messages: {
      findTurn: nothing,
      findWindowAt: nothing,
      findOpening: nothing,
      listLatest: async () => [],
      findToolCalls: async () => [],
      findPersonMessages: async () => ({ messages: [], more: 0 }),
      listTurns: none,
      listMessages: none,
      listSessionMessages: none,
    },
    audit: {
      list: none,
      readChain: noEntries,
      listStreams: none,
      changes: noEntries,
      endOfChanges: async () => '0',
      listTurnsIn: none,
      listToolCallsIn: none,
      listSnapshotsIn: none,
      listLookBacksIn: none,
      findCommands: async () => [],
      listUnnamedCommands: async () => [],
      listMisnumbered: async () => [],
      listSharedIds: none,
    },
    monitors: { find: nothing },
    ids: { ending: async () => [] },
    lookBacks: { read: nothing, listForConversation: none, countFor: async () => new Map() },
    threadSummaries: { keep: nothing, list: none, figures: async () => [] },
    signals: { find: nothing, waiting: async () => [], acknowledge: async () => 0, listFor: none },
    leases: {
      renew: async () => false,
      keepProcesses: async () => false,
      find: nothing,
      listRunning: none,
      listExpired: none,
    },
    commands: { prune: async () => 0, countPrunable: async () => 0 },
    [Symbol.asyncDispose]: async () => {},
  }
}
