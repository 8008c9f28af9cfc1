import type { Store } from '../../src/entry/ports.ts'
import type { StoredJob } from '../../src/ports/store/job-list.ts'
import { withParts } from './wrap.ts'

const changing = (store: Store, change: (jobs: readonly StoredJob[], since: string) => readonly StoredJob[]): Store =>
  withParts(store, {
    conversations: {
      ...store.conversations,
      listJobs: async (filter, page) => {
        const found = await store.conversations.listJobs(filter, page)
        return { ...found, items: change(found.items, filter.since) }
      },
    },
  })

/** Lists only what began or ended in the time that was asked for, and forgets work from before that still waits. */
export const forgettingOpenJobs = (store: Store): Store =>
  changing(store, (jobs, since) => jobs.filter(({ latestAt }) => latestAt >= since))

/** Tells of the first conversation of a job alone. */
export const leavingThreadsOut = (store: Store): Store =>
  changing(store, (jobs) =>
    jobs.map(({ conversations: [root], windows, ...job }) => ({
      ...job,
      conversations: [root],
      windows: windows.filter(({ session }) => session.conversationId === root.id),
    })),
  )
