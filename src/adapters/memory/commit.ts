import type { WorkingSession } from '../../domain/agent-session.ts'
import type { Change, Expected } from '../../domain/decision.ts'
import { CLAIM_TOLERANCE_MS, type HandoffMetadata } from '../../domain/handoff.ts'
import type { AgentSessionId, ConversationId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { StoreFailure } from '../../ports/store-failure.ts'
import type { Unit } from '../../ports/unit-of-work.ts'
import { appendAudit } from './audit-append.ts'
import { mayLease, setLease } from './leases.ts'
import { withdrawSignals } from './signals.ts'
import { PlaceTaken, type Undo } from './table.ts'
import { type Tables, toolCallKey } from './tables.ts'

/** Thrown inside a commit when a version has moved on; never leaves the store. */
class VersionMoved extends Error {
  override readonly name = 'VersionMoved'
}

/** Keeps a whole unit, or undoes what it did of it. Synchronous, so nobody sees it half done. */
export const commitTo = (tables: Tables, unit: Unit, now: Instant): 'kept' | 'conflict' => {
  const done: Undo[] = []
  try {
    for (const change of unit.changes) for (const step of stepsOf(tables, change, now)) done.push(step())
    for (const step of logSteps(tables, unit)) done.push(step())
    const { command, receipt } = unit
    const { id, payload } = command
    if (receipt !== undefined) done.push(tables.commands.insert({ id, payload, receipt, keptAt: now }))
    return 'kept'
  } catch (cause) {
    for (const undo of done.reverse()) undo()
    if (cause instanceof PlaceTaken || cause instanceof VersionMoved) return 'conflict'
    throw cause
  }
}

type Step = () => Undo

const stepsOf = (tables: Tables, change: Change, now: Instant): readonly Step[] => {
  switch (change.type) {
    case 'add_conversation': {
      const { parentId } = change.conversation
      if (parentId !== undefined) mustExist(tables.conversations.get(parentId), `parent conversation ${parentId}`)
      return [() => tables.conversations.insert(change.conversation)]
    }
    case 'add_session':
      return [() => tables.sessions.insert(change.working)]
    case 'move_session':
      return [
        () => {
          const { holder } = expectSession(tables.sessions.get(change.working.session.id), change.expected)
          return tables.sessions.replace({ holder, ...change.working })
        },
      ]
    case 'expect_session':
      expectSession(tables.sessions.get(change.session.id), change.expected)
      return []
    case 'expect_tail': {
      const { conversationId, nextSequence } = change
      const taken = tables.messages.at('sequence', `${conversationId}/${nextSequence}`)
      if (taken !== undefined) throw new VersionMoved(`somebody has spoken at ${nextSequence}`)
      return []
    }
    case 'add_turn': {
      const { conversationId, sessionId, toolCalls } = change.turn
      return [
        () => tables.turns.insert(change.turn),
        ...change.messages.map((message) => () => tables.messages.insert(message)),
        ...toolCalls.map(
          (reference, position) => () => tables.toolCalls.insert({ conversationId, sessionId, position, reference }),
        ),
      ]
    }
    case 'add_message':
      return [() => tables.messages.insert(change.message)]
    case 'add_snapshot':
      return [() => tables.snapshots.insert(change.snapshot)]
    case 'add_handoff':
      checkReferences(tables, change.handoff)
      return [() => tables.handoffs.insert(change.handoff)]
    case 'move_handoff':
      return [
        () => {
          expectVersion(tables.handoffs.get(change.handoff.id)?.version, change.expected)
          expectTime(change.handoff, now)
          return tables.handoffs.replace(change.handoff)
        },
      ]
    case 'add_monitor':
      checkSession(tables, change.monitor.conversationId, change.monitor.sessionId)
      return [() => tables.monitors.insert(change.monitor)]
    case 'move_monitor':
      return [
        () => {
          expectVersion(tables.monitors.get(change.monitor.sessionId)?.version, change.expected)
          return tables.monitors.replace(change.monitor)
        },
      ]
    case 'add_signal':
      checkSession(tables, change.signal.conversationId, change.signal.aboutId)
      return [() => tables.signals.insert(change.signal)]
    case 'withdraw_signals':
      return withdrawSignals(tables, change.aboutId, change.at)
    case 'set_lease':
      checkSession(tables, change.session.conversationId, change.session.id)
      return [
        () => {
          if (!mayLease(tables, change, now)) throw new VersionMoved('the holder was heard of meanwhile')
          return setLease(tables, change, now)
        },
      ]
    case 'drop_lease':
      if (!mayLease(tables, change, now)) throw new VersionMoved('the holder was heard of meanwhile')
      return tables.leases.get(change.session.id) === undefined ? [] : [() => tables.leases.remove(change.session.id)]
    default:
      return change satisfies never
  }
}

const expectSession = (stored: WorkingSession | undefined, { version, holder }: Expected): WorkingSession => {
  expectVersion(stored?.session.version, version)
  if (stored === undefined || (holder !== undefined && stored.holder !== holder)) {
    throw new VersionMoved('the session has a newer holder')
  }
  return stored
}

const expectTime = (handoff: HandoffMetadata, now: Instant): void => {
  if (handoff.status !== 'accepted') return
  const off = Math.abs(Date.parse(handoff.claim.acceptedAt) - Date.parse(now))
  if (off > CLAIM_TOLERANCE_MS) throw new VersionMoved(`the claim begins ${off} ms from now`)
}

const expectVersion = (stored: number | undefined, expected: number): void => {
  if (stored !== expected) throw new VersionMoved(`expected version ${expected}, found ${stored}`)
}

/** What foreign keys would hold: the prior turn and the tool calls exist, in the handoff's own conversation. */
const checkReferences = (tables: Tables, handoff: HandoffMetadata): void => {
  const { conversationId, priorTurnId, sourceSessionId, triggeringToolCalls } = handoff
  const inConversation = <T extends { readonly conversationId: string }>(row: T | undefined): T | undefined =>
    row?.conversationId === conversationId ? row : undefined
  mustExist(inConversation(tables.sessions.get(sourceSessionId)?.session), `source session ${sourceSessionId}`)
  mustExist(inConversation(tables.turns.get(priorTurnId)), `prior turn ${priorTurnId}`)
  for (const call of triggeringToolCalls) {
    mustExist(inConversation(tables.toolCalls.get(toolCallKey(call))), `tool call ${call.callId}`)
  }
}

const checkSession = (tables: Tables, conversationId: ConversationId, id: AgentSessionId): void => {
  const session = tables.sessions.get(id)?.session
  mustExist(session?.conversationId === conversationId ? session : undefined, `session ${id}`)
}

const mustExist = (row: unknown, what: string): void => {
  if (row === undefined) throw new StoreFailure('store.integrity', `There is no ${what} in this conversation`)
}

/** One entry per event, at the next position of its conversation. */
const logSteps = (tables: Tables, { command, events }: Unit): readonly Step[] =>
  events.map((event) => () => {
    const { conversationId } = event
    mustExist(tables.conversations.get(conversationId), `conversation ${conversationId}`)
    return appendAudit(tables, command.id, event)
  })
