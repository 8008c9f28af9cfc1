import { initiateHandoff } from '../domain/decisions/initiate-handoff.ts'
import { openThread } from '../domain/decisions/open-thread.ts'
import { acceptHandoff, claimNextHandoff, completeHandoff, endHandoff } from '../domain/decisions/settle-handoff.ts'
import { defined } from '../domain/defined.ts'
import { conversationId } from '../domain/ids.ts'
import { MAX_REFERENCED_TOOL_CALLS } from '../domain/tool-call.ts'
import type { SourceQuestion } from '../ports/unit-of-work.ts'
import type { ClaimSpread } from './claim-spread.ts'
import {
  type CommandContext,
  handoffIdOf,
  newHandoffIds,
  newSessionIds,
  redacted,
  stampOf,
  targetOf,
  watchOf,
} from './command-inputs.ts'
import { heldHandoff, heldSource } from './held-facts.ts'
import type {
  AcceptRequest,
  ClaimNextRequest,
  CompleteRequest,
  EndRequest,
  InitiateRequest,
  ThreadRequest,
} from './requests.ts'

type HandoffFacts = Parameters<typeof acceptHandoff>[0]
type SourceFacts = Parameters<typeof initiateHandoff>[0]

const sourceQuestion = (
  request: InitiateRequest | ThreadRequest,
  externalKey?: string,
): SourceQuestion & { about: 'source' } => {
  const { sessionId } = targetOf(request)
  const { priorTurn, toolCalls } = request
  const named = defined({ sessionId, priorTurn, toolCalls: toolCalls && [...new Set(toolCalls)], externalKey })
  return { about: 'source', ...named, maxToolCalls: MAX_REFERENCED_TOOL_CALLS }
}

export const initiatingHandoff = (asked: InitiateRequest, context: CommandContext) => {
  const request = redacted(asked, context)
  const at = context.clock.now()
  const ids = newHandoffIds(context.ids)
  const wanted = { ...request, ...targetOf(request) }
  return {
    stamp: stampOf('initiate_handoff', request, context.ids),
    question: sourceQuestion(request),
    ...heldSource(request, at),
    decide: (facts: SourceFacts) => initiateHandoff(facts, wanted, { ids, at }),
  }
}

export const openingThread = (asked: ThreadRequest, context: CommandContext) => {
  const request = redacted(asked, context)
  const at = context.clock.now()
  const conversation = conversationId(context.ids.next())
  const ids = { ...newHandoffIds(context.ids), conversationId: conversation, session: newSessionIds(context.ids) }
  const wanted = { ...request, ...targetOf(request) }
  return {
    stamp: stampOf('open_thread', request, context.ids),
    question: sourceQuestion(request, request.child?.externalKey),
    decide: (facts: SourceFacts) =>
      openThread(facts, wanted, { ids, at, believed: (model) => watchOf(model, context).window ?? {} }),
  }
}

export const acceptingHandoff = (request: AcceptRequest, context: CommandContext) => {
  const handoffId = handoffIdOf(request)
  const at = context.clock.now()
  return {
    stamp: stampOf('accept_handoff', request, context.ids),
    question: { about: 'handoff' as const, handoffId },
    ...heldHandoff(request, context.storeNow()),
    decide: (facts: HandoffFacts) => acceptHandoff(facts, { ...request, handoffId }, at),
  }
}

export const claimingNext = (request: ClaimNextRequest, context: CommandContext, spread: ClaimSpread) => {
  const at = context.clock.now()
  const targetAgent = request.targetAgent.trim()
  return {
    stamp: stampOf('claim_next', request, context.ids),
    question: (conflicts: number) => ({
      about: 'next_handoff' as const,
      targetAgent,
      among: spread.among(targetAgent, conflicts),
    }),
    decide: (facts: HandoffFacts) => claimNextHandoff(facts, request, at),
  }
}

export const completingHandoff = (asked: CompleteRequest, context: CommandContext) => {
  const request = redacted(asked, context)
  const at = context.clock.now()
  const { claimant, backend, model, providerSessionId, continuation, leaseMs, holder } = request
  const handoffId = handoffIdOf(request)
  const wanted = defined({ handoffId, claimant, backend, model, providerSessionId, continuation, leaseMs, holder })
  const ids = newSessionIds(context.ids)
  return {
    stamp: stampOf('complete_handoff', request, context.ids),
    question: { about: 'handoff' as const, handoffId },
    ...heldHandoff(request, context.storeNow()),
    decide: (facts: HandoffFacts) =>
      completeHandoff(facts, wanted, { ids, at, believed: (model) => watchOf(model, context).window ?? {} }),
  }
}

export const endingHandoff = (type: 'cancel' | 'fail', asked: EndRequest, context: CommandContext) => {
  const request = redacted(asked, context)
  const at = context.clock.now()
  const handoffId = handoffIdOf(request)
  return {
    stamp: stampOf(`${type}_handoff`, request, context.ids),
    question: { about: 'handoff' as const, handoffId },
    decide: (facts: HandoffFacts) => endHandoff(facts, { ...request, handoffId }, { type, at }),
  }
}
