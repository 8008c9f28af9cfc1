import { originsOf } from '../../src/domain/turn/message.ts'
import { uuidV7Ids } from '../../src/entry/container.ts'
import { DEFAULT_MILESTONES, type WorkingSession } from '../../src/entry/index.ts'
import { newHolderToken } from '../../src/ports/system/holder-tokens.ts'
import { AGENTS, BACKEND, CLAIMANT, ORIGINAL_TASK, REASON, type Seat, turnInput } from '../seat.ts'
import { bodyOf, digestOf, holderOf, saltTexts, sealOf } from './documents.ts'
import { type Run, write } from './statement.ts'
import type { Statements } from './statements.ts'

const UNKNOWN = { state: 'unknown' } as const
const CLAIM_MS = 60_000

interface ToolCall {
  readonly callId: string
  readonly messageId: string
  readonly sequenceNumber: number
  readonly toolName: string
}

interface Standing {
  id: string
  holder: string
  version: number
  epoch: number
  agent: string
  turns: number
  next: number
  windowStart: number
  user: number
  assistant: number
  usage: object
  turn: string | undefined
  calls: readonly ToolCall[]
  /** Of the row that watches its window. */
  monitorVersion: number
}

/** Hand-written SQL that holds everything it can: one statement per step, no rule checked but the version. */
export class FloorSeat implements Seat {
  readonly conversationId: string
  readonly #run: Run
  readonly #statements: Statements
  #session: Standing
  #handoff = ''

  constructor(run: Run, statements: Statements, { session, holder }: WorkingSession) {
    this.#run = run
    this.#statements = statements
    this.conversationId = session.conversationId
    const { turns, nextSequence, window } = session.progress
    this.#session = {
      ...{ id: session.id, holder, version: session.version, epoch: session.epoch, agent: session.agentName },
      ...{ turns, next: nextSequence, windowStart: window.range?.start ?? nextSequence },
      ...{ user: window.messages.user, assistant: window.messages.assistant, usage: window.usage },
      ...{ turn: undefined, calls: [], monitorVersion: 1 },
    }
  }

  async recordTurn(): Promise<void> {
    const session = this.#session
    const { id: sessionId } = session
    const { messages, usage } = turnInput(session.turns + 1)
    const at = new Date().toISOString()
    const turnId = uuidV7Ids.next()
    const [first, last] = [session.next, session.next + messages.length - 1]
    const ids = messages.map(() => uuidV7Ids.next())
    const calls = messages.flatMap((message, index): ToolCall[] =>
      (message.role === 'assistant' ? (message.toolCalls ?? []) : []).map(({ callId, toolName }) => ({
        callId,
        messageId: ids[index] ?? '',
        sequenceNumber: first + index,
        toolName,
      })),
    )
    const next: Standing = {
      ...session,
      ...{ version: session.version + 1, turns: session.turns + 1, next: last + 1, usage, turn: turnId, calls },
      ...{ user: session.user + 1, assistant: session.assistant + 1 },
      ...{ monitorVersion: session.monitorVersion + 1 },
    }
    const texts = messages.map(({ text }) => text)
    const { salt, digests } = saltTexts(...texts)
    const { seal, ...command } = this.#command('record_turn')
    await write(this.#run, this.#statements.recordTurn, {
      ...this.#guard(),
      ...command,
      monitor_version: session.monitorVersion,
      turn: turnId,
      first,
      last,
      usage: JSON.stringify(usage),
      at,
      message_ids: ids,
      roles: messages.map(({ role }) => role),
      origins: messages.map(({ role }) => originsOf(role)[0]),
      texts,
      call_ids: calls.map(({ callId }) => callId),
      tools: calls.map(({ toolName }) => toolName),
      salt,
      body: bodyOf({
        at,
        messages: messages.map(({ role }, index) => ({ id: ids[index], role, text: digests[index] })),
        receipt: seal,
        sessionId,
        turn: {
          id: turnId,
          number: next.turns,
          range: { start: first },
          toolCalls: calls.map(({ callId, toolName }) => ({ callId, toolName })),
          usage,
        },
        type: 'turn.recorded',
      }),
    })
    this.#session = next
  }

  async snapshot(): Promise<void> {
    const at = new Date().toISOString()
    const snapshot = uuidV7Ids.next()
    const { seal, ...command } = this.#command('capture_snapshot')
    const { calls } = await write(this.#run, this.#statements.snapshot, {
      ...this.#guard(),
      ...command,
      snapshot,
      at,
      body: this.#captured(this.#session, 'on_demand', snapshot, at, seal),
    })
    JSON.parse(String(calls))
  }

  async initiate(): Promise<void> {
    const session = this.#session
    const { id: sessionId } = session
    const at = new Date().toISOString()
    const [handoff, snapshot] = [uuidV7Ids.next(), uuidV7Ids.next()]
    const target = AGENTS.find((name) => name !== session.agent) ?? AGENTS[0]
    const { salt, digests } = saltTexts(REASON)
    const next = { ...session, version: session.version + 1 }
    const { seal, ...command } = this.#command('initiate_handoff')
    await write(this.#run, this.#statements.initiate, {
      ...this.#guard(),
      ...command,
      handoff,
      target,
      reason: REASON,
      snapshot,
      at,
      call_ids: session.calls.map(({ callId }) => callId),
      salt,
      initiated: bodyOf({
        at,
        handoff: {
          flags: [],
          id: handoff,
          kind: 'agent_transfer',
          priorTurnId: session.turn,
          reason: digests[0],
          sourceAgent: session.agent,
          sourceSessionId: sessionId,
          targetAgent: target,
          // Each points at the same message as the first.
          triggeringToolCalls: session.calls.map(({ callId, messageId, sequenceNumber, toolName }, index) =>
            index === 0 ? { callId, messageId, sequenceNumber, toolName } : { callId, toolName },
          ),
        },
        receipt: seal,
        type: 'handoff.initiated',
      }),
      held: bodyOf({ at, handoffId: handoff, sessionId, type: 'session.held' }),
      captured: this.#captured(session, 'handoff_initiated', snapshot, at),
    })
    this.#session = next
    this.#handoff = handoff
  }

  async acceptAndComplete(): Promise<void> {
    const now = Date.now()
    const acceptedAt = new Date(now).toISOString()
    const claim = { acceptedAt, claimant: CLAIMANT, deadline: new Date(now + CLAIM_MS).toISOString() }
    const handoffId = this.#handoff
    const { seal: receipt, ...command } = this.#command('accept_handoff')
    await write(this.#run, this.#statements.accept, {
      ...command,
      handoff: handoffId,
      version: 1,
      claimant: CLAIMANT,
      at: acceptedAt,
      deadline: claim.deadline,
      body: bodyOf({ at: acceptedAt, claim, handoffId, receipt, type: 'handoff.accepted' }),
    })
    await this.#complete()
  }

  async #complete(): Promise<void> {
    const source = this.#session
    const handoffId = this.#handoff
    const at = new Date().toISOString()
    const [target, snapshot, message] = [1, 2, 3].map(() => uuidV7Ids.next())
    if (!target || !snapshot || !message) throw new Error('No ids')
    const targetHolder = newHolderToken()
    const agent = AGENTS.find((name) => name !== source.agent) ?? AGENTS[0]
    const next: Standing = {
      ...{ id: target, holder: targetHolder, version: 1, epoch: source.epoch + 1, agent, turns: 0 },
      ...{ next: source.next + 1, windowStart: source.next, user: 1, assistant: 0 },
      ...{ usage: UNKNOWN, turn: undefined, calls: [], monitorVersion: 1 },
    }
    const { salt, digests } = saltTexts(ORIGINAL_TASK)
    const { seal: receipt, ...command } = this.#command('complete_handoff')
    await write(this.#run, this.#statements.complete, {
      ...this.#guard(),
      ...command,
      handoff: handoffId,
      handoff_version: 2,
      target,
      target_holder: holderOf(targetHolder),
      epoch: next.epoch,
      agent,
      backend: BACKEND,
      first: source.next,
      usage: JSON.stringify(UNKNOWN),
      message,
      text: ORIGINAL_TASK,
      snapshot,
      at,
      salt,
      milestones: JSON.stringify(DEFAULT_MILESTONES),
      monitor_version: source.monitorVersion,
      handed_off: bodyOf({
        ...{ at, handoffId, receipt, sessionId: source.id },
        ...{ type: 'session.handed_off' },
      }),
      started: bodyOf({
        at,
        opening: [{ id: message, origin: 'batonpass', role: 'user', text: digests[0] }],
        session: {
          ...{ agentName: agent, backend: BACKEND, epoch: next.epoch, id: target },
          ...{ initiatedByHandoff: handoffId, startSequence: source.next },
        },
        type: 'session.started',
      }),
      captured: this.#captured(next, 'session_start', snapshot, at),
      completed: bodyOf({
        ...{ at, handoffId, targetSessionId: target },
        ...{ type: 'handoff.completed' },
      }),
    })
    this.#session = next
  }

  async activeSession(): Promise<void> {
    await write(this.#run, this.#statements.activeSession, { conversation: this.conversationId })
  }

  async lineage(): Promise<void> {
    const row = await write(this.#run, this.#statements.lineage, { conversation: this.conversationId })
    JSON.parse(String(row.lineage))
  }

  #guard() {
    const { id, holder, version } = this.#session
    return { session: id, holder, version }
  }

  /** Nobody names these commands, so that the library digests their name alone and stores no receipt. */
  #command(name: string) {
    const { conversationId: conversation } = this
    const kept_at = new Date().toISOString().replace('Z', '000Z')
    const command = { conversation, command: uuidV7Ids.next(), digest: digestOf(name), kept_at }
    return { ...command, seal: sealOf(conversation, command.digest, kept_at) }
  }

  #captured(session: Standing, type: string, snapshot: string, at: string, receipt?: string): string {
    const { messages, range, usage } = windowOf(session)
    const picture = { id: snapshot, messages, range, sessionId: session.id, type, usage }
    return bodyOf({ at, receipt, snapshot: picture, type: 'snapshot.captured' })
  }
}

const windowOf = ({ user, assistant, next, windowStart, usage }: Standing) => ({
  messages: { assistant, system: 0, tool: 0, user },
  range: { end: next - 1, start: windowStart },
  usage,
})
