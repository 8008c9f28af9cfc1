import {
  HANDOFF_KINDS,
  HANDOFF_STATUSES,
  type HandoffKind,
  type HandoffMetadata,
} from '../../../domain/handoff/handoff.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { HandoffFilter } from '../../../ports/store/history-filters.ts'
import type { Page, Paged } from '../../../ports/store/page.ts'
import type { HandoffHistory } from '../../../services/history/handoff-history.ts'
import { UsageError } from '../invocation/command-problems.ts'
import { kindWord } from '../invocation/flag-words.ts'
import type { Invocation } from '../invocation/invocation.ts'
import { zoneIn } from '../render/times.ts'
import { durationFlag, momentFlag, notTogether, orderOf, parsedFlag, textFlag, wordFlag } from './flag-values.ts'
import { conversationFlag } from './subject.ts'

/** Which handoffs the flags ask for, but for the conversation, which is looked for first. */
const handoffFilter = (invocation: Invocation): HandoffFilter => {
  notTogether(invocation, 'agent', 'source')
  notTogether(invocation, 'agent', 'target')
  const unclaimedForMs = parsedFlag(invocation, 'unclaimed-for', durationFlag)
  const at = (text: string) => momentFlag(text, zoneIn(invocation))
  const isOverdue = invocation.values.overdue === true
  if (unclaimedForMs !== undefined && !isOverdue) throw new UsageError('--unclaimed-for goes with --overdue.')
  return defined({
    agent: textFlag(invocation, 'agent'),
    sourceAgent: textFlag(invocation, 'source'),
    targetAgent: textFlag(invocation, 'target'),
    kind: parsedFlag(invocation, 'kind', kindFrom),
    status: parsedFlag(invocation, 'status', wordFlag(HANDOFF_STATUSES)),
    reason: textFlag(invocation, 'reason'),
    initiatedFrom: parsedFlag(invocation, 'since', at),
    initiatedBefore: parsedFlag(invocation, 'until', at),
    isOpen: invocation.values.open === true ? (true as const) : undefined,
    overdue: isOverdue ? defined({ unclaimedForMs }) : undefined,
    order: orderOf(invocation),
  })
}

/** A kind from its own word, or from the one that tables show. @throws TypeError when it is neither */
const kindFrom = (text: string): HandoffKind => {
  const found = HANDOFF_KINDS.find((kind) => kind === text || kindWord(kind) === text)
  if (found !== undefined) return found
  const words = HANDOFF_KINDS.map((kind) => (kindWord(kind) === kind ? kind : `${kindWord(kind)} (${kind})`))
  throw new TypeError(`it must be one of ${words.join(', ')}.`)
}

/** The handoffs that the flags ask for, page by page. A mistake in the flags is found at once. */
export const readHandoffs = (invocation: Invocation) => {
  const filter = handoffFilter(invocation)
  const conversation = conversationFlag(invocation, 'conversation')
  return async (history: HandoffHistory, page: Page): Promise<Paged<HandoffMetadata>> =>
    history.listHandoffs(defined({ ...filter, conversationId: await conversation(history) }), page)
}
