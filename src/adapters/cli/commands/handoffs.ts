import { claimOf, type HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import { counted } from '../../../domain/kernel/counted.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { type ConversationId, handoffId } from '../../../domain/kernel/ids.ts'
import type { Cursor } from '../../../ports/store/page.ts'
import type { HandoffHistory } from '../../../services/history/handoff-history.ts'
import { notFound } from '../choose/flag-values.ts'
import { readHandoffs } from '../choose/handoff-filter.ts'
import { conversationOf, type NamedThing } from '../choose/subject.ts'
import { kindWord } from '../invocation/flag-words.ts'
import { folderColumn, type InConversation, titleColumn, withConversations } from '../render/conversation-rows.ts'
import { renderBlock, renderFacts } from '../render/text.ts'
import { age } from '../render/times.ts'
import { describeCall, describeCheckpoint } from '../render/window-facts.ts'
import { styleOf } from '../terminal/style.ts'
import { listCommand, type Noun, showCommand } from './noun.ts'

/** Handoffs: listed across conversations. */
const HANDOFFS: Noun<HandoffMetadata, InConversation<HandoffMetadata>> = {
  things: 'handoffs',
  list: (invocation) => {
    const now = Date.now()
    return {
      read: readHandoffs(invocation),
      rows: withConversations,
      look: [
        { title: 'ID', of: ({ item: { id } }) => id, isId: true },
        titleColumn(({ conversation: its }) => its),
        {
          ...{ title: 'STATUS', most: 9, importance: 6 },
          of: ({ item: { status } }) => status,
          style: ({ item: { status } }) => styleOf(status),
        },
        { title: 'AGE', of: ({ item: { initiatedAt } }) => age(initiatedAt, now), most: 5, importance: 5 },
        {
          ...{ title: 'FROM → TO', most: 26, importance: 4 },
          of: ({ item: { sourceAgent, targetAgent } }) => `${sourceAgent} → ${targetAgent}`,
        },
        { title: 'KIND', of: ({ item: { kind } }) => kindWord(kind), most: 8, importance: 2 },
        {
          ...folderColumn<InConversation<HandoffMetadata>>(({ conversation: its }) => its, invocation.environment.HOME),
          importance: 1,
        },
      ],
    }
  },
  kinds: ['handoff'],
  show: async (history, thing) => {
    const found = await handoffOf(history, thing)
    const byHand = await stepsByHand(history, found)
    return {
      document: { ...found, ...(byHand.length > 0 && { byHand }) },
      lines: async (columns) => {
        const beside = { lookedBack: await lookedBack(history, found), byHand: byHand.join(', ') || undefined }
        return lines(found, columns, defined(beside))
      },
    }
  },
}

/** Lists handoffs. */
export const handoffsList = listCommand(HANDOFFS)

/** Shows one handoff. */
export const handoffsShow = showCommand(HANDOFFS)

/** A handoff, or the newest one of a conversation. @throws RefusedError */
const handoffOf = async (history: HandoffHistory, thing: NamedThing): Promise<HandoffMetadata> => {
  const found =
    thing.kind === 'handoff'
      ? await history.handoff(handoffId(thing.id))
      : await newestOf(history, await conversationOf(history, thing))
  if (found === undefined) throw notFound('conversation', 'it has no handoff yet')
  return found
}

const newestOf = async (
  history: HandoffHistory,
  conversationId: ConversationId,
): Promise<HandoffMetadata | undefined> =>
  (await history.listHandoffs({ conversationId, order: 'newest_first' }, { limit: 1 })).items[0]

/** How often the successor looked back: what the checkpoint had left out. */
const lookedBack = async (history: HandoffHistory, handoff: HandoffMetadata): Promise<string | undefined> => {
  if (handoff.status !== 'completed') return undefined
  const count = (await history.lookBackCounts([handoff.targetSessionId])).get(handoff.targetSessionId)
  return count === undefined ? undefined : `${counted(count, 'time')}, by its successor`
}

/** The steps that somebody without the token of the source's holder did, such as `initiated`. Only the log knows it. */
const stepsByHand = async (history: HandoffHistory, { id, conversationId }: HandoffMetadata) => {
  const steps: string[] = []
  for (let after: Cursor | undefined, isMore = true; isMore; ) {
    const { items, next } = await history.auditTrail(conversationId, defined({ after, limit: 1_000 }))
    for (const { event } of items) {
      const about = event.type === 'handoff.initiated' ? event.handoff.id : 'handoffId' in event && event.handoffId
      if (event.byHand === true && about === id && event.type.startsWith('handoff.'))
        steps.push(event.type.replace('handoff.', ''))
    }
    after = next
    isMore = next !== undefined
  }
  return steps
}

interface BesideHandoff {
  readonly lookedBack?: string
  readonly byHand?: string
}

const lines = (
  handoff: HandoffMetadata,
  columns: number,
  { lookedBack: times, byHand }: BesideHandoff,
): readonly string[] => {
  const claim = claimOf(handoff)
  const { triggeringToolCalls: calls } = handoff
  return [
    ...renderFacts(
      {
        handoff: handoff.id,
        kind: handoff.kind,
        status: handoff.status,
        from: `${handoff.sourceAgent} (session ${handoff.sourceSessionId})`,
        to: `${handoff.targetAgent}${'targetSessionId' in handoff ? ` (session ${handoff.targetSessionId})` : ''}`,
        conversation: handoff.conversationId,
        opened: 'targetConversationId' in handoff ? handoff.targetConversationId : undefined,
        initiated: handoff.initiatedAt,
        claimed: claim && `${claim.acceptedAt} by ${claim.claimant}, until ${claim.deadline}`,
        ended: 'endedAt' in handoff ? handoff.endedAt : undefined,
        'done by hand': byHand,
        'ended because': 'endReason' in handoff ? handoff.endReason : undefined,
        'after turn': handoff.priorTurnId,
        flags: handoff.flags.length === 0 ? undefined : handoff.flags.join(', '),
        ...(handoff.checkpoint && describeCheckpoint(handoff.checkpoint)),
        'looked back': times,
        'prepared session': 'prepared' in handoff ? handoff.prepared?.sessionId : undefined,
        trace: handoff.traceContext?.traceparent,
      },
      columns,
    ),
    ...renderBlock('Why', handoff.reason, columns),
    ...renderBlock('Led to by', calls.map(describeCall).join('\n') || 'no tool calls', columns),
    ...renderBlock('Document', handoff.document, columns),
    ...renderBlock('Read back from its transcript', handoff.extract, columns),
  ]
}
