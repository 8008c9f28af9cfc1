import type { AuditEvent } from '../audit-event.ts'
import type { ConversationId } from '../kernel/ids.ts'
import { MESSAGE_ROLES, originsOf } from '../turn/message.ts'

/** An event, or a part of one. Nothing about it has been checked: somebody may have changed what is stored. */
type Part = Readonly<Record<string, unknown>>

/** One direction of the translation. */
interface Direction {
  change(part: Part, implied: Part): Part
  /** The long form of a part, in which the parts inside it find what is implied for them. */
  long(given: Part, changed: Part): Part
}

/** Leaves out what is implied. Where something is implied and the part has nothing, `null` says so. */
const SHORTEN: Direction = {
  change: (part, implied) => {
    // Built up rather than copied and cut down: an object that lost a field is slow to read from then on.
    const short: Record<string, unknown> = {}
    for (const name of Object.keys(part))
      if (part[name] !== undefined && part[name] !== implied[name]) short[name] = part[name]
    for (const name of Object.keys(implied))
      if (implied[name] !== undefined && part[name] === undefined) short[name] = null
    return short
  },
  long: (given) => given,
}

/** Puts back what is implied. What a part says itself always counts. */
const LENGTHEN: Direction = {
  change: (part, implied) => {
    const long: Record<string, unknown> = {}
    for (const [name, value] of Object.entries({ ...implied, ...part }))
      if (value !== undefined && (value !== null || implied[name] === undefined)) long[name] = value
    return long
  },
  long: (_, changed) => changed,
}

/**
 * An event as it is stored: what stands beside it in its row, or in another part of it, is left out. `docs/audit-log.md`
 * lists what is implied. `longEvent` is the exact inverse.
 */
export const shortEvent = (event: AuditEvent): object => translated(event, event.conversationId, SHORTEN)

/** An event from its stored form; the conversation is the one whose stream it stands in. */
export const longEvent = (stored: object, conversationId: ConversationId): AuditEvent =>
  translated(stored, conversationId, LENGTHEN) as unknown as AuditEvent

const translated = (given: object, conversation: ConversationId, way: Direction): Part => {
  const { changed, long } = onePart(given, { conversationId: conversation, version: 1 }, way)
  const { conversationId, at, sessionId } = long
  const common = { conversationId, recordedAt: at }
  const session = onePart(changed.session, { conversationId, startedAt: at }, way)
  const opening = messagesIn(
    changed.opening,
    { ...common, sessionId: session.long.id },
    session.long.startSequence,
    way,
  )
  const turn = onePart(changed.turn, { ...common, sessionId }, way)
  const range = onePart(turn.changed.range, { end: endOf(turn.long.range, changed.messages) }, way)
  const ofTurn = { ...common, sessionId, turnId: turn.long.id ?? long.turnId }
  const messages = messagesIn(changed.messages, ofTurn, range.long.start, way)
  const handoff = onePart(changed.handoff, { conversationId, initiatedAt: at }, way)
  return replaced(changed, {
    conversation: onePart(changed.conversation, { id: conversationId, openedAt: at }, way).changed,
    lookBack: onePart(changed.lookBack, { conversationId, askedAt: at }, way).changed,
    snapshot: onePart(changed.snapshot, { conversationId, capturedAt: at }, way).changed,
    session: session.changed,
    opening: opening.changed,
    turn: replaced(turn.changed, {
      range: range.changed,
      toolCalls: callsIn(turn.changed.toolCalls, messages.long, way).changed,
    }),
    messages: messages.changed,
    toolCalls: callsIn(changed.toolCalls, messages.long, way).changed,
    handoff: replaced(handoff.changed, {
      triggeringToolCalls: referencesIn(handoff.changed.triggeringToolCalls, way).changed,
    }),
  })
}

/** A part with the parts inside it replaced. Those that it does not have, or that are something else, stay as they are. */
const replaced = (part: Part, inside: Readonly<Record<string, Part | readonly unknown[]>>): Part => {
  let whole: Record<string, unknown> | undefined
  for (const name of Object.keys(inside)) {
    const value = inside[name]
    if (Array.isArray(value) ? !Array.isArray(part[name]) : !isPart(part[name])) continue
    whole ??= { ...part }
    whole[name] = value
  }
  return whole ?? part
}

interface ManyParts {
  readonly changed: readonly unknown[]
  readonly long: readonly Part[]
}

const onePart = (given: unknown, implied: Part, way: Direction): { readonly changed: Part; readonly long: Part } => {
  if (!isPart(given)) return NO_PART
  const changed = way.change(given, implied)
  return { changed, long: way.long(given, changed) }
}

/** Most events have few of the parts that there are. */
const NO_PART = { changed: {}, long: {} }
const NO_PARTS = { changed: [], long: [] }

/** A list of parts; what is implied for one may depend on the long forms of those before it. */
const eachPart = (given: unknown, implied: (item: Part, last: Part) => Part, way: Direction): ManyParts => {
  if (!Array.isArray(given)) return NO_PARTS
  const long: Part[] = []
  const changed = given.map((item: unknown) => {
    if (!isPart(item)) return item
    const both = onePart(item, implied(item, long.at(-1) ?? {}), way)
    long.push(both.long)
    return both.changed
  })
  return { changed, long }
}

/** The range of a turn ends with the last of its messages. */
const endOf = (range: unknown, messages: unknown): unknown =>
  isPart(range) && typeof range.start === 'number' && Array.isArray(messages)
    ? range.start + messages.length - 1
    : undefined

/** Messages follow each other without a gap, and come from where those of their role usually do. */
const messagesIn = (given: unknown, about: Part, first: unknown, way: Direction) =>
  eachPart(
    given,
    ({ role }, { sequenceNumber: last }) => {
      const roleName = MESSAGE_ROLES.find((name) => name === role)
      const sequenceNumber = typeof last === 'number' ? last + 1 : first
      return { ...about, sequenceNumber, origin: roleName && originsOf(roleName)[0] }
    },
    way,
  )

/** A tool call was made in the last answer among the messages. */
const callsIn = (given: unknown, messages: readonly Part[], way: Direction): ManyParts => {
  if (!Array.isArray(given)) return NO_PARTS
  const answer = messages.findLast(({ role }) => role === 'assistant')
  const idAt = (place: unknown) => messages.find(({ sequenceNumber }) => sequenceNumber === place)?.id
  return eachPart(
    given,
    ({ sequenceNumber: place }) => ({
      sequenceNumber: answer?.sequenceNumber,
      messageId: idAt(place ?? answer?.sequenceNumber),
    }),
    way,
  )
}

/** A reference to a tool call points at the same message as the one before it. */
const referencesIn = (given: unknown, way: Direction) =>
  eachPart(given, (_, { messageId, sequenceNumber }) => ({ messageId, sequenceNumber }), way)

const isPart = (value: unknown): value is Part => typeof value === 'object' && value !== null && !Array.isArray(value)
