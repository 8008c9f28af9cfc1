import type { JobParts, JobWindow } from '../../domain/history/job.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import type { Paged } from './page.ts'
import type { UnfinishedSession } from './unfinished-session.ts'

/** One session of a job as it is stored: who holds it is told by its lease. */
export interface StoredWindow extends Omit<JobWindow, 'holder'>, Pick<UnfinishedSession, 'lease'> {}

/** A job as it is stored. */
export interface StoredJob extends Omit<JobParts, 'windows'> {
  readonly windows: readonly StoredWindow[]
}

/** Which jobs to list. */
export interface JobFilter {
  readonly since: Instant
}

/** One page of jobs, and the store's own time when it was read: leases and claims are compared with it. */
export interface JobPage extends Paged<StoredJob> {
  readonly at: Instant
}
