import { defined } from '../../domain/kernel/defined.ts'
import type { Page, Paged } from '../../ports/store/page.ts'
import { StoreFailure } from '../../ports/store/store-failure.ts'
import {
  COUNTED_SUMMARIES,
  type KeptSummary,
  type SummaryFigures,
  type SummaryFilter,
  type ThreadSummaries,
} from '../../ports/store/thread-summaries.ts'
import { pageByAge } from './all-rows.ts'
import { frozenCopy } from './frozen-copy.ts'
import type { Tables } from './tables.ts'

/** The mirror of accepted summaries. */
export const threadSummariesIn = (tables: Tables): ThreadSummaries => ({
  keep: async (summary) => {
    if (tables.threadSummaries.get(summary.handoffId) !== undefined) return
    const handoff = tables.handoffs.get(summary.handoffId)
    if (handoff?.conversationId !== summary.sourceThreadId)
      throw new StoreFailure('store.integrity', `There is no handoff ${summary.handoffId} to keep a summary with`)
    tables.threadSummaries.insert(frozenCopy(summary))
  },
  list: async (filter, page) => listed(matching(tables, filter), page),
  figures: async (filter) => {
    const newest = matching(tables, filter).toSorted(newestFirst).slice(0, COUNTED_SUMMARIES)
    const groups = new Map<string, KeptSummary[]>()
    for (const summary of newest) {
      const key = JSON.stringify([summary.agentName, summary.modelUsed])
      groups.set(key, [...(groups.get(key) ?? []), summary])
    }
    return [...groups.values()].flatMap(figuresOf).sort(byName)
  },
})

const keyOf = ({ timestamp, handoffId }: KeptSummary): string => `${timestamp} ${handoffId}`

const newestFirst = (one: KeptSummary, other: KeptSummary): number => order(keyOf(other), keyOf(one))

const listed = (found: readonly KeptSummary[], page: Page): Paged<KeptSummary> => {
  const named = found.map((summary) => ({ id: summary.handoffId, summary }))
  const { items, next } = pageByAge(named, ({ summary }) => summary.timestamp, { ...page, order: 'newest_first' })
  return defined({ items: items.map(({ summary }) => summary), next })
}

const matching = (tables: Tables, { agentName, sourceThreadId, since, until }: SummaryFilter): readonly KeptSummary[] =>
  tables.threadSummaries
    .in('all', 'all')
    .filter((row) => agentName === undefined || row.agentName === agentName)
    .filter((row) => sourceThreadId === undefined || row.sourceThreadId === sourceThreadId)
    .filter((row) => since === undefined || row.timestamp >= since)
    .filter((row) => until === undefined || row.timestamp < until)

/** Of one agent and model, the newest first. */
const figuresOf = (group: readonly KeptSummary[]): readonly SummaryFigures[] => {
  const [newest] = group
  if (newest === undefined) return []
  const total = (of: (summary: KeptSummary) => number): number => group.reduce((sum, one) => sum + of(one), 0)
  return [
    {
      agentName: newest.agentName,
      modelUsed: newest.modelUsed,
      summaries: group.length,
      edited: total(({ isEdited }) => (isEdited ? 1 : 0)),
      refinements: total(({ refinements }) => refinements),
      meanTokens: Math.round(total(({ tokens }) => tokens) / group.length),
      latest: newest.timestamp,
    },
  ]
}

const byName = (one: SummaryFigures, other: SummaryFigures): number =>
  order(one.agentName, other.agentName) || order(one.modelUsed, other.modelUsed)

const order = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1)
