import type { HandoffFacts, SourceFacts } from '../../domain/facts.ts'
import { extendTurn as decideExtension } from '../../domain/handoff/extend-turn.ts'
import { keepExtract as decideExtract } from '../../domain/handoff/handoff-notes.ts'
import * as preparing from '../../domain/handoff/prepare-handoff.ts'
import type { HandoffAccepted } from '../../domain/handoff/settle-handoff.ts'
import { optional, trueOrFalse } from '../../domain/input/check.ts'
import { checkpointFacts, flags, traceContext } from '../../domain/input/details.ts'
import { laterMessages } from '../../domain/input/turn-checks.ts'
import { id, name, nonce, text } from '../../domain/input/words.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { messageId, snapshotId } from '../../domain/kernel/ids.ts'
import { beginRestart } from '../../domain/restart/begin-restart.ts'
import { MAX_REFERENCED_TOOL_CALLS } from '../../domain/turn/tool-call.ts'
import { command, content, continuation, manner } from './command.ts'
import { newHandoffIds } from './command-context.ts'
import { heldHandoff } from './held-facts.ts'
import { asHolder, handoffIdOf, heldAtHandoff, heldTargetOf, onHandoff, proofOf, provenHolder } from './references.ts'
import type {
  ExtendTurnRequest,
  ExtractRequest,
  KeepCheckpointRequest,
  PrepareRequest,
  RestartRequest,
} from './requests.ts'

export const restartSession = command<RestartRequest>()({
  name: 'begin_restart',
  fields: {
    ...asHolder,
    reason: content(optional(text)),
    flags: content(optional(flags)),
    traceContext: content(optional(traceContext)),
    failLater: content(optional(trueOrFalse)),
  },
  plan: (request, context) => {
    const at = context.clock.now()
    const ids = newHandoffIds(context.ids)
    const { reason, flags, traceContext, failLater } = request
    const { sessionId, holder } = heldTargetOf(request)
    const wanted = { sessionId, holder, ...defined({ reason, flags, traceContext, failLater }) }
    return {
      question: { about: 'source' as const, sessionId, maxToolCalls: MAX_REFERENCED_TOOL_CALLS, isBudgeted: true },
      decide: (facts: SourceFacts) => beginRestart(facts, wanted, { ids, at }),
    }
  },
})

export const extendTurn = command<ExtendTurnRequest>()({
  name: 'extend_turn',
  fields: { ...onHandoff, ...heldAtHandoff, ...provenHolder, messages: content(laterMessages) },
  plan: (request, context) => {
    const at = context.clock.now()
    const handoffId = handoffIdOf(request)
    const { messages } = request
    const holder = proofOf(request.holder)
    const drafts = messages.map((input) => ({ id: messageId(context.ids.next()), input }))
    return {
      question: { about: 'handoff' as const, handoffId },
      ...heldHandoff(request, context.storeNow()),
      decide: (facts: HandoffFacts) => decideExtension(facts, { handoffId, holder, drafts }, at),
    }
  },
})

export const keepCheckpoint = command<KeepCheckpointRequest>()({
  name: 'keep_checkpoint',
  fields: {
    ...onHandoff,
    ...heldAtHandoff,
    ...provenHolder,
    document: content(optional(text)),
    flags: content(optional(flags)),
    checkpoint: content(checkpointFacts),
  },
  plan: (request, context) => {
    const around = { snapshotId: snapshotId(context.ids.next()), at: context.clock.now() }
    const handoffId = handoffIdOf(request)
    return {
      question: { about: 'handoff' as const, handoffId },
      ...heldHandoff(request, context.storeNow()),
      decide: (facts: HandoffFacts) =>
        preparing.keepCheckpoint(facts, { ...request, holder: proofOf(request.holder), handoffId }, around),
    }
  },
})

export const keepExtract = command<ExtractRequest>()({
  name: 'keep_extract',
  fields: { ...onHandoff, extract: content(text) },
  plan: (request, context) => {
    const at = context.clock.now()
    const wanted = { handoffId: handoffIdOf(request), extract: request.extract }
    return {
      question: { about: 'handoff' as const, handoffId: wanted.handoffId },
      decide: (facts: HandoffFacts) => decideExtract(facts, wanted, at),
    }
  },
})

export const prepareHandoff = command<PrepareRequest>()({
  name: 'prepare_handoff',
  fields: {
    ...onHandoff,
    ...heldAtHandoff,
    ...provenHolder,
    claimant: content(name),
    continuation: continuation(text),
    nonce: manner(optional(nonce)),
    targetSessionId: content(id),
  },
  plan: (request, context) => {
    const at = context.clock.now()
    const handoffId = handoffIdOf(request)
    const { continuation, targetSessionId: sessionId } = request
    return {
      question: { about: 'handoff' as const, handoffId },
      ...heldHandoff(request, context.storeNow()),
      decide: (facts: HandoffFacts) =>
        preparing.prepareHandoff(facts, { ...request, holder: proofOf(request.holder), handoffId }, at),
      // Once the handoff is completed or replaced, nothing but the request has the text.
      restore: (answer: HandoffAccepted): HandoffAccepted => ({
        ...answer,
        handoff: { ...answer.handoff, ...{ prepared: { sessionId, continuation } } },
      }),
    }
  },
})
