import { defined } from '../kernel/defined.ts'
import type { Instant } from '../kernel/instant.ts'
import { costOf, type Job, type JobWindow, latestMomentOf } from './job.ts'

/** How many jobs and windows there were, and what they cost; no cost where none is known. */
export interface JobSum {
  readonly jobs: number
  readonly windows: number
  readonly costUsd?: number
}

/** Sums over some jobs. Those of the days and of what was earlier add up to all windows; so do those of the folders. */
export interface JobSums {
  readonly total: JobSum
  /** By the day on which a window ended, or was last heard of; the latest first. */
  readonly days: readonly (JobSum & { readonly day: string })[]
  /** Windows of these jobs that had ended before the report begins; absent where there are none. */
  readonly earlier?: JobSum
  /** By the folder of the job, the one with the latest job first; jobs without a folder have none. */
  readonly folders: readonly (JobSum & { readonly folder?: string })[]
}

/** The folder that a job works in. */
export const folderOf = ({ conversations: [{ workspace }] }: Pick<Job, 'conversations'>): string | undefined =>
  workspace?.workingDirectory ?? workspace?.worktreePath

interface Counted {
  readonly job: Job
  readonly windows: readonly JobWindow[]
}

/** Adds jobs up, by day and by folder. */
export const sumsOf = (jobs: readonly Job[], since: Instant, dayOf: (at: Instant) => string): JobSums => {
  const all = jobs.map((job): Counted => ({ job, windows: job.windows }))
  const recent = (window: JobWindow): boolean => !('endedAt' in window.session) || window.session.endedAt >= since
  const days = grouped(
    jobs.flatMap((job) =>
      job.windows.filter(recent).map((window) => [dayOf(latestMomentOf(window)), { job, windows: [window] }] as const),
    ),
  )
  const before = jobs
    .map((job): Counted => ({ job, windows: job.windows.filter((window) => !recent(window)) }))
    .filter(({ windows }) => windows.length > 0)
  return defined({
    total: sumOf(all),
    days: [...days].map(([day, counted]) => ({ day, ...sumOf(counted) })).sort((a, b) => (a.day < b.day ? 1 : -1)),
    earlier: before.length === 0 ? undefined : sumOf(before),
    folders: [...grouped(all.map((counted) => [folderOf(counted.job), counted] as const))].map(([folder, counted]) =>
      defined({ folder, ...sumOf(counted) }),
    ),
  })
}

const grouped = <Key>(entries: readonly (readonly [Key, Counted])[]): ReadonlyMap<Key, readonly Counted[]> => {
  const groups = new Map<Key, Counted[]>()
  for (const [key, counted] of entries) {
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [counted])
    else group.push(counted)
  }
  return groups
}

const sumOf = (counted: readonly Counted[]): JobSum => {
  const windows = counted.flatMap((each) => each.windows)
  return defined({
    jobs: new Set(counted.map(({ job }) => job)).size,
    windows: windows.length,
    costUsd: costOf(windows),
  })
}
