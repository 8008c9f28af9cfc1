import type { FeedEntry } from '../../ports/store/audit-log.ts'

/** The kinds of events that are streamed, by how their types begin. */
const KINDS: readonly (readonly [prefix: string, kind: string])[] = [
  ['context.milestone_reached', 'milestone'],
  ['context.compacted', 'compaction'],
  ['handoff.', 'handoff'],
  ['session.', 'session'],
]

/** Steps that come with every answer; how far a session has come is in the session itself. */
const QUIET: readonly string[] = ['session.accounted', 'session.metadata_set']

/** One event of the stream. */
export interface LiveEvent {
  readonly event: string
  readonly data: string
}

/** The events of a page that are of interest here. The log holds no texts, so none are streamed. */
export const liveEvents = (entries: readonly FeedEntry[]): readonly LiveEvent[] =>
  entries.flatMap(({ conversationId, event }) => {
    const kind = KINDS.find(([prefix]) => event.type.startsWith(prefix))?.[1]
    if (kind === undefined || QUIET.includes(event.type)) return []
    const { milestone, ratio, trigger, sessionId, handoffId } = event as unknown as Details
    const data = {
      type: event.type,
      conversation_id: conversationId,
      session_id: sessionId ?? (event as unknown as Started).session?.id ?? null,
      handoff_id: handoffId ?? (event as unknown as Initiated).handoff?.id ?? null,
      at: event.at,
      ...(milestone !== undefined && { milestone: milestone.name, ratio }),
      ...(trigger !== undefined && { trigger }),
    }
    return [{ event: kind, data: JSON.stringify(data) }]
  })

interface Details {
  readonly milestone?: { readonly name: string }
  readonly ratio?: number
  readonly trigger?: string
  readonly sessionId?: string
  readonly handoffId?: string
}
interface Started {
  readonly session?: { readonly id: string }
}
interface Initiated {
  readonly handoff?: { readonly id: string }
}
