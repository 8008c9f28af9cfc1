import type { Conversation } from '../conversation/conversation.ts'
import { type Decided, newDraft } from '../decision.ts'
import type { ConversationFacts } from '../facts.ts'
import { defined } from '../kernel/defined.ts'
import type { DomainEvent } from '../kernel/event.ts'
import type { AgentSessionId, ConversationId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { err } from '../kernel/result.ts'
import type { HookFailureCode, HookResult } from './hook-result.ts'
import type { HookMoment, HookSettings } from './hook-settings.ts'

/** A hook was called. What it was told and what it answered are not kept, only how it went. */
export type HookDelivered = DomainEvent<
  'hook.delivered',
  {
    sessionId: AgentSessionId
    moment: HookMoment
    hook: string
    hookType: HookSettings['type']
    ok: boolean
    durationMs: number
    exitCode?: number
    httpStatus?: number
    errorCode?: HookFailureCode
  }
>

/** Which hooks were called, when, and about which session. */
export interface HookDeliveries {
  readonly conversationId: ConversationId
  readonly sessionId: AgentSessionId
  readonly moment: HookMoment
  readonly results: readonly HookResult[]
}

/** The facts to keep of hooks that were called. */
const deliveriesOf = (
  { conversationId, sessionId, moment, results }: HookDeliveries,
  at: Instant,
): readonly HookDelivered[] =>
  results.map((result) =>
    defined({
      type: 'hook.delivered' as const,
      version: 1 as const,
      conversationId,
      at,
      sessionId,
      moment,
      hook: result.name,
      hookType: result.type,
      ok: result.ok,
      durationMs: Math.round(result.durationMs),
      exitCode: result.exitCode,
      httpStatus: result.httpStatus,
      errorCode: result.ok ? undefined : result.error.code,
    }),
  )

/** Logs that hooks were called, and how it went. It changes nothing else. */
export const recordHooks = (
  { conversation }: Pick<ConversationFacts, 'conversation'>,
  deliveries: HookDeliveries,
  at: Instant,
): Decided<{ readonly conversation: Conversation }> => {
  if (conversation === undefined)
    return err({ code: 'conversation.not_found', conversationId: deliveries.conversationId })
  const draft = newDraft()
  draft.log(...deliveriesOf(deliveries, at))
  return draft.finish({ conversation })
}
