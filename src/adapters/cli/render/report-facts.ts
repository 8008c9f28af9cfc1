import { titleOf } from '../../../domain/conversation/title.ts'
import type { Job, JobWait } from '../../../domain/history/job.ts'
import { folderOf, type JobSums } from '../../../domain/history/job-sums.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { Instant } from '../../../domain/kernel/instant.ts'
import type { StoreAnswer } from '../choose/asked-stores.ts'

/** A report: what each store said, and the sums of it. */
export interface Report {
  readonly since: Instant
  /** By the clock of this machine. */
  readonly at: Instant
  readonly answers: readonly StoreAnswer[]
  readonly sums: JobSums
}

/** A report as a document for machines. */
export const reportDocument = ({ since, at, answers, sums }: Report): object => ({
  since,
  at,
  stores: answers.map((answer) =>
    'jobs' in answer
      ? defined({ store: answer.store, at: answer.at, jobs: answer.jobs.map(jobFacts), next: answer.next })
      : answer,
  ),
  ...sums,
})

const jobFacts = (job: Job): object => {
  const [root, ...threads] = job.conversations
  return defined({
    conversationId: root.id,
    conversationKey: root.externalKey,
    title: titleOf(root),
    folder: folderOf(job),
    state: job.state,
    agents: job.agents,
    windows: job.windows.length,
    restarts: job.restarts,
    costUsd: job.costUsd,
    openedAt: root.openedAt,
    latestAt: job.latestAt,
    threads: threads.map((thread) => ({ conversationId: thread.id, title: titleOf(thread) })),
    waits: job.waits.map(waitFacts),
    failures: job.failures,
  })
}

const waitFacts = ({ for: whom, ...wait }: JobWait): object =>
  whom === 'person' ? { for: 'person', ...wait } : { for: 'agent', agent: whom.agent, ...wait }
