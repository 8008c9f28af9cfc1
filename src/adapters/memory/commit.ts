import { randomUUID } from 'node:crypto'
import { commandSeal, payloadDigest } from '../../domain/audit/command-seal.ts'
import { type Change, type Expected, type ExpectedHandoff, expecting, expectingHandoff } from '../../domain/decision.ts'
import { CLAIM_TOLERANCE_MS, claimOf, type HandoffMetadata } from '../../domain/handoff/handoff.ts'
import { canonicalJson } from '../../domain/kernel/canonical-json.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { AgentSessionId, ConversationId } from '../../domain/kernel/ids.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import type { StoredSession } from '../../domain/session/stored-session.ts'
import type { Message } from '../../domain/turn/message.ts'
import { type ToolCall, toolCallRecords } from '../../domain/turn/tool-call.ts'
import { extendedTurn, type Turn } from '../../domain/turn/turn.ts'
import { StoreFailure } from '../../ports/store/store-failure.ts'
import type { CommitOutcome, Unit } from '../../ports/store/unit-of-work.ts'
import { tokenDigest } from '../../ports/system/holder-tokens.ts'
import { sha256 } from '../../ports/system/sha256.ts'
import { appendAudit } from './audit-append.ts'
import { frozenCopy } from './frozen-copy.ts'
import { mayLease, setLease } from './leases.ts'
import { checkCompany, checkLinks } from './links.ts'
import { signalWithdrawals } from './signals.ts'
import { PlaceTaken, type Undo, VersionMoved } from './table.ts'
import { type CommandRow, type Tables, toolCallKey } from './tables.ts'

/** Keeps a whole unit, or undoes what it did of it. Synchronous, so nobody sees it half done. */
export const commitTo = (tables: Tables, unit: Unit, now: Instant): CommitOutcome => {
  const done: Undo[] = []
  try {
    checkCompany(unit.changes)
    for (const change of unit.changes) for (const step of stepsOf(tables, change, now)) done.push(step())
    checkLinks(tables, unit.changes)
    const commandRow = keptCommand(unit, now)
    for (const step of logSteps(tables, unit, commandRow)) done.push(step())
    if (commandRow !== undefined) done.push(tables.commands.insert(commandRow))
    return { outcome: 'kept' }
  } catch (cause) {
    for (const undo of done.reverse()) undo()
    if (cause instanceof PlaceTaken || cause instanceof VersionMoved) return { outcome: 'conflict', at: cause.message }
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
    case 'set_closed':
      return [() => setClosed(tables, change)]
    case 'expect_open':
      if (tables.conversations.get(change.conversationId)?.closedAt !== undefined)
        throw new VersionMoved('the conversation was closed')
      return []
    case 'set_budget':
      return [() => setBudget(tables, change)]
    case 'set_metadata':
      return [() => setMetadata(tables, change)]
    case 'keep_extract':
      return [() => keepExtract(tables, change)]
    case 'add_session':
      return [() => tables.sessions.insert({ session: change.working.session, holder: change.working.holder })]
    case 'move_session':
      return [
        () => {
          const { holder, session } = expectSession(tables.sessions.get(change.working.session.id), change.expected)
          const isSpoken = session.progress.lastSequence !== change.working.session.progress.lastSequence
          if (isSpoken && change.expected.token === undefined) throw new VersionMoved('nobody showed the token')
          const { metadata: _, ...moved } = change.working.session
          const merged = { ...moved, ...defined({ metadata: session.metadata }) }
          return tables.sessions.replace(frozenCopy({ holder: change.working.holder ?? holder, session: merged }))
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
    case 'add_turn':
      for (const message of change.messages) checkReport(tables, message)
      return [
        () => tables.turns.insert(change.turn),
        ...change.messages.map((message) => () => tables.messages.insert(message)),
        ...toolCallSteps(tables, change.turn),
      ]
    case 'extend_turn':
      return extendTurn(tables, change)
    case 'add_message':
      return [() => tables.messages.insert(change.message)]
    case 'add_snapshot':
      return [() => tables.snapshots.insert(change.snapshot)]
    case 'add_look_back':
      checkSession(tables, change.lookBack.conversationId, change.lookBack.sessionId)
      return [() => tables.lookBacks.insert(change.lookBack)]
    case 'add_handoff':
      checkReferences(tables, change.handoff)
      return [
        () => tables.handoffs.insert(change.handoff),
        () => tables.handoffTimes.insert({ id: change.handoff.id, keptAt: now }),
      ]
    case 'move_handoff':
      return [
        () => {
          const stored = expectHandoff(tables.handoffs.get(change.handoff.id), change.expected)
          expectTime(stored, change.handoff, now)
          const { metadata, extract } = stored
          return tables.handoffs.replace(frozenCopy({ ...change.handoff, ...defined({ metadata, extract }) }))
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
      return signalWithdrawals(tables, change.aboutId, change.at)
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

const extendTurn = (tables: Tables, change: Extract<Change, { type: 'extend_turn' }>): readonly Step[] => {
  const turn = tables.turns.get(change.turnId)
  if (turn === undefined || turn.sessionId !== change.session.id)
    throw new StoreFailure('store.integrity', `There is no turn ${change.turnId} in session ${change.session.id}`)
  const extended = extendedTurn(turn, change)
  return [
    () => tables.turns.replace(frozenCopy(extended)),
    ...change.messages.map((message) => () => tables.messages.insert(message)),
    ...toolCallSteps(tables, extended, turn.toolCalls.length),
  ]
}

const toolCallSteps = (tables: Tables, turn: Turn, from = 0): readonly Step[] =>
  toolCallRecords(turn)
    .slice(from)
    .map((call, index) => () => {
      const reference = turn.toolCalls[from + index] as ToolCall
      return tables.toolCalls.insert({ ...call, reference })
    })

/** The stored session, if all that the decision stood on is true of it. */
const expectSession = (stored: StoredSession | undefined, expected: Expected): StoredSession => {
  if (stored === undefined) throw new VersionMoved('there is no such session')
  const { holder: _, ...now } = expecting(stored)
  const { holder, token, ...then } = expected
  if (!isSame(now, then)) throw new VersionMoved('the session is not what was expected')
  const shown = token === undefined ? holder : tokenDigest(token)
  if (shown !== undefined && stored.holder !== shown) throw new VersionMoved('the session has a newer holder')
  return stored
}

const expectHandoff = (stored: HandoffMetadata | undefined, expected: ExpectedHandoff): HandoffMetadata => {
  if (stored === undefined || !isSame(expectingHandoff(stored), expected))
    throw new VersionMoved('the handoff is not what was expected')
  return stored
}

const isSame = <T extends object>(one: T, other: T): boolean => canonicalJson(one) === canonicalJson(other)

/** A claim that begins now does so by the store's clock; one that is kept up has begun before. */
const expectTime = (stored: HandoffMetadata, handoff: HandoffMetadata, now: Instant): void => {
  if (handoff.status !== 'accepted' || claimOf(stored)?.acceptedAt === handoff.claim.acceptedAt) return
  const off = Math.abs(Date.parse(handoff.claim.acceptedAt) - Date.parse(now))
  if (off > CLAIM_TOLERANCE_MS) throw new VersionMoved(`the claim begins ${off} ms from now`)
}

const expectVersion = (stored: number | undefined, expected: number): void => {
  if (stored !== expected) throw new VersionMoved(`expected version ${expected}, found ${stored}`)
}

/** Checks what foreign keys would check: the prior turn and the tool calls exist, in the handoff's own conversation. */
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

const checkReport = (tables: Tables, { conversationId, reports }: Message): void => {
  const thread = reports && tables.handoffs.get(reports)
  if (reports !== undefined)
    mustExist(thread?.conversationId === conversationId ? thread : undefined, `thread ${reports}`)
}

const checkSession = (tables: Tables, conversationId: ConversationId, id: AgentSessionId): void => {
  const session = tables.sessions.get(id)?.session
  mustExist(session?.conversationId === conversationId ? session : undefined, `session ${id}`)
}

const mustExist = (row: unknown, what: string): void => {
  if (row === undefined) throw new StoreFailure('store.integrity', `There is no ${what} in this conversation`)
}

/** One entry per event, at the next position of its conversation. */
const logSteps = (tables: Tables, { command, events }: Unit, commandRow: CommandRow | undefined): readonly Step[] =>
  events.map((event, index) => () => {
    const { conversationId } = event
    mustExist(tables.conversations.get(conversationId), `conversation ${conversationId}`)
    const receipt =
      commandRow === undefined || index > 0 ? undefined : `${commandSeal(commandRow, sha256)}@${commandRow.keptAt}`
    return appendAudit(tables, { commandId: command.id, receipt }, event)
  })

/** The row that remembers a command; none when the command is not to be remembered. */
const keptCommand = ({ command, events, isRemembered, receipt }: Unit, keptAt: Instant): CommandRow | undefined => {
  if (!isRemembered) return undefined
  const digest = payloadDigest(command.payload, randomUUID(), sha256)
  return { id: command.id, digest, keptAt, ...defined({ receipt, conversationId: events[0]?.conversationId }) }
}

const setClosed = (tables: Tables, { conversationId, closedAt }: Extract<Change, { type: 'set_closed' }>): Undo => {
  const stored = tables.conversations.get(conversationId)
  const isOther = stored !== undefined && (stored.closedAt === undefined) === (closedAt !== undefined)
  const isIdle = closedAt === undefined || tables.sessions.at('baton', conversationId) === undefined
  if (!isOther || !isIdle) throw new VersionMoved('the conversation is not what was expected')
  const { closedAt: _, ...rest } = stored
  return tables.conversations.replace(frozenCopy({ ...rest, ...defined({ closedAt }) }))
}

const keepExtract = (tables: Tables, { handoffId, extract }: Extract<Change, { type: 'keep_extract' }>): Undo => {
  const stored = tables.handoffs.get(handoffId)
  if (stored === undefined || stored.extract !== undefined) throw new VersionMoved('it has an extract')
  return tables.handoffs.replace(frozenCopy({ ...stored, extract }))
}

const setMetadata = (tables: Tables, change: Extract<Change, { type: 'set_metadata' }>): Undo => {
  const { of, id, metadata } = change
  const noted = <Row extends object>(row: Row | undefined): Row => {
    if (row === undefined) throw new VersionMoved(`there is no ${of} ${id}`)
    const { metadata: _, ...rest } = row as Row & { metadata?: unknown }
    return frozenCopy({ ...rest, ...defined({ metadata }) }) as unknown as Row
  }
  if (of === 'conversation') return tables.conversations.replace(noted(tables.conversations.get(id)))
  if (of === 'handoff') return tables.handoffs.replace(noted(tables.handoffs.get(id)))
  const working = tables.sessions.get(id)
  return tables.sessions.replace(Object.freeze({ ...(working as StoredSession), session: noted(working?.session) }))
}

const setBudget = (
  tables: Tables,
  { conversationId, restartBudget, asked: prompt }: Extract<Change, { type: 'set_budget' }>,
): Undo => {
  const stored = tables.conversations.get(conversationId)
  if (stored === undefined) throw new VersionMoved('there is no such conversation')
  return tables.conversations.replace(frozenCopy({ ...stored, ...defined({ restartBudget, asked: prompt }) }))
}
