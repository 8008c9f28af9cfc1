import { beginRestart } from '../domain/decisions/begin-restart.ts'
import { keepCheckpoint, prepareHandoff } from '../domain/decisions/prepare-handoff.ts'
import { recordHooks } from '../domain/decisions/record-hooks.ts'
import type { HandoffAccepted } from '../domain/decisions/settle-handoff.ts'
import { defined } from '../domain/defined.ts'
import { snapshotId } from '../domain/ids.ts'
import { MAX_REFERENCED_TOOL_CALLS } from '../domain/tool-call.ts'
import { type CommandContext, handoffIdOf, newHandoffIds, redacted, stampOf, targetOf } from './command-inputs.ts'
import { heldHandoff } from './held-facts.ts'
import type { HooksRequest, KeepCheckpointRequest, PrepareRequest, RestartRequest } from './requests.ts'

export const beginningRestart = (asked: RestartRequest, context: CommandContext) => {
  const request = redacted(asked, context)
  const at = context.clock.now()
  const ids = newHandoffIds(context.ids)
  const { reason, flags, traceContext } = request
  const target = targetOf(request)
  return {
    stamp: stampOf('begin_restart', request, context.ids),
    question: {
      about: 'source' as const,
      sessionId: target.sessionId,
      maxToolCalls: MAX_REFERENCED_TOOL_CALLS,
      isBudgeted: true,
    },
    decide: (facts: Parameters<typeof beginRestart>[0]) =>
      beginRestart(facts, { ...target, reason, ...defined({ flags, traceContext }) }, { ids, at }),
  }
}

export const keepingCheckpoint = (asked: KeepCheckpointRequest, context: CommandContext) => {
  const request = redacted(asked, context)
  const at = context.clock.now()
  const id = snapshotId(context.ids.next())
  const handoffId = handoffIdOf(request)
  const { document, flags, checkpoint, holder } = request
  return {
    stamp: stampOf('keep_checkpoint', request, context.ids),
    question: { about: 'handoff' as const, handoffId },
    ...heldHandoff(request, context.storeNow()),
    decide: (facts: Parameters<typeof keepCheckpoint>[0]) =>
      keepCheckpoint(facts, { handoffId, checkpoint, ...defined({ document, flags, holder }) }, { snapshotId: id, at }),
  }
}

export const preparingHandoff = (asked: PrepareRequest, context: CommandContext) => {
  const request = redacted(asked, context)
  const at = context.clock.now()
  const handoffId = handoffIdOf(request)
  const { claimant, continuation, targetSessionId, holder } = request
  return {
    stamp: stampOf('prepare_handoff', request, context.ids),
    question: { about: 'handoff' as const, handoffId },
    ...heldHandoff(request, context.storeNow()),
    decide: (facts: Parameters<typeof prepareHandoff>[0]) =>
      prepareHandoff(facts, { handoffId, claimant, continuation, targetSessionId, ...defined({ holder }) }, at),
    // Once the handoff is completed or replaced, nothing but the request has the text.
    restore: (answer: HandoffAccepted): HandoffAccepted => ({
      ...answer,
      handoff: { ...answer.handoff, ...{ prepared: { sessionId: targetSessionId, continuation } } },
    }),
  }
}

export const recordingHooks = (request: HooksRequest, context: CommandContext) => {
  const at = context.clock.now()
  const { conversationId } = request
  return {
    stamp: stampOf('record_hooks', request, context.ids),
    question: { about: 'conversation' as const, conversationId },
    decide: (facts: Parameters<typeof recordHooks>[0]) => recordHooks(facts, request, at),
  }
}
