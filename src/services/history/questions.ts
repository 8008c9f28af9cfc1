import { HANDOFF_KINDS, HANDOFF_STATUSES } from '../../domain/handoff/handoff.ts'
import type { LineageSubject } from '../../domain/history/lineage.ts'
import {
  type Check,
  type InputProblem,
  listOf,
  noteProblem,
  objectOf,
  oneOf,
  optional,
  wholeNumber,
} from '../../domain/input/check.ts'
import { metadata } from '../../domain/input/metadata-check.ts'
import { id, messageText, moment } from '../../domain/input/words.ts'
import { idEnding } from '../../domain/kernel/id-ending.ts'
import type { Id } from '../../domain/kernel/ids.ts'
import { SESSION_STATES } from '../../domain/session/agent-session.ts'
import { RefusedError } from '../../domain/unwrap.ts'
import type {
  ConversationFilter,
  HandoffFilter,
  OverdueRule,
  SessionFilter,
} from '../../ports/store/history-filters.ts'
import { ID_KINDS, type IdKind } from '../../ports/store/id-search.ts'
import type { JobFilter } from '../../ports/store/job-list.ts'
import type { ListOrder, Page } from '../../ports/store/page.ts'
import type { SummaryFilter } from '../../ports/store/thread-summaries.ts'

/** A question as it was meant. A wrong one is refused, the same whatever the store. @throws RefusedError */
export const valid = <T>(check: Check<T>, value: unknown, field: string): T => {
  const problems: InputProblem[] = []
  const read = check(value, field, problems)
  if (problems.length > 0) throw new RefusedError({ code: 'input.invalid', fields: problems })
  return read
}

/** An id to look for. @throws RefusedError */
export const askedId = <T extends Id<string>>(value: T): T => valid(id, value, 'id') as string as T

/** A text to look for. @throws RefusedError */
export const askedText = (value: string): string => valid(messageText, value, 'text')

const PAGE = objectOf<Page>({ after: optional(messageText), limit: optional(wholeNumber(1, 1_000)) })

/** A page to read. @throws RefusedError */
export const askedPage = (page: Page): Page => valid(PAGE, page, 'page')

const IDS = listOf(id)

/** Ids to look for. @throws RefusedError */
export const askedIds = <T extends Id<string>>(values: readonly T[]): readonly T[] =>
  valid(IDS, values, 'ids') as readonly string[] as readonly T[]

const KIND_OF_ID = oneOf<IdKind>(...ID_KINDS)
const FEW = wholeNumber(1, 1_000)

/** The end of an id of one kind, as a store looks for it; nothing when no id ends so. @throws RefusedError */
export const askedEnding = (kind: IdKind, ending: string, most: number): string | undefined => {
  valid(KIND_OF_ID, kind, 'kind')
  valid(FEW, most, 'most')
  return idEnding(valid(messageText, ending, 'ending'))
}

const order = optional(oneOf<ListOrder>('oldest_first', 'newest_first'))

const isTrue: Check<true> = (value, field, problems) =>
  value === true ? value : noteProblem('it is not true', field, problems)

const CONVERSATION_FILTER = objectOf<ConversationFilter>({
  subject: optional(messageText),
  isRoot: optional(isTrue),
  state: optional(oneOf('open', 'closed')),
  metadata: optional(metadata),
  order,
})

const JOB_FILTER = objectOf<JobFilter>({ since: moment })

const SESSION_FILTER = objectOf<SessionFilter>({
  conversationId: optional(id),
  agentName: optional(messageText),
  state: optional(oneOf(...SESSION_STATES)),
  metadata: optional(metadata),
  order,
})

const HANDOFF_FILTER = objectOf<HandoffFilter>({
  conversationId: optional(id),
  agent: optional(messageText),
  sourceAgent: optional(messageText),
  targetAgent: optional(messageText),
  kind: optional(oneOf(...HANDOFF_KINDS)),
  status: optional(oneOf(...HANDOFF_STATUSES)),
  reason: optional(messageText),
  initiatedFrom: optional(moment),
  initiatedBefore: optional(moment),
  isOpen: optional(isTrue),
  overdue: optional(objectOf<OverdueRule>({ unclaimedForMs: optional(wholeNumber(0)) })),
  metadata: optional(metadata),
  order,
})

const SUMMARY_FILTER = objectOf<SummaryFilter>({
  agentName: optional(messageText),
  sourceThreadId: optional(id),
  since: optional(moment),
  until: optional(moment),
})

/** The words that each filter may say. */
export const FILTERS = {
  conversation: CONVERSATION_FILTER,
  job: JOB_FILTER,
  session: SESSION_FILTER,
  handoff: HANDOFF_FILTER,
  summary: SUMMARY_FILTER,
} as const

const SUBJECT = objectOf<{ conversationId?: Id<never>; sessionId?: Id<never>; handoffId?: Id<never> }>({
  conversationId: optional(id),
  sessionId: optional(id),
  handoffId: optional(id),
})

/** The conversation, session or handoff whose lineage is asked for. @throws RefusedError */
export const askedSubject = (subject: LineageSubject): LineageSubject => {
  const read = valid(SUBJECT, subject, 'subject')
  if (Object.keys(read).length === 1) return read as LineageSubject
  return valid(
    (_, field, problems) => noteProblem('it is not the id of one conversation, session or handoff', field, problems),
    subject,
    'subject',
  )
}

/** The agent names of a filter as they are kept: without white space around them. */
export const trimmed = <Filter extends object>(filter: Filter): Filter => {
  const names = ['agent', 'sourceAgent', 'targetAgent', 'agentName']
  const tidy = ([key, value]: [string, unknown]) => [
    key,
    names.includes(key) && typeof value === 'string' ? value.trim() : value,
  ]
  return Object.fromEntries(Object.entries(filter).map(tidy)) as Filter
}
