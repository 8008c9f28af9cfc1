import { wordsWanted } from '../../domain/checkpoint/carried-words.ts'
import type { HandoffFacts, SourceFacts } from '../../domain/facts.ts'
import type { HANDOFF_KINDS } from '../../domain/handoff/handoff.ts'
import { setHandoffMetadata as decideNote } from '../../domain/handoff/handoff-notes.ts'
import * as initiating from '../../domain/handoff/initiate-handoff.ts'
import * as settling from '../../domain/handoff/settle-handoff.ts'
import {
  type Check,
  listOf,
  noteProblem,
  objectOf,
  oneOf,
  optional,
  trueOrFalse,
  wholeNumber,
} from '../../domain/input/check.ts'
import { claimMs, flags, threadFlags, traceContext, workspace } from '../../domain/input/details.ts'
import { metadata } from '../../domain/input/metadata-check.ts'
import { id, name, nonce, text, trimmedName } from '../../domain/input/words.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { conversationId } from '../../domain/kernel/ids.ts'
import { openThread as decideThread } from '../../domain/thread/open-thread.ts'
import { MAX_REFERENCED_TOOL_CALLS } from '../../domain/turn/tool-call.ts'
import type { SourceQuestion } from '../../ports/store/unit-of-work.ts'
import { command, content, continuation, manner } from './command.ts'
import { newHandoffIds, newSessionIds, watchOf } from './command-context.ts'
import { heldHandoff, heldSource } from './held-facts.ts'
import {
  abortSignal,
  changesSession,
  handoffIdOf,
  heldAtHandoff,
  isByHand,
  isWithoutHolder,
  leaseAsked,
  onHandoff,
  proven,
  recordedTurns,
  repeatable,
  sourceHolder,
  targetOf,
} from './references.ts'
import type {
  AcceptRequest,
  ClaimNextRequest,
  CompleteRequest,
  EndRequest,
  HandoffMetadataRequest,
  InitiateDetails,
  ThreadDetails,
} from './requests.ts'

/** Call ids, each once. */
const callIds: Check<readonly string[]> = (value, field, problems) => [
  ...new Set(listOf(name, { most: MAX_REFERENCED_TOOL_CALLS })(value, field, problems)),
]

const handoffDetails = {
  targetAgent: content(trimmedName),
  reason: content(optional(text)),
  document: content(optional(text)),
  priorTurn: content(optional(id)),
  toolCalls: content(optional(callIds)),
  flags: content(optional(flags)),
  traceContext: content(optional(traceContext)),
  metadata: content(optional(metadata)),
}

const kind: Check<Exclude<(typeof HANDOFF_KINDS)[number], 'thread'>> = (value, field, problems) =>
  value === 'thread'
    ? noteProblem('a thread is opened, not initiated: it leaves its source alone', field, problems)
    : oneOf('agent_transfer', 'context_restart')(value, field, problems)

const sourceQuestion = (
  request: InitiateDetails | ThreadDetails,
  externalKey?: string,
): SourceQuestion & { about: 'source' } => {
  const { sessionId } = targetOf(request)
  const { priorTurn, toolCalls } = request
  const named = defined({ sessionId, priorTurn, toolCalls, externalKey })
  return { about: 'source', ...named, maxToolCalls: MAX_REFERENCED_TOOL_CALLS }
}

export const initiateHandoff = command<InitiateDetails>()({
  name: 'initiate_handoff',
  fields: { ...changesSession, ...handoffDetails, kind: content(optional(kind)), turns: recordedTurns },
  isByHand,
  plan: (request, context) => {
    const at = context.clock.now()
    const ids = newHandoffIds(context.ids)
    const wanted = { ...proven(request), ...targetOf(request) }
    return {
      question: sourceQuestion(request),
      ...heldSource(request, at),
      decide: (facts: SourceFacts) => initiating.initiateHandoff(facts, wanted, { ids, at }),
    }
  },
})

export const openThread = command<ThreadDetails>()({
  name: 'open_thread',
  fields: {
    ...changesSession,
    ...handoffDetails,
    flags: content(optional(threadFlags)),
    child: content(
      optional(
        objectOf<NonNullable<ThreadDetails['child']>>({
          originalTask: optional(text),
          externalKey: optional(name),
          subject: optional(name),
          workspace: optional(workspace),
          metadata: optional(metadata),
        }),
      ),
    ),
    backend: content(optional(name)),
    model: content(optional(name)),
    providerSessionId: content(optional(name)),
    continuation: continuation(optional(text)),
    nonce: manner(optional(nonce)),
    targetSessionId: content(optional(id)),
    ...leaseAsked,
  },
  givesToken: () => true,
  isByHand,
  plan: (request, context) => {
    const at = context.clock.now()
    const conversation = conversationId(context.ids.next())
    const ids = { ...newHandoffIds(context.ids), conversationId: conversation, session: newSessionIds(context) }
    const wanted = { ...proven(request), ...targetOf(request) }
    return {
      question: sourceQuestion(request, request.child?.externalKey),
      decide: (facts: SourceFacts) =>
        decideThread(facts, wanted, { ids, at, believed: (model) => watchOf(model, context).window ?? {} }),
    }
  },
})

const claimDetails = { claimant: content(name), claimMs: content(optional(claimMs)) }

/** A claim that is made, or that is to last longer. */
const claiming = (name: string, decide: typeof settling.acceptHandoff) =>
  command<AcceptRequest>()({
    name,
    fields: { ...onHandoff, ...heldAtHandoff, ...sourceHolder, ...claimDetails },
    plan: (request, context) => {
      const handoffId = handoffIdOf(request)
      const at = context.clock.now()
      return {
        question: { about: 'handoff' as const, handoffId },
        ...heldHandoff(request, context.storeNow()),
        decide: (facts: HandoffFacts) => decide(facts, { ...proven(request), handoffId }, at),
      }
    },
  })

export const acceptHandoff = claiming('accept_handoff', settling.acceptHandoff)

export const renewClaim = claiming('renew_claim', settling.renewClaim)

export const claimNext = command<ClaimNextRequest>()({
  name: 'claim_next',
  fields: {
    ...repeatable,
    ...sourceHolder,
    targetAgent: content(trimmedName),
    ...claimDetails,
    wait: manner(optional(trueOrFalse)),
    pollMs: manner(optional(wholeNumber(1, 86_400_000))),
    signal: manner(optional(abortSignal)),
  },
  plan: (request, { clock, spread }) => {
    const at = clock.now()
    const { targetAgent } = request
    return {
      question: (conflicts: number) => ({
        about: 'next_handoff' as const,
        targetAgent,
        among: spread.among(targetAgent, conflicts),
      }),
      decide: (facts: HandoffFacts) => settling.claimNextHandoff(facts, proven(request), at),
    }
  },
})

export const completeHandoff = command<CompleteRequest>()({
  name: 'complete_handoff',
  fields: {
    ...onHandoff,
    ...heldAtHandoff,
    ...sourceHolder,
    claimant: content(optional(name)),
    backend: content(optional(name)),
    model: content(optional(name)),
    providerSessionId: content(optional(name)),
    continuation: continuation(optional(text)),
    nonce: manner(optional(nonce)),
    targetSessionId: content(optional(id)),
    ...leaseAsked,
  },
  givesToken: () => true,
  plan: (request, context) => {
    const at = context.clock.now()
    const handoffId = handoffIdOf(request)
    const ids = newSessionIds(context)
    const believed = (model: string) => watchOf(model, context).window ?? {}
    // A caller that gives its own opening needs no read of the person's words.
    const words = request.continuation === undefined ? { personMessages: wordsWanted() } : {}
    return {
      question: { about: 'handoff' as const, handoffId, ...words },
      ...heldHandoff(request, context.storeNow()),
      decide: (facts: HandoffFacts) =>
        settling.completeHandoff(facts, { ...proven(request), handoffId }, { ids, at, believed }),
    }
  },
})

/** Ends a handoff without a successor. */
const ending = (type: 'cancel' | 'fail') =>
  command<EndRequest>()({
    name: `${type}_handoff`,
    fields: { ...onHandoff, ...sourceHolder, reason: content(text), by: content(optional(name)) },
    isByHand: isWithoutHolder,
    plan: (request, { clock }) => {
      const handoffId = handoffIdOf(request)
      const at = clock.now()
      return {
        question: { about: 'handoff' as const, handoffId },
        decide: (facts: HandoffFacts) => settling.endHandoff(facts, { ...proven(request), handoffId }, { type, at }),
      }
    },
  })

export const cancelHandoff = ending('cancel')

export const failHandoff = ending('fail')

export const setHandoffMetadata = command<HandoffMetadataRequest>()({
  name: 'set_handoff_metadata',
  fields: { ...onHandoff, metadata: content(metadata) },
  plan: (request, { clock }) => {
    const wanted = { handoffId: handoffIdOf(request), metadata: request.metadata }
    const at = clock.now()
    return {
      question: { about: 'handoff' as const, handoffId: wanted.handoffId },
      decide: (facts: HandoffFacts) => decideNote(facts, wanted, at),
    }
  },
})
