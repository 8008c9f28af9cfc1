import type { Conversation } from '../../../domain/conversation/conversation.ts'
import { titleOf } from '../../../domain/conversation/title.ts'
import type { Job, JobFailure, JobWait } from '../../../domain/history/job.ts'
import { folderOf, type JobSum, type JobSums } from '../../../domain/history/job-sums.ts'
import { counted } from '../../../domain/kernel/counted.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { shortId } from '../../../domain/kernel/id-ending.ts'
import type { ConversationId } from '../../../domain/kernel/ids.ts'
import type { Instant } from '../../../domain/kernel/instant.ts'
import { inQuotes, named } from '../../../domain/kernel/safe-text.ts'
import type { Style } from '../invocation/output.ts'
import { inHome } from './conversation-rows.ts'
import { age } from './times.ts'

/** The jobs of one store, and where its list ended. */
export interface ToldStore {
  readonly store: string
  readonly at: Instant
  readonly jobs: readonly Job[]
  readonly next?: string
}

/** A store that could not be asked, and why. */
export interface SilentStore {
  readonly store: string
  readonly code?: string
  readonly problem: string
}

/** The answer of a store, or the reason there is none. */
export type StoreAnswer = ToldStore | SilentStore

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

/** How a state looks on a terminal. */
export const STATE_STYLE: Readonly<Record<Job['state'], Style | undefined>> = {
  running: 'good',
  waiting: 'waiting',
  orphaned: 'bad',
  open: 'waiting',
  finished: undefined,
  failed: 'bad',
}

/** The name that commands take for a job: its key, or how its id ends. */
export const nameOf = ({ id, externalKey }: Conversation): string => externalKey ?? shortId(id)

/** Dollars, where they are known. */
export const dollarText = (costUsd: number | undefined): string | undefined =>
  costUsd === undefined ? undefined : `$${costUsd.toFixed(2)}`

/** A sum in a few words. */
export const sumText = ({ jobs, windows, costUsd }: JobSum): string =>
  [counted(jobs, 'job'), counted(windows, 'window'), dollarText(costUsd)]
    .filter((part) => part !== undefined)
    .join(', ')

/** The sum over a report. Where a page ended before its last job, it says so: the sums are of the jobs that are shown. */
export const totalText = ({ answers, sums }: Report): string =>
  `${answers.some((answer) => 'next' in answer) ? 'the latest ' : ''}${sumText(sums.total)}`

/** Everything of a job that somebody is to know or to do, a sentence each: failures first. */
export const remarksOf = (job: Job, now: Instant): readonly { readonly text: string; readonly style: Style }[] => [
  ...job.failures.map((failure) => ({ text: failureText(failure, job), style: 'bad' as const })),
  ...(job.state === 'orphaned'
    ? [{ text: 'its process is gone; "baton recover" resumes it', style: 'bad' as const }]
    : []),
  ...(job.state === 'open' ? [{ text: openText(job, now), style: 'waiting' as const }] : []),
  ...job.waits.map((wait) => ({ text: waitText(wait, job, now), style: 'waiting' as const })),
]

/** Nobody says whether somebody works on it, so the reader is told when it was last heard of. */
const openText = ({ windows }: Job, now: Instant): string => {
  const heard = windows
    .flatMap(({ lastTurnAt }) => lastTurnAt ?? [])
    .sort()
    .at(-1)
  return `has not ended; ${heard === undefined ? 'no turn yet' : `its latest turn was ${age(heard, Date.parse(now))} ago`}`
}

/** Longer reasons are cut: the record has them whole. */
const LONGEST_REASON = 240

const failureText = ({ agent, reason, conversationId }: JobFailure, job: Job): string =>
  `${named(agent)} failed${inThread(conversationId, job)}: ${inQuotes(reason, LONGEST_REASON)}`

const waitText = (wait: JobWait, job: Job, now: Instant): string => {
  const whom = wait.for === 'person' ? 'you' : named(wait.for.agent)
  const long = age(wait.since, Date.parse(now))
  return `waits for ${whom}${inThread(wait.conversationId, job)}: ${WAIT_WORDS[wait.what](wait)}, for ${long}`
}

const WAIT_WORDS: Readonly<Record<JobWait['what'], (wait: JobWait) => string>> = {
  handoff: () => 'a handoff that nobody has taken',
  thread: () => 'a thread that nobody has begun',
  restart: () => 'a restart that is not finished',
  paused: () => 'it is paused',
  not_started: () => 'nobody has begun it',
  document: ({ folder = '' }) => `a document for the next session in ${named(inHome(folder))}`,
}

const inThread = (id: ConversationId, { conversations: [root, ...threads] }: Job): string => {
  const thread = threads.find((each) => each.id === id && each.id !== root.id)
  return thread === undefined ? '' : ` in the thread ${inQuotes(titleOf(thread))}`
}
