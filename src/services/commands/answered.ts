import type { Answer } from '../../domain/decision.ts'
import { type CommandId, type ConversationId, commandId } from '../../domain/kernel/ids.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import { LEAST_RETENTION_MS } from '../../domain/kernel/retention-time.ts'
import type { Store } from '../../ports/store/store.ts'
import type { CommandStamp, Question, Subjects } from '../../ports/store/unit-of-work.ts'
import { LatestEntries } from './latest-entries.ts'
import {
  type AnyFacts,
  further,
  isLess,
  type PlacedKind,
  placeInWords,
  type SeenPlace,
  seenPlaces,
  sessionPlaceOf,
} from './seen-places.ts'
import { type Behind, setBack } from './set-back.ts'

/** How many things of each kind are remembered at least: those that were answered last. */
const REMEMBERED = 10_000

/** A store remembers commands for longer than this, by its own clock; and that may be put right by a few minutes meanwhile. */
const SURELY_REMEMBERED_MS = LEAST_RETENTION_MS / 2

/** The store's clock, where it is known. */
type StoreNow = () => Instant | undefined

/** A read under way: the step before which something must have been answered to say anything about it. */
interface Read {
  readonly step: number
  readonly stamp: CommandStamp
  readonly now: StoreNow
}

/** How far a thing had come, and in which conversation where two may share its id by mistake. */
interface Known {
  readonly place: SeenPlace
  readonly step: number
  readonly conversationId: ConversationId | undefined
}

/** A named command that is on record: since when by this process, and by the store's clock where that is known. */
interface Acknowledged {
  readonly step: number
  readonly ownMs: number
  readonly storedAt: Instant | undefined
}

/**
 * How far everything had come when this process was last answered, after a commit. A store never goes back, so one that
 * has less now is not the store that answered: a standby took over too early, or an older copy was restored.
 *
 * In the memory of this process, and bounded: the things that were answered longest ago are forgotten first.
 */
export class Answered {
  readonly #places: Readonly<Record<PlacedKind, LatestEntries<string, Known>>> = {
    conversation: new LatestEntries(REMEMBERED),
    session: new LatestEntries(REMEMBERED),
    handoff: new LatestEntries(REMEMBERED),
    monitor: new LatestEntries(REMEMBERED),
  }
  readonly #keys = new LatestEntries<string, { readonly id: string; readonly step: number }>(REMEMBERED)
  readonly #commands = new LatestEntries<CommandId, Acknowledged>(REMEMBERED)
  #step = 0

  /** The moment before a read: what is answered while a read is under way says nothing about it. */
  get step(): number {
    return this.#step
  }

  /** Whether this process was answered with something of this conversation. */
  knows(conversation: ConversationId): boolean {
    return this.#places.conversation.get(conversation) !== undefined
  }

  /** Remembers an answer about what is stored for good. */
  note({ conversation, session, handoff, monitor }: Answer): void {
    this.#step += 1
    if (conversation !== undefined) {
      const { externalKey: key, id } = conversation
      this.#keep('conversation', id, {})
      if (key !== undefined) this.#keys.set(key, this.#keys.get(key) ?? { id, step: this.#step })
    }
    if (session !== undefined) {
      const { epoch, conversationId, progress } = session
      this.#keep('session', session.id, sessionPlaceOf(session), conversationId)
      this.#keep('conversation', conversationId, { sessions: epoch, 'next message': progress.nextSequence })
    }
    if (handoff !== undefined) this.#keep('handoff', handoff.id, { version: handoff.version })
    if (monitor !== undefined) this.#keep('monitor', monitor.sessionId, { version: monitor.version })
  }

  /** Remembers that a named command is on record, and since when by the store's clock. */
  noteCommand({ id, isNamed }: CommandStamp, now: StoreNow): void {
    this.#step += 1
    if (isNamed === true) this.#commands.set(id, { step: this.#step, ownMs: performance.now(), storedAt: now() })
  }

  /**
   * Whether a read tells more than what a caller holds: this process was answered with something later, or the command was
   * carried out. What is old would fit a store that was set back.
   */
  isOutdated(held: unknown, question: unknown, { id }: CommandStamp): boolean {
    if (this.#commands.get(id) !== undefined) return true
    const { externalKey } = question as { readonly externalKey?: string }
    if (externalKey !== undefined && this.#keys.get(externalKey) !== undefined) return true
    const { working, handoff } = (held ?? {}) as AnyFacts
    const session = working?.session
    if (session && isLess(sessionPlaceOf(session), this.#places.session.get(session.id)?.place ?? {})) return true
    return handoff !== undefined && handoff.version < (this.#places.handoff.get(handoff.id)?.place.version ?? 0)
  }

  /** The thing of which the store has less than it said before, if a read was answered with such a thing. */
  behindIn(question: Question, facts: object, read: Read): Behind | undefined {
    for (const { kind, id, place, conversationId } of seenPlaces(question, facts)) {
      const latest = this.#places[kind].get(id)
      if (conversationId !== latest?.conversationId && place !== undefined) continue
      if (latest === undefined || latest.step > read.step || !isLess(place, latest.place)) continue
      const what = kind === 'monitor' ? `the monitor of session ${id}` : `${kind} ${id}`
      return { what, had: placeInWords(latest.place), has: placeInWords(place) }
    }
    return this.#lostKey(question, facts, read) ?? this.#lostCommand(read)
  }

  /** A key stays with its conversation for good. */
  #lostKey(question: Question, { existing }: AnyFacts, { step }: Read): Behind | undefined {
    const key = question.about === 'opening' ? question.externalKey : undefined
    const had = key === undefined ? undefined : this.#keys.get(key)
    if (had === undefined || had.step > step || had.id === existing?.id) return undefined
    return { what: `conversation ${had.id}`, had: placeInWords({}), has: placeInWords(undefined) }
  }

  /** Where commands may have been forgotten by now, only the things they changed can tell. */
  #lostCommand({ stamp: { id }, step, now }: Read): Behind | undefined {
    const acknowledged = this.#commands.get(id)
    if (acknowledged === undefined || acknowledged.step > step) return undefined
    const sinceMs = [performance.now() - acknowledged.ownMs]
    const storeNow = now()
    if (storeNow !== undefined && acknowledged.storedAt !== undefined)
      sinceMs.push(Date.parse(storeNow) - Date.parse(acknowledged.storedAt))
    if (sinceMs.some((passed) => passed > SURELY_REMEMBERED_MS)) return undefined
    return { what: `command ${id}`, had: 'carried out', has: 'unknown' }
  }

  #keep(kind: PlacedKind, id: string, place: SeenPlace, conversationId?: ConversationId): void {
    const latest = this.#places[kind].get(id)
    const before = latest?.conversationId === conversationId ? latest : undefined
    const furthest = before === undefined ? place : further(before.place, place)
    const step = before !== undefined && furthest === before.place ? before.step : this.#step
    this.#places[kind].set(id, { place: furthest, step, conversationId })
  }
}

const memories = new WeakMap<Store, Answered>()

/** The memory of what this store answered. Everything in this process that uses the store shares it. */
export const answeredBy = (store: Store): Answered => {
  const answered = memories.get(store) ?? new Answered()
  memories.set(store, answered)
  return answered
}

/** The stamp of a question that belongs to no command. */
const NO_COMMAND: CommandStamp = { id: commandId('00000000-0000-7000-8000-000000000000'), payload: '' }

/** Asks the store with one read whether it has less than it said before. @throws StoreFailure `store.set_back` */
export const mustNotBeSetBack = async <Subject extends keyof Subjects>(
  store: Store,
  question: Question<Subject>,
  stamp: CommandStamp = NO_COMMAND,
): Promise<void> => {
  const answered = answeredBy(store)
  const { step } = answered
  const loaded = await store.unitOfWork.load<Subject>(question, stamp)
  if (loaded.repeated !== undefined) return
  const behind = answered.behindIn(question as Question, loaded.facts, {
    step,
    stamp,
    now: () => store.unitOfWork.estimateNow(),
  })
  if (behind !== undefined) throw setBack(behind)
}
