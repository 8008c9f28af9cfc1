import type { AuditEvent } from '../audit-event.ts'
import type { Conversation } from '../conversation/conversation.ts'
import {
  type ConversationMoved,
  type ConversationOpened,
  isConversationMoved,
} from '../conversation/conversation-lifecycle.ts'
import type { HandoffMetadata } from '../handoff/handoff.ts'
import { beginHandoff, type HandoffInitiated, type HandoffMoved } from '../handoff/handoff-lifecycle.ts'
import { canonicalJson } from '../kernel/canonical-json.ts'
import type { AgentSessionId, CommandId, ConversationId, HandoffId } from '../kernel/ids.ts'
import { type AgentSession, hasBaton, heldBy } from '../session/agent-session.ts'
import { captureWindow, type SnapshotEvent, type SnapshotRecord } from '../session/context-snapshot.ts'
import type { LookBackRecord, LookedBack } from '../session/looked-back.ts'
import type { SessionMoved, SessionStarted } from '../session/session-event.ts'
import { beginSession } from '../session/session-lifecycle.ts'
import { isMonitorEvent } from '../window/context-monitor.ts'
import { brokenBond } from './audit-bonds.ts'
import { ImpossibleEvent, replayConversation, replayHandoff, replaySession } from './audit-replay.ts'
import type { ClockSetBack } from './audit-verdict.ts'

/** The state that entries add up to, and the position of the last one that changed it. */
export interface Folded<Row> {
  readonly row: Row
  readonly position: number
}

/**
 * Folds the stream of a conversation as it comes, page by page, so that turns and messages need not be held.
 *
 * It takes only what decisions could have made: each step is decided again (`audit-replay`), and what holds between
 * sessions and handoffs is looked at where a command ends (`audit-bonds`).
 */
export class AuditFold {
  readonly conversations = new Map<string, Folded<Conversation>>()
  readonly sessions = new Map<string, Folded<AgentSession>>()
  readonly handoffs = new Map<string, Folded<HandoffMetadata>>()
  readonly snapshots = new Map<string, Folded<SnapshotRecord>>()
  readonly lookBacks = new Map<string, Folded<LookBackRecord>>()
  readonly #conversation: ConversationId
  /** Windows that a compaction emptied: their snapshot comes after. */
  readonly #emptied = new Map<AgentSessionId, AgentSession>()
  /** The ids of sessions and handoffs that the current command touched. */
  readonly #touched = new Set<string>()
  /** The threads whose outcome was reported. */
  readonly #reported = new Set<HandoffId>()
  #command: CommandId | undefined
  #baton: AgentSessionId | undefined
  #latest = Number.NEGATIVE_INFINITY
  #setBack: ClockSetBack | undefined
  #position = 0
  #lastEpoch = 0
  #nextSequence = 1

  constructor(conversation: ConversationId) {
    this.#conversation = conversation
  }

  /**
   * Takes the next entry.
   *
   * @throws ImpossibleEvent when no decision could have made it there
   */
  take(event: AuditEvent, position: number, command?: CommandId): void {
    if (command === undefined || command !== this.#command) this.settle()
    this.#command = command
    this.#position = position
    const { conversationId } = event
    if (conversationId !== this.#conversation) throw new ImpossibleEvent(`It is about conversation ${conversationId}`)
    if (event.version !== 1) throw new ImpossibleEvent(`It has the unknown version ${JSON.stringify(event.version)}`)
    if ((position === 1) !== (event.type === 'conversation.opened'))
      throw new ImpossibleEvent('A conversation is opened once, by its first entry')
    this.#date(Date.parse(event.at), position)
    this.#place(event, position)
  }

  /** Entries dated before an earlier one, if there were any. */
  get setBack(): ClockSetBack | undefined {
    return this.#setBack
  }

  /** Looks at what holds between sessions and handoffs, now that a command has ended. @throws ImpossibleEvent */
  settle(): void {
    const broken = brokenBond(this, this.#touched)
    if (broken !== undefined) throw new ImpossibleEvent(broken, this.#position)
    this.#touched.clear()
  }

  #date(time: number, position: number): void {
    if (Number.isNaN(time)) throw new ImpossibleEvent('It has no time')
    const behindMs = this.#latest - time
    if (behindMs <= 0) this.#latest = time
    else {
      const { entries = 0, ...furthest } = this.#setBack ?? { behindMs: 0, position }
      const worst = behindMs > furthest.behindMs ? { position, behindMs } : furthest
      this.#setBack = { entries: entries + 1, ...worst }
    }
  }

  #place(event: AuditEvent, position: number): void {
    if (event.type === 'conversation.opened') this.#open(event, position)
    else if (event.type === 'session.started') this.#start(event, position)
    else if (event.type === 'handoff.initiated') this.#initiate(event, position)
    else if (event.type === 'snapshot.captured') this.#capture(event, position)
    else if (event.type === 'session.looked_back') this.#lookBack(event, position)
    else if (isMonitorEvent(event)) rowOf(this.sessions, event.sessionId)
    else if (event.type === 'hook.delivered' || event.type === 'text.erased')
      return // tells of no state
    else if (isConversationMoved(event)) this.#moveConversation(event, position)
    else if ('sessionId' in event) this.#moveSession(event, position)
    else this.#moveHandoff(event, position)
  }

  #open({ conversation }: ConversationOpened, position: number): void {
    due('conversation', conversation.id, this.#conversation)
    this.conversations.set(conversation.id, { row: conversation, position })
  }

  #moveConversation(event: ConversationMoved, position: number): void {
    if (event.type === 'conversation.closed' && this.#baton !== undefined)
      throw new ImpossibleEvent(`Session ${this.#baton} had the baton then`)
    const row = replayConversation(rowOf(this.conversations, this.#conversation), event)
    this.conversations.set(this.#conversation, { row, position })
  }

  #start(event: SessionStarted, position: number): void {
    const { session, opening, at } = event
    if (this.sessions.has(session.id)) throw new ImpossibleEvent(`Session ${session.id} had begun before`)
    due('conversation', session.conversationId, this.#conversation)
    due('epoch', session.epoch, this.#lastEpoch + 1)
    due('first message', session.startSequence, this.#nextSequence)
    due('time', session.startedAt, at)
    for (const [index, { sessionId, sequenceNumber, recordedAt }] of (opening ?? []).entries())
      due('opening', [sessionId, sequenceNumber, recordedAt], [session.id, session.startSequence + index, at])
    this.#lastEpoch = session.epoch
    this.#keepSession(beginSession(event), position)
  }

  #initiate(event: HandoffInitiated, position: number): void {
    const { handoff, at } = event
    if (this.handoffs.has(handoff.id)) throw new ImpossibleEvent(`Handoff ${handoff.id} had begun before`)
    const source = rowOf(this.sessions, handoff.sourceSessionId)
    due('conversation', handoff.conversationId, this.#conversation)
    due('source', handoff.sourceAgent, source.agentName)
    due('time', handoff.initiatedAt, at)
    if (source.progress.turns === 0) throw new ImpossibleEvent(`Session ${source.id} had no turn to hand off after`)
    this.#keepHandoff(beginHandoff(event), position)
  }

  #capture({ snapshot, at }: SnapshotEvent, position: number): void {
    const { id, type, sessionId } = snapshot
    if (this.snapshots.has(id)) throw new ImpossibleEvent(`Snapshot ${id} was there before`)
    const now = rowOf(this.sessions, sessionId)
    const seen = type === 'truncation' ? (this.#emptied.get(sessionId) ?? now) : now
    due('window', snapshot, captureWindow(seen, { id, type, at }))
    this.snapshots.set(id, { row: snapshot, position })
  }

  #lookBack({ lookBack, at }: LookedBack, position: number): void {
    const { id, conversationId, sessionId, askedAt } = lookBack
    if (this.lookBacks.has(id)) throw new ImpossibleEvent(`Look back ${id} was there before`)
    rowOf(this.sessions, sessionId)
    due('conversation', conversationId, this.#conversation)
    due('time', askedAt, at)
    this.lookBacks.set(id, { row: lookBack, position })
  }

  #moveSession(event: SessionMoved, position: number): void {
    const before = rowOf(this.sessions, event.sessionId)
    if (event.type === 'turn.recorded') {
      due('first message', event.turn.range.start, this.#nextSequence)
      for (const { reports } of event.messages) if (reports !== undefined) this.#report(reports)
    }
    if (event.type === 'turn.extended') this.#extend(before, event)
    if (event.type === 'session.resumed') due('next message', event.nextSequence, this.#nextSequence)
    if (event.type === 'session.truncated') this.#emptied.set(before.id, before)
    if ('handoffId' in event) this.#touched.add(event.handoffId)
    this.#keepSession(replaySession(before, event), position)
  }

  #report(thread: HandoffId): void {
    if (rowOf(this.handoffs, thread).kind !== 'thread') throw new ImpossibleEvent(`Handoff ${thread} opened no thread`)
    if (this.#reported.has(thread)) throw new ImpossibleEvent(`The outcome of thread ${thread} was there before`)
    this.#reported.add(thread)
  }

  #extend(session: AgentSession, { messages }: Extract<SessionMoved, { type: 'turn.extended' }>): void {
    due('first message', messages[0]?.sequenceNumber, this.#nextSequence)
    const handoffId = heldBy(session)
    if (handoffId !== undefined && rowOf(this.handoffs, handoffId).checkpoint !== undefined)
      throw new ImpossibleEvent(`Handoff ${handoffId} had what its outgoing agent left`)
  }

  #moveHandoff(event: HandoffMoved, position: number): void {
    this.#keepHandoff(replayHandoff(rowOf(this.handoffs, event.handoffId), event), position)
  }

  #keepSession(session: AgentSession, position: number): void {
    const { id } = session
    if (!hasBaton(session)) {
      if (this.#baton === id) this.#baton = undefined
    } else if (this.#baton !== undefined && this.#baton !== id) {
      throw new ImpossibleEvent(`Session ${this.#baton} had the baton then, and ${id} cannot have it too`)
    } else if (this.conversations.get(this.#conversation)?.row.closedAt !== undefined) {
      throw new ImpossibleEvent('The conversation was closed then')
    } else this.#baton = id
    if (session.progress.nextSequence > this.#nextSequence) this.#nextSequence = session.progress.nextSequence
    this.sessions.set(id, { row: session, position })
    this.#touched.add(id)
  }

  #keepHandoff(handoff: HandoffMetadata, position: number): void {
    this.handoffs.set(handoff.id, { row: handoff, position })
    this.#touched.add(handoff.id)
  }
}

const rowOf = <Row>(from: ReadonlyMap<string, Folded<Row>>, id: string): Row => {
  const folded = from.get(id)
  if (folded === undefined) throw new ImpossibleEvent(`It speaks of ${id}, which no earlier entry began`)
  return folded.row
}

const due = (what: string, written: unknown, expected: unknown): void => {
  if (canonicalJson(written) !== canonicalJson(expected))
    throw new ImpossibleEvent(`Its ${what} is not what was due there`)
}
