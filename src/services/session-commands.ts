import { captureSnapshot } from '../domain/decisions/capture-snapshot.ts'
import {
  accountSession,
  attachSession,
  changeSession,
  resumeSession,
  takeOverSession,
} from '../domain/decisions/change-session.ts'
import { type OpenConversation, openConversation } from '../domain/decisions/open-conversation.ts'
import { recordTurns } from '../domain/decisions/record-turns.ts'
import { type StartSession, startSession } from '../domain/decisions/start-session.ts'
import { defined } from '../domain/defined.ts'
import type { TurnFacts } from '../domain/facts.ts'
import { conversationId, holderToken, signalId, snapshotId } from '../domain/ids.ts'
import { MAX_REFERENCED_TOOL_CALLS } from '../domain/tool-call.ts'
import {
  type CommandContext,
  draftTurn,
  newHandoffIds,
  newSessionIds,
  redacted,
  sessionCommand,
  stampOf,
  targetOf,
  watchOf,
} from './command-inputs.ts'
import type {
  AccountRequest,
  AttachRequest,
  FailSessionRequest,
  OnSession,
  RecordTurnsRequest,
  Repeatable,
  ResumeRequest,
  TakeOverRequest,
} from './requests.ts'

export const openingConversation = (asked: OpenConversation & Repeatable, context: CommandContext) => {
  const request = redacted(asked, context)
  const at = context.clock.now()
  const { externalKey, parentId } = request
  const id = conversationId(context.ids.next())
  return {
    stamp: stampOf('open_conversation', request, context.ids),
    question: { about: 'opening' as const, ...defined({ externalKey, parentId }) },
    // Nearly always the key is new, and the store says so if it is not. A parent has to be looked up.
    ...(parentId === undefined && { held: {} }),
    decide: (facts: Parameters<typeof openConversation>[0]) =>
      openConversation(facts, defined({ restartBudget: context.restartBudget, ...request }), { id, at }),
  }
}

export const startingSession = (asked: StartSession & Repeatable, context: CommandContext) => {
  const request = redacted(asked, context)
  const at = context.clock.now()
  const ids = newSessionIds(context.ids)
  return {
    stamp: stampOf('start_session', request, context.ids),
    question: { about: 'conversation' as const, conversationId: request.conversationId },
    decide: (facts: Parameters<typeof startSession>[0]) =>
      startSession(facts, request, { ids, at, watch: watchOf(request.model, context) }),
  }
}

export const pausingSession = (request: OnSession, context: CommandContext) =>
  sessionCommand('pause_session', request, context, (facts, target, at) =>
    changeSession(facts, target, { type: 'pause', at }),
  )

export const completingSession = (request: OnSession, context: CommandContext) =>
  sessionCommand('complete_session', request, context, (facts, target, at) =>
    changeSession(facts, target, { type: 'complete', at }),
  )

export const failingSession = (asked: FailSessionRequest, context: CommandContext) => {
  const request = redacted(asked, context)
  return sessionCommand('fail_session', request, context, (facts, target, at) =>
    changeSession(facts, target, { type: 'fail', reason: request.reason, at }),
  )
}

export const resumingSession = (request: ResumeRequest, context: CommandContext) => {
  const target = { ...targetOf(request), ...defined({ leaseMs: request.leaseMs }) }
  const at = context.clock.now()
  const holder = holderToken(context.ids.next())
  return {
    stamp: stampOf('resume_session', request, context.ids),
    question: { about: 'session' as const, sessionId: target.sessionId },
    decide: (facts: Parameters<typeof resumeSession>[0]) => resumeSession(facts, target, { holder, at }),
  }
}

export const takingOverSession = (request: TakeOverRequest, context: CommandContext) => {
  const holder = holderToken(context.ids.next())
  const { leaseMs, ifAbandoned } = request
  return sessionCommand('take_over_session', request, context, (facts, target, at) =>
    takeOverSession(facts, { ...target, ...defined({ leaseMs, ifAbandoned }) }, { holder, at }),
  )
}

export const attachingSession = (request: AttachRequest, context: CommandContext) =>
  sessionCommand('attach_session', request, context, (facts, target, at) =>
    attachSession(facts, target, { providerSessionId: request.providerSessionId, at }),
  )

export const accountingSession = ({ totals, ...request }: AccountRequest, context: CommandContext) => {
  const { inputTokens, outputTokens, requests, costUsd } = totals
  const plain = defined({ inputTokens, outputTokens, requests, costUsd })
  return sessionCommand('account_session', { ...request, ...{ totals: plain } }, context, (facts, target, at) =>
    accountSession(facts, target, { totals: plain, at }),
  )
}

export const recordingTurns = (asked: RecordTurnsRequest, context: CommandContext) => {
  const request = redacted(asked, context)
  const drafts = request.turns.map((turn) => draftTurn(turn, context.ids))
  const at = context.clock.now()
  const ids = { handoff: newHandoffIds(context.ids), signal: () => signalId(context.ids.next()) }
  const { session, holder, monitor, turns, withholdRestart, traceContext } = request
  const wanted = { holder, turns, ...defined({ withholdRestart, traceContext }) }
  const { sessionId } = targetOf(request)
  const isHeld = typeof session !== 'string' && monitor?.sessionId === sessionId
  return {
    stamp: stampOf('record_turns', request, context.ids),
    question: { about: 'source' as const, sessionId, maxToolCalls: MAX_REFERENCED_TOOL_CALLS, isBudgeted: true },
    ...(isHeld && { held: { working: { session, holder }, monitor } }),
    decide: (facts: TurnFacts) => recordTurns(facts, { sessionId, ...wanted }, { drafts, ids, at }),
  }
}

export const capturingSnapshot = (request: OnSession, context: CommandContext) => {
  const id = snapshotId(context.ids.next())
  return sessionCommand('capture_snapshot', request, context, (facts, target, at) =>
    captureSnapshot(facts, target, { id, at }),
  )
}
