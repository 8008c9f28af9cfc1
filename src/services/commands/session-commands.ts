import { BUDGET_LIMITS } from '../../domain/budget/restart-budget.ts'
import type { ConversationFacts, ResumeFacts, SessionFacts } from '../../domain/facts.ts'
import { oneOf, optional, wholeNumber } from '../../domain/input/check.ts'
import { metadata } from '../../domain/input/metadata-check.ts'
import { monitorSettings, totals } from '../../domain/input/readings.ts'
import { id, name, nonce, text, trimmedName } from '../../domain/input/words.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { lookBackId, messageId, snapshotId } from '../../domain/kernel/ids.ts'
import * as decisions from '../../domain/session/change-session.ts'
import {
  setSessionMetadata as decideNote,
  captureSnapshot as decideSnapshot,
} from '../../domain/session/change-session.ts'
import { SNAPSHOT_TYPES } from '../../domain/session/context-snapshot.ts'
import { recordLookBack as decideLookBack, keptQuestion, LOOK_BACK_WAYS } from '../../domain/session/looked-back.ts'
import { startSession as decideStart } from '../../domain/session/start-session.ts'
import { shownBy } from '../../domain/session/stored-session.ts'
import { command, content, continuation, manner, prompt } from './command.ts'
import { newSessionIds, watchOf } from './command-context.ts'
import {
  anySession,
  asHolder,
  changesSession,
  heldTargetOf,
  isByHand,
  isTrue,
  leaseAsked,
  onSession,
  proofOf,
  repeatable,
  targetOf,
} from './references.ts'
import type {
  AccountRequest,
  AttachRequest,
  ChangesSession,
  FailDetails,
  LookBackRecordRequest,
  OnSession,
  ResumeDetails,
  SessionNote,
  SnapshotRequest,
  StartRequest,
  TakeOverRequest,
} from './requests.ts'

export const startSession = command<StartRequest>()({
  name: 'start_session',
  fields: {
    ...repeatable,
    conversationId: content(id),
    sessionId: content(optional(id)),
    agentName: content(trimmedName),
    backend: content(name),
    model: content(optional(name)),
    providerSessionId: content(optional(name)),
    parentSessionId: content(optional(id)),
    prompt: prompt(optional(text)),
    hookContext: prompt(optional(text)),
    continuation: continuation(optional(text)),
    nonce: manner(optional(nonce)),
    monitor: content(optional(monitorSettings)),
    ...leaseAsked,
    metadata: content(optional(metadata)),
  },
  givesToken: () => true,
  plan: (request, context) => {
    const at = context.clock.now()
    const { conversationId, parentSessionId, sessionId, hookContext, continuation } = request
    const idFor = (content: string | undefined) => (content === undefined ? undefined : messageId(context.ids.next()))
    const before = defined({ hookContextId: idFor(hookContext), continuationId: idFor(continuation) })
    const ids = { ...newSessionIds(context), ...before }
    return {
      question: { about: 'conversation' as const, conversationId, ...defined({ parentSessionId, sessionId }) },
      decide: (facts: ConversationFacts) =>
        decideStart(facts, request, { ids, at, watch: watchOf(request.model, context) }),
    }
  },
})

/** The session as the caller holds it, when the caller shows the token as well. */
const heldSession = ({ session, holder }: OnSession): { readonly held?: SessionFacts } =>
  typeof session === 'string' || holder === undefined ? {} : { held: { working: shownBy(session, proofOf(holder)) } }

const sessionQuestion = (request: Pick<OnSession, 'session'>) => ({
  about: 'session' as const,
  sessionId: targetOf(request).sessionId,
})

/** A change of a session's state: its name, and what it comes to. */
const changing = (name: string, type: 'pause' | 'complete') =>
  command<ChangesSession>()({
    name,
    fields: changesSession,
    isByHand,
    plan: (request, { clock }) => {
      const at = clock.now()
      return {
        question: sessionQuestion(request),
        ...heldSession(request),
        decide: (facts: SessionFacts) => decisions.changeSession(facts, targetOf(request), { type, at }),
      }
    },
  })

export const pauseSession = changing('pause_session', 'pause')

export const completeSession = changing('complete_session', 'complete')

export const failSession = command<FailDetails>()({
  name: 'fail_session',
  fields: { ...changesSession, reason: content(text), limit: content(optional(oneOf(...BUDGET_LIMITS))) },
  isByHand,
  plan: (request, { clock }) => {
    const { reason, limit } = request
    const at = clock.now()
    return {
      question: sessionQuestion(request),
      ...heldSession(request),
      decide: (facts: SessionFacts) =>
        decisions.changeSession(facts, targetOf(request), { type: 'fail', reason, at, ...defined({ limit }) }),
    }
  },
})

export const resumeSession = command<ResumeDetails>()({
  name: 'resume_session',
  fields: { ...changesSession, ...leaseAsked },
  isByHand,
  givesToken: ({ leaseMs }) => leaseMs !== undefined,
  plan: (request, context) => {
    const target = { ...targetOf(request), ...defined({ leaseMs: request.leaseMs, runner: request.runner }) }
    const at = context.clock.now()
    const holder = context.holder()
    return {
      question: sessionQuestion(request),
      decide: (facts: ResumeFacts) => decisions.resumeSession(facts, target, { holder, at }),
    }
  },
})

export const takeOverSession = command<TakeOverRequest>()({
  name: 'take_over_session',
  fields: {
    ...anySession,
    ...leaseAsked,
    deadRunner: content(optional(name)),
    ifAbandoned: content(optional(isTrue)),
  },
  // A lease that has run out is proof, and so is a process that is gone; without one it is a person who decides that the holder is gone.
  isByHand: ({ ifAbandoned }) => ifAbandoned !== true,
  givesToken: () => true,
  plan: (request, context) => {
    const { sessionId } = targetOf(request)
    const at = context.clock.now()
    const holder = context.holder()
    const { leaseMs, runner, ifAbandoned, deadRunner } = request
    const wanted = { sessionId, ...defined({ leaseMs, runner, ifAbandoned, deadRunner }) }
    return {
      question: { about: 'session' as const, sessionId },
      decide: (facts: SessionFacts) => decisions.takeOverSession(facts, wanted, { holder, at }),
    }
  },
})

export const attachSession = command<AttachRequest>()({
  name: 'attach_session',
  fields: { ...asHolder, providerSessionId: content(name) },
  plan: (request, { clock }) => {
    const { providerSessionId } = request
    const at = clock.now()
    return {
      question: sessionQuestion(request),
      ...heldSession(request),
      decide: (facts: SessionFacts) => decisions.attachSession(facts, heldTargetOf(request), { providerSessionId, at }),
    }
  },
})

export const accountSession = command<AccountRequest>()({
  name: 'account_session',
  fields: { ...asHolder, totals: content(totals) },
  plan: (request, { clock }) => {
    const at = clock.now()
    return {
      question: sessionQuestion(request),
      ...heldSession(request),
      decide: (facts: SessionFacts) =>
        decisions.accountSession(facts, heldTargetOf(request), { totals: request.totals, at }),
    }
  },
})

export const captureSnapshot = command<SnapshotRequest>()({
  name: 'capture_snapshot',
  fields: { ...onSession, type: content(optional(oneOf(...SNAPSHOT_TYPES))) },
  plan: (request, { clock, ids }) => {
    const around = { id: snapshotId(ids.next()), type: request.type ?? 'on_demand', at: clock.now() }
    return {
      question: sessionQuestion(request),
      ...heldSession(request),
      decide: (facts: SessionFacts) => decideSnapshot(facts, targetOf(request), around),
    }
  },
})

export const recordLookBack = command<LookBackRecordRequest>()({
  name: 'record_look_back',
  fields: {
    commandId: anySession.commandId,
    session: anySession.session,
    by: content(oneOf(...LOOK_BACK_WAYS)),
    text: content(text),
    found: content(wholeNumber(0, 1_000_000)),
  },
  plan: (request, { clock, ids }) => {
    const { by, found } = request
    const look = { sessionId: targetOf(request).sessionId, by, text: keptQuestion(request.text), found }
    const around = { id: lookBackId(ids.next()), at: clock.now() }
    return {
      question: sessionQuestion(request),
      decide: (facts: SessionFacts) => decideLookBack(facts, look, around),
    }
  },
})

const { monitor: _, ...noteOnSession } = changesSession

export const setSessionMetadata = command<SessionNote>()({
  name: 'set_session_metadata',
  fields: { ...noteOnSession, metadata: content(metadata) },
  isByHand,
  plan: (request, { clock }) => {
    const wanted = { ...targetOf(request), metadata: request.metadata }
    const at = clock.now()
    return {
      question: sessionQuestion(request),
      decide: (facts: SessionFacts) => decideNote(facts, wanted, at),
    }
  },
})
