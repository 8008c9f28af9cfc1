import { defined } from '../../domain/kernel/defined.ts'
import type { ConversationId } from '../../domain/kernel/ids.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import type { Question, Subjects } from '../../ports/store/unit-of-work.ts'

/** How far a thing has come, in numbers that only grow. */
export type SeenPlace = Readonly<Record<string, number>>

/** A kind of thing that has a place. */
export type PlacedKind = 'conversation' | 'session' | 'handoff' | 'monitor'

/** A thing that was read, and how far it has come there; without a place it is not there at all. */
export interface Seen {
  readonly kind: PlacedKind
  readonly id: string
  /** The conversation it stands in, where that is known: two that share an id by mistake are two things. */
  readonly conversationId?: ConversationId
  readonly place?: SeenPlace
}

/** The facts of any question, in one shape: what is not asked for is absent. */
export type AnyFacts = Partial<
  Subjects['opening']['facts'] &
    Subjects['conversation']['facts'] &
    Subjects['session']['facts'] &
    Subjects['handoff']['facts']
>

/** The place of a session. The turns are counted beside the version, which others may move up again after it was set back. */
export const sessionPlaceOf = ({ version, progress }: AgentSession): SeenPlace => ({ version, turns: progress.turns })

/** Whether this is less than what was known. Numbers that one of them does not have are not compared. */
export const isLess = (place: SeenPlace | undefined, known: SeenPlace): boolean => {
  if (place === undefined) return true
  for (const name in place) if ((place[name] as number) < (known[name] ?? 0)) return true
  return false
}

/** The further one of two places; the known one itself when the other adds nothing. */
export const further = (before: SeenPlace, place: SeenPlace): SeenPlace => {
  if (!isLess(before, place) && Object.keys(place).every((name) => name in before)) return before
  const merged: Record<string, number> = { ...before }
  for (const name in place) merged[name] = Math.max(place[name] as number, before[name] ?? 0)
  return merged
}

/** A place for people to read. */
export const placeInWords = (place: SeenPlace | undefined): string => {
  if (place === undefined) return 'not there'
  const numbers = Object.entries(place).map(([name, number]) => `${name} ${number}`)
  return numbers.length === 0 ? 'there' : `at ${numbers.join(', ')}`
}

/** Everything that these facts say about how far things have come, and what the question names and they do not have. */
export const seenPlaces = (question: Question, facts: AnyFacts): readonly Seen[] => [
  ...missingIn(question, facts),
  ...foundIn(facts),
]

const missingIn = (question: Question, facts: AnyFacts): readonly Seen[] => {
  switch (question.about) {
    case 'opening':
      return missing('conversation', question.parentId, facts.parent)
    case 'conversation':
      return [
        ...missing('conversation', question.conversationId, facts.conversation),
        ...missing('session', question.parentSessionId, facts.parentSession),
      ]
    case 'session':
    case 'source':
      return missing('session', question.sessionId, facts.working)
    case 'handoff':
      return missing('handoff', question.handoffId, facts.handoff)
    case 'next_handoff':
      return []
  }
}

const missing = (kind: PlacedKind, id: string | undefined, found: object | undefined): readonly Seen[] =>
  id === undefined || found !== undefined ? [] : [{ kind, id }]

const foundIn = (facts: AnyFacts): readonly Seen[] => {
  const { working, baton, parentSession, source, monitor, handoff, conversation, lastEpoch, nextSequence } = facts
  const found: Seen[] = []
  for (const session of [working?.session, baton, parentSession, source?.session])
    if (session !== undefined)
      found.push({
        kind: 'session',
        id: session.id,
        conversationId: session.conversationId,
        place: sessionPlaceOf(session),
      })
  if (monitor !== undefined) found.push({ kind: 'monitor', id: monitor.sessionId, place: { version: monitor.version } })
  if (handoff !== undefined) found.push({ kind: 'handoff', id: handoff.id, place: { version: handoff.version } })
  if (conversation !== undefined) {
    const place = defined({ sessions: lastEpoch, 'next message': nextSequence })
    found.push({ kind: 'conversation', id: conversation.id, place: place as SeenPlace })
  }
  return found
}
