import { type Job, jobOf, type WaitingDocument } from '../../domain/history/job.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import type { AgentProcesses } from '../../ports/agent/agent-processes.ts'
import type { JobFilter, StoredWindow } from '../../ports/store/job-list.ts'
import type { Page, Paged } from '../../ports/store/page.ts'
import type { Store } from '../../ports/store/store.ts'
import { pageOf } from './list-page.ts'
import { FILTERS, valid } from './questions.ts'
import { holderStateOf } from './work-status.ts'

/** One page of jobs as a report tells them, and the store's own time when it was read. */
export interface ReportedJobs extends Paged<Job> {
  readonly at: Instant
}

/** The parts a report is made from. */
export interface JobReportParts {
  readonly store: Store
  /** Tells whether a runner has ended; left out, only leases do. */
  readonly processes?: AgentProcesses
  /** The documents that wait for somebody's next session. */
  readonly documents?: readonly WaitingDocument[]
}

/**
 * Reads one page of jobs, in one question to the store, and tells how each stands.
 *
 * @throws RefusedError when the filter or the page is wrong
 */
export const readJobs = async (
  { store, processes, documents = [] }: JobReportParts,
  filter: JobFilter,
  page: Page = {},
): Promise<ReportedJobs> => {
  const wanted = valid(FILTERS.job, filter, 'filter')
  const { items, at, ...rest } = await pageOf(['jobs', wanted], page, (from) =>
    store.conversations.listJobs(wanted, from),
  )
  const heldWindow = ({ lease, ...window }: StoredWindow) => ({
    ...window,
    holder: holderStateOf(lease === undefined ? {} : { lease }, processes),
  })
  return {
    ...rest,
    at,
    items: items.map((job) => jobOf({ ...job, windows: job.windows.map(heldWindow) }, documents, at)),
  }
}
