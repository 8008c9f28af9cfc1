import { AuditFold } from '../../src/domain/audit/audit-fold.ts'
import type { AuditEvent } from '../../src/domain/audit-event.ts'
import type { PlacedPersonMessage } from '../../src/domain/checkpoint/carried-words.ts'
import type { Conversation } from '../../src/domain/conversation/conversation.ts'
import type { ConversationFacts, HandoffFacts, ResumeFacts, SourceFacts, TurnFacts } from '../../src/domain/facts.ts'
import type { HandoffMetadata } from '../../src/domain/handoff/handoff.ts'
import { defined } from '../../src/domain/kernel/defined.ts'
import type { CommandId } from '../../src/domain/kernel/ids.ts'
import type { Instant } from '../../src/domain/kernel/instant.ts'
import { type SequenceNumber, sequenceNumber } from '../../src/domain/kernel/sequence.ts'
import type { RestartUse } from '../../src/domain/restart/restart-use.ts'
import { type AgentSession, hasBaton } from '../../src/domain/session/agent-session.ts'
import type { StoredSession } from '../../src/domain/session/stored-session.ts'
import type { ToolCall } from '../../src/domain/turn/tool-call.ts'
import type { Turn } from '../../src/domain/turn/turn.ts'
import { type ContextMonitor, type MonitorSettings, newMonitor } from '../../src/domain/window/context-monitor.ts'
import { CONVERSATION, HOLDER, LATER } from '../domain/samples.ts'

/** A conversation as its events tell it, and the facts that a store would answer with. Everybody holds {@link HOLDER}. */
export class Past {
  readonly events: AuditEvent[] = []
  readonly turns: Turn[] = []
  /** The store's clock, and the lease of the session. Neither is in the log. */
  now: Instant = LATER
  lease: ResumeFacts['lease'] | undefined
  /** How windows are watched. Readings are not in the log either. */
  watch: MonitorSettings = {}
  readonly #commands: CommandId[] = []
  #fold = new AuditFold(CONVERSATION)

  /** Takes events that happened together. */
  take(events: readonly AuditEvent[]): void {
    const command = `command ${this.events.length}` as CommandId
    for (const event of events) {
      this.events.push(event)
      this.#commands.push(command)
      this.#fold.take(event, this.events.length, command)
      if (event.type === 'turn.recorded') this.turns.push(event.turn)
    }
  }

  /** A fold of its own, to go on from. */
  fold(): AuditFold {
    const fold = new AuditFold(CONVERSATION)
    for (const [index, event] of this.events.entries()) fold.take(event, index + 1, this.#commands[index])
    return fold
  }

  get conversation(): Conversation {
    return due([...this.#fold.conversations.values()][0]?.row)
  }

  /** The latest session. */
  get session(): AgentSession {
    return due(this.#sessions.at(-1))
  }

  /** The latest handoff. */
  get handoff(): HandoffMetadata {
    return due([...this.#fold.handoffs.values()].at(-1)?.row)
  }

  get monitor(): ContextMonitor {
    const { conversationId, id: sessionId } = this.session
    return newMonitor({ conversationId, sessionId }, this.watch)
  }

  get nextSequence(): SequenceNumber {
    return sequenceNumber(Math.max(1, ...this.#sessions.map(({ progress }) => progress.nextSequence)))
  }

  get lastEpoch(): number {
    return this.#sessions.length
  }

  working(id: string = this.session.id): StoredSession {
    return { session: due(this.#fold.sessions.get(id)?.row), holder: HOLDER.digest }
  }

  handoffNamed(id: string): HandoffMetadata {
    return due(this.#fold.handoffs.get(id)?.row)
  }

  conversationFacts(): ConversationFacts {
    const { conversation, nextSequence, lastEpoch } = this
    return defined({ conversation, baton: this.#sessions.find(hasBaton), nextSequence, lastEpoch })
  }

  sessionFacts(id?: string): ResumeFacts {
    const { nextSequence, baton, conversation } = this.conversationFacts()
    return defined({
      working: this.working(id),
      conversation,
      baton,
      nextSequence,
      monitor: this.monitor,
      lease: this.lease,
    })
  }

  sourceFacts(): SourceFacts {
    const { session, monitor, conversation, now } = this
    const start = session.progress.exchangeStart ?? session.startSequence
    const turns = this.turns.filter(({ sessionId }) => sessionId === session.id)
    const calls: readonly ToolCall[] = turns.flatMap(({ toolCalls }) => toolCalls)
    return defined({
      working: this.working(),
      monitor,
      conversation,
      priorTurnId: session.progress.lastTurnId,
      namedToolCalls: [],
      exchangeToolCalls: calls.filter((call) => call.sequenceNumber >= start),
      lastToolCalls: turns.findLast(({ toolCalls }) => toolCalls.length > 0)?.toolCalls ?? [],
      restarts: this.#restarts(),
      now,
    })
  }

  /** What a caller holds who has the session, and nothing else. */
  heldFacts(): TurnFacts {
    return { working: this.working(), monitor: this.monitor }
  }

  handoffFacts(): HandoffFacts {
    const { handoff, conversation, monitor, nextSequence, lastEpoch, now } = this
    const source = this.working(handoff.sourceSessionId)
    const personMessages = { messages: this.#personMessages(), more: 0 }
    return { handoff, conversation, source, monitor, personMessages, nextSequence, lastEpoch, now }
  }

  /** All that people said, newest first. */
  #personMessages(): readonly PlacedPersonMessage[] {
    return this.events
      .flatMap((event) => (event.type === 'turn.recorded' ? event.messages : []))
      .filter(({ origin }) => origin === 'person')
      .map(({ text, sequenceNumber, recordedAt: at }) => ({ text, sequenceNumber, at }))
      .toReversed()
  }

  get #sessions(): readonly AgentSession[] {
    return [...this.#fold.sessions.values()].map(({ row }) => row)
  }

  #restarts(): RestartUse {
    const handoffs = [...this.#fold.handoffs.values()].map(({ row }) => row)
    const cameFrom = handoffs.find(({ id }) => id === this.session.initiatedByHandoff)
    return defined({
      restarts: handoffs.filter(({ kind }) => kind === 'context_restart').length,
      takeovers: 0,
      firstStartedAt: due(this.#sessions[0]).startedAt,
      costUsd: 0,
      cameFrom,
    })
  }
}

const due = <T>(known: T | undefined): T => {
  if (known === undefined) throw new Error('The past does not tell of it')
  return known
}
