import { randomUUID } from 'node:crypto'
import { sealBody } from '../../../domain/audit/audit-chain.ts'
import { commandSeal, type KeptCommand, payloadDigest } from '../../../domain/audit/command-seal.ts'
import type { AuditEvent } from '../../../domain/audit-event.ts'
import type { Change, Expected, ExpectedHandoff, SessionKey } from '../../../domain/decision.ts'
import { CLAIM_TOLERANCE_MS, type HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { ConversationId } from '../../../domain/kernel/ids.ts'
import type { SourceSession } from '../../../domain/session/stored-session.ts'
import type { Unit } from '../../../ports/store/unit-of-work.ts'
import { sha256 } from '../../../ports/system/sha256.ts'
import { fromConversation } from './conversation-row.ts'
import { fromHandoff, fromMovedHandoff } from './handoff-row.ts'
import { fromLookBack } from './look-back-rows.ts'
import { fromMonitor, fromSignal } from './monitor-row.ts'
import { fromAppendedCalls, fromExtension, fromMessage, fromSnapshot, fromToolCalls, fromTurn } from './record-rows.ts'
import { fromMovedSession, fromWorkingSession } from './session-row.ts'
import { toStorableBody } from './text-codec.ts'

/** The lists that `commit_unit` takes, one per table and one per guard. */
type RowList =
  | 'conversations'
  | 'closed_conversations'
  | 'open_conversations'
  | 'budgets'
  | 'metadata'
  | 'extracts'
  | 'sessions'
  | 'moved_sessions'
  | 'expected_sessions'
  | 'expected_tails'
  | 'turns'
  | 'extended_turns'
  | 'messages'
  | 'tool_calls'
  | 'handoffs'
  | 'moved_handoffs'
  | 'handoff_tool_calls'
  | 'snapshots'
  | 'look_backs'
  | 'monitors'
  | 'moved_monitors'
  | 'signals'
  | 'withdrawn_signals'
  | 'leases'
  | 'dropped_leases'

type RowsOfChange = Partial<Record<RowList, readonly object[]>>

/** The database writes behind the seal in the log when the row was kept: its own clock says so. */
type SealedCommand = KeptCommand & { readonly seal: string }

/** A unit as the parameters of `commit_unit`: its rows, and its events beside them. */
export const unitColumns = (unit: Unit) => {
  const commandRow = keptCommand(unit)
  return { rows: unitRows(unit, commandRow), ...auditColumns(unit.events, commandRow) }
}

const unitRows = ({ command, changes }: Unit, commandRow: SealedCommand | undefined): object => {
  const lists: Record<string, object[]> = {}
  for (const change of changes) {
    for (const [name, rows] of Object.entries(rowsOf(change))) {
      const list = lists[name]
      if (list === undefined) lists[name] = [...rows]
      else list.push(...rows)
    }
  }
  return { command: { id: command.id, ...(commandRow && fromCommand(commandRow)) }, ...lists }
}

const fromCommand = ({ conversationId, digest, receipt, seal }: SealedCommand) => ({
  ...{ conversation_id: conversationId, digest, receipt, seal },
})

/** The columns that recognise a repetition. The row belongs to the conversation whose log seals it. */
const keptCommand = ({
  command: { id, payload },
  changes: [first],
  events,
  isRemembered,
  receipt,
}: Unit): SealedCommand | undefined => {
  if (!isRemembered) return undefined
  const conversationId = events[0]?.conversationId ?? (first && conversationOf(first))
  const digest = payloadDigest(payload, randomUUID(), sha256)
  const commandRow = { id, digest, ...defined({ receipt, conversationId }) }
  return { ...commandRow, seal: commandSeal(commandRow, sha256) }
}

const rowsOf = (change: Change): RowsOfChange => {
  switch (change.type) {
    case 'add_conversation':
      return { conversations: [fromConversation(change.conversation)] }
    case 'set_closed':
      return { closed_conversations: [{ id: change.conversationId, closed_at: change.closedAt }] }
    case 'expect_open':
      return { open_conversations: [{ id: change.conversationId }] }
    case 'set_budget':
      return {
        budgets: [{ id: change.conversationId, restart_budget: change.restartBudget, asked: change.asked }],
      }
    case 'set_metadata': {
      const { of, id, conversationId, metadata } = change
      return { metadata: [{ of, id, conversation_id: conversationId, metadata }] }
    }
    case 'keep_extract': {
      const { handoffId: id, conversationId, extract } = change
      return { extracts: [{ id, conversation_id: conversationId, extract }] }
    }
    case 'add_session':
      return { sessions: [fromWorkingSession(change.working)] }
    case 'move_session':
      return { moved_sessions: [{ ...fromMovedSession(newHolderOnly(change)), ...guard(change.expected) }] }
    case 'expect_session': {
      const { id, conversationId } = change.session
      return { expected_sessions: [{ id, conversation_id: conversationId, ...guard(change.expected) }] }
    }
    case 'expect_tail':
      return { expected_tails: [{ conversation_id: change.conversationId, next_sequence: change.nextSequence }] }
    case 'add_turn':
      return {
        turns: [fromTurn(change.turn)],
        messages: change.messages.map(fromMessage),
        tool_calls: fromToolCalls(change.turn),
      }
    case 'extend_turn':
      return {
        extended_turns: [fromExtension(change)],
        messages: change.messages.map(fromMessage),
        tool_calls: fromAppendedCalls(change),
      }
    case 'add_message':
      return { messages: [fromMessage(change.message)] }
    case 'add_snapshot':
      return { snapshots: [fromSnapshot(change.snapshot)] }
    case 'add_look_back':
      return { look_backs: [fromLookBack(change.lookBack)] }
    case 'add_handoff':
      return { handoffs: [fromHandoff(change.handoff)], handoff_tool_calls: fromReferences(change.handoff) }
    case 'move_handoff':
      return {
        moved_handoffs: [
          { ...fromMovedHandoff(change.handoff), ...handoffGuard(change.expected), tolerance_ms: CLAIM_TOLERANCE_MS },
        ],
      }
    case 'add_monitor':
      return { monitors: [fromMonitor(change.monitor)] }
    case 'move_monitor':
      return { moved_monitors: [{ ...fromMonitor(change.monitor), expected: change.expected }] }
    case 'add_signal':
      return { signals: [fromSignal(change.signal)] }
    case 'withdraw_signals': {
      const { conversationId, aboutId, at } = change
      return {
        withdrawn_signals: [{ conversation_id: conversationId, about_session_id: aboutId, settled_at: at }],
      }
    }
    case 'set_lease': {
      const { session, holder, leaseMs, runner, ifExpired } = change
      return { leases: [{ ...keyOf(session), holder, lease_ms: leaseMs, runner, if_expired: ifExpired }] }
    }
    case 'drop_lease':
      return { dropped_leases: [{ ...keyOf(change.session), if_expired: change.ifExpired }] }
    default:
      return change satisfies never
  }
}

/** A holder that stays is not written again with every turn. */
const newHolderOnly = ({ working, expected }: Extract<Change, { type: 'move_session' }>): SourceSession =>
  working.holder === expected.holder ? { session: working.session } : working

const keyOf = ({ id, conversationId }: SessionKey) => ({ conversation_id: conversationId, session_id: id })

/** The database digests the token that was shown. Without one, it compares the digest that the decision has read. */
const guard = ({ version, holder, token, state, heldBy, turns, nextSequence }: Expected) => ({
  expected: {
    ...(token === undefined ? { holder } : { token }),
    ...{ version, state, held_by: heldBy, turns, next_sequence: nextSequence },
  },
})

const handoffGuard = ({ version, status, claimant, deadline }: ExpectedHandoff) => ({
  expected: { version, status, claimant, claim_deadline: deadline },
})

const fromReferences = ({ id, conversationId, triggeringToolCalls }: HandoffMetadata) =>
  triggeringToolCalls.map(({ callId, sequenceNumber }, index) => ({
    conversation_id: conversationId,
    handoff_id: id,
    ordinal: index + 1,
    call_id: callId,
    sequence_number: sequenceNumber,
  }))

const conversationOf = (change: Change): ConversationId => {
  switch (change.type) {
    case 'add_conversation':
      return change.conversation.id
    case 'add_session':
    case 'move_session':
      return change.working.session.conversationId
    case 'expect_session':
    case 'extend_turn':
    case 'set_lease':
    case 'drop_lease':
      return change.session.conversationId
    case 'expect_tail':
    case 'withdraw_signals':
    case 'set_closed':
    case 'expect_open':
    case 'set_budget':
    case 'set_metadata':
    case 'keep_extract':
      return change.conversationId
    case 'add_turn':
      return change.turn.conversationId
    case 'add_message':
      return change.message.conversationId
    case 'add_snapshot':
      return change.snapshot.conversationId
    case 'add_look_back':
      return change.lookBack.conversationId
    case 'add_monitor':
    case 'move_monitor':
      return change.monitor.conversationId
    case 'add_signal':
      return change.signal.conversationId
    default:
      return change.handoff.conversationId
  }
}

/** The events of a unit: grouped by stream in id order, in which their heads are locked. */
const auditColumns = (events: Unit['events'], commandRow: SealedCommand | undefined) => {
  const sealed = events.map((event, index) => auditRow(event, index === 0 ? commandRow : undefined))
  const rows = sealed.sort(({ stream: a }, { stream: b }) => (a < b ? -1 : Number(a > b)))
  return {
    streams: rows.map(({ stream }) => stream),
    bodies: rows.map(({ body }) => toStorableBody(body)),
    salts: rows.map(({ salt }) => salt ?? null),
  }
}

const auditRow = (event: AuditEvent, commandRow: SealedCommand | undefined) => ({
  stream: event.conversationId,
  ...sealBody(event, { salt: randomUUID(), receipt: commandRow && `${commandRow.seal}@` }, sha256),
})
