import type { Job, WaitingDocument } from '../../../domain/history/job.ts'
import { describeThrown } from '../../../domain/kernel/describe-thrown.ts'
import type { Instant } from '../../../domain/kernel/instant.ts'
import { onOneLine } from '../../../domain/kernel/safe-text.ts'
import { nodeProcesses } from '../../../main/doctor.ts'
import type { StoreOptions } from '../../../main/options.ts'
import type { Page } from '../../../ports/store/page.ts'
import type { Store } from '../../../ports/store/store.ts'
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import { quoted } from '../../../processes/quoted.ts'
import { readJobs } from '../../../services/history/job-report.ts'
import { waitingDocuments } from '../../terminal/pending-files.ts'
import type { StoreAnswer, ToldStore } from '../render/report-facts.ts'
import { describeStore } from '../render/store-name.ts'

/** The part of a report that every store is asked for. */
export interface ReportQuestion {
  readonly since: Instant
  readonly page: Page
  /** Every page, and not one. */
  readonly isAll: boolean
  /** The folder of the service: documents wait there where the store is on a server. */
  readonly folder: string
}

/** Asks one store for its jobs. @throws StoreFailure when it cannot be asked */
export const askStore = async (
  options: StoreOptions,
  open: () => Promise<Store>,
  question: ReportQuestion,
): Promise<ToldStore> => {
  await using store = await open()
  const documents = await documentsIn(options.dataDir ?? question.folder)
  const parts = { store, processes: nodeProcesses, documents }
  const jobs: Job[] = []
  for (let page = question.page; ; ) {
    const { items, next, at } = await readJobs(parts, { since: question.since }, page)
    jobs.push(...items)
    const soFar = { store: describeStore(options), at, jobs }
    if (next === undefined) return soFar
    if (!question.isAll) return { ...soFar, next }
    page = { ...question.page, after: next }
  }
}

/** The same as an answer, whatever comes of it: one store that is down must not hide the others. */
export const askedOf = async (options: StoreOptions, asking: Promise<ToldStore>): Promise<StoreAnswer> => {
  try {
    return await asking
  } catch (error) {
    const code = error instanceof StoreFailure ? { code: error.code } : {}
    return { store: describeStore(options), ...code, problem: onOneLine(reasonOf(error, options)) }
  }
}

/** A folder of an older version is brought up to date when a command opens that one alone: a person decides it. */
const reasonOf = (error: unknown, { dataDir }: StoreOptions): string =>
  error instanceof StoreFailure && error.code === 'store.not_migrated' && dataDir !== undefined
    ? `an older version wrote it, and it is left as it is. "baton report --data-dir ${quoted(dataDir)}" brings it up to date.`
    : describeThrown(error)

/** How many engines are opened beside each other: each takes a good part of a gigabyte, and a core to start. */
const MOST_FOLDERS = 3

/** Asks many stores at once: servers all together, folders a few at a time. The answers are in the order of the stores. */
export const askAll = (
  stores: readonly StoreOptions[],
  ask: (options: StoreOptions) => Promise<StoreAnswer>,
): Promise<readonly StoreAnswer[]> => {
  const lanes = Array.from({ length: MOST_FOLDERS }, () => Promise.resolve())
  let turn = 0
  return Promise.all(
    stores.map((options) => {
      if (options.dataDir === undefined) return ask(options)
      const lane = turn++ % MOST_FOLDERS
      const answer = (lanes[lane] ?? Promise.resolve()).then(() => ask(options))
      lanes[lane] = answer.then(
        () => {},
        () => {},
      )
      return answer
    }),
  )
}

/** The documents that wait beside a store. They are a help: where they cannot be read, the jobs are told without them. */
const documentsIn = async (folder: string): Promise<readonly WaitingDocument[]> => {
  try {
    const now = new Date().toISOString()
    return (await waitingDocuments(folder)).filter(({ expiresAt }) => expiresAt > now)
  } catch {
    return []
  }
}
