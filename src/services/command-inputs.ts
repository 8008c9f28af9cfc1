import { canonicalJson } from '../domain/canonical-json.ts'
import type { MonitorSettings, MonitorStart } from '../domain/context-monitor.ts'
import type { WindowParts, WindowSize } from '../domain/context-pressure.ts'
import type { Answer, Decided } from '../domain/decision.ts'
import type { SessionTarget } from '../domain/decisions/change-session.ts'
import type { NewHandoffIds } from '../domain/decisions/initiate-handoff.ts'
import type { NewSessionIds } from '../domain/decisions/start-session.ts'
import { defined } from '../domain/defined.ts'
import type { SessionFacts } from '../domain/facts.ts'
import {
  agentSessionId,
  commandId,
  type HandoffId,
  handoffId,
  holderToken,
  messageId,
  snapshotId,
  turnId,
} from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import type { RestartBudget } from '../domain/restart-budget.ts'
import { mapTexts } from '../domain/texts.ts'
import type { TurnDraft, TurnInput } from '../domain/turn.ts'
import { UNKNOWN_USAGE, type UsageReading } from '../domain/usage-reading.ts'
import type { Clock, IdGenerator } from '../ports/system.ts'
import type { CommandStamp } from '../ports/unit-of-work.ts'
import type { OnHandoff, OnSession, Repeatable } from './requests.ts'

/** Where a command's time, ids and redaction come from. */
export interface CommandContext {
  /** The store's clock, as well as it is known; claims are decided by it. */
  readonly storeNow: () => Instant | undefined
  readonly clock: Clock
  readonly ids: IdGenerator
  /** Applied to every text before it is stored. */
  readonly redact?: (text: string) => string
  /** How windows are watched unless a session says otherwise. */
  readonly monitor?: MonitorSettings
  /** How often and how long conversations may be restarted unless they say otherwise. */
  readonly restartBudget?: RestartBudget
  /** What is believed of a model's window until its runtime says. */
  readonly believedWindow?: (model: string) => WindowSize | undefined
}

/** A request with its texts redacted. */
export const redacted = <R extends object>(asked: R, { redact }: CommandContext): R =>
  redact === undefined ? asked : mapTexts(asked, redact)

const HANDOFF_DETAILS = [
  'targetAgent',
  'reason',
  'document',
  'priorTurn',
  'toolCalls',
  'flags',
  'traceContext',
] as const

/** What each command asks. Everything else in a request is how it asks, and a repetition may differ in that. */
const ASKS = {
  open_conversation: ['originalTask', 'externalKey', 'subject', 'parentId', 'workspace', 'restartBudget'],
  start_session: [
    'conversationId',
    'sessionId',
    'agentName',
    'backend',
    'model',
    'providerSessionId',
    'parentSessionId',
    'prompt',
    'monitor',
    'leaseMs',
  ],
  pause_session: ['session'],
  resume_session: ['session', 'leaseMs'],
  complete_session: ['session'],
  fail_session: ['session', 'reason'],
  take_over_session: ['session', 'leaseMs', 'ifAbandoned'],
  attach_session: ['session', 'providerSessionId'],
  account_session: ['session', 'totals'],
  record_turns: ['session', 'turns', 'withholdRestart', 'traceContext'],
  capture_snapshot: ['session'],
  report_context: ['session', 'report'],
  watch_context: ['session', 'settings'],
  send_signal: ['session', 'text', 'delivery'],
  initiate_handoff: ['session', 'kind', ...HANDOFF_DETAILS],
  begin_restart: ['session', 'reason', 'flags', 'traceContext'],
  keep_checkpoint: ['handoff', 'document', 'flags', 'checkpoint'],
  prepare_handoff: ['handoff', 'claimant', 'continuation', 'targetSessionId'],
  record_hooks: ['conversationId', 'sessionId', 'moment', 'results'],
  open_thread: ['session', ...HANDOFF_DETAILS, 'child', 'backend', 'model', 'providerSessionId', 'continuation'],
  accept_handoff: ['handoff', 'claimant', 'claimMs'],
  claim_next: ['targetAgent', 'claimant', 'claimMs'],
  complete_handoff: ['handoff', 'claimant', 'backend', 'model', 'providerSessionId', 'continuation', 'leaseMs'],
  cancel_handoff: ['handoff', 'reason', 'by'],
  fail_handoff: ['handoff', 'reason', 'by'],
} as const satisfies Readonly<Record<string, readonly string[]>>

/**
 * Names a command, by the caller's id or a new one, and says what it asks. Nobody else knows a new id, so nobody can use
 * it for something else, and what was asked need not be written out.
 */
export const stampOf = (name: keyof typeof ASKS, request: Repeatable, ids: IdGenerator): CommandStamp => {
  const { commandId: named } = request
  if (named === undefined) return { id: commandId(ids.next()), payload: name }
  const given = request as Readonly<Record<string, unknown>>
  const asked: Record<string, unknown> = {}
  for (const key of ASKS[name])
    asked[key] =
      key === 'session' || key === 'handoff' ? idOf(given[key] as string | { readonly id: string }) : given[key]
  return { id: named, payload: canonicalJson([name, asked]), isNamed: true }
}

const idOf = <T extends string>(named: T | { readonly id: T }): T => (typeof named === 'string' ? named : named.id)

/** Which session a request is for, and who asks. */
export const targetOf = ({ session, holder }: OnSession): SessionTarget => defined({ sessionId: idOf(session), holder })

/** Which handoff a request is for. */
export const handoffIdOf = ({ handoff }: OnHandoff): HandoffId => idOf(handoff)

/** A command on one session, decided on what the caller holds: a session, and the token that says who it is. */
export const sessionCommand = <A extends Answer>(
  name: keyof typeof ASKS,
  request: OnSession,
  { clock, ids }: CommandContext,
  decide: (facts: SessionFacts, target: SessionTarget, at: Instant) => Decided<A>,
) => {
  const { session, holder } = request
  const target = targetOf(request)
  const at = clock.now()
  return {
    stamp: stampOf(name, request, ids),
    question: { about: 'session' as const, sessionId: target.sessionId },
    ...(typeof session !== 'string' && holder !== undefined && { held: { working: { session, holder } } }),
    decide: (facts: SessionFacts) => decide(facts, target, at),
  }
}

/** Ids for a new session, made once per command however often it is decided. */
export const newSessionIds = (ids: IdGenerator): NewSessionIds => ({
  sessionId: agentSessionId(ids.next()),
  holder: holderToken(ids.next()),
  snapshotId: snapshotId(ids.next()),
  openingId: messageId(ids.next()),
})

/** How a new session's window is watched, unless its request says otherwise. */
export const watchOf = (model: string | undefined, { monitor, believedWindow }: CommandContext): MonitorStart => {
  const hardLimit = model === undefined ? undefined : believedWindow?.(model)
  return { ...monitor, ...(hardLimit !== undefined && { window: { hardLimit } }) }
}

/** Ids for a new handoff. */
export const newHandoffIds = (ids: IdGenerator): NewHandoffIds => ({
  handoffId: handoffId(ids.next()),
  snapshotId: snapshotId(ids.next()),
})

/** A turn with its ids, and nothing the caller's object may carry beside what a turn has. */
export const draftTurn = (
  { messages, usage = UNKNOWN_USAGE, window, producedAt }: TurnInput,
  ids: IdGenerator,
): TurnDraft => ({
  id: turnId(ids.next()),
  messages: messages.map((input) => ({ id: messageId(ids.next()), input })),
  usage: plainReading(usage),
  ...defined({ window: window ? plainWindow(window) : undefined, producedAt }),
})

/** What is said of a window, and nothing the caller's object may carry beside it. */
export const plainWindow = ({ hardLimit: size, configuredLimit, autoCompactAt }: WindowParts): WindowParts =>
  defined({ hardLimit: size && { tokens: size.tokens, source: size.source }, configuredLimit, autoCompactAt })

/** A reading, and nothing the caller's object may carry beside it. */
export const plainReading = (usage: UsageReading): UsageReading => {
  // What is neither is left for the domain to refuse: taken for unknown, a sum would wipe out a reading.
  if (usage?.state !== 'metered') return usage?.state === 'unknown' ? UNKNOWN_USAGE : usage
  const { state, promptTokens, outputTokens, pendingTokens, provenance: from } = usage
  const provenance = from && { runtime: from.runtime, source: from.source, semantics: from.semantics }
  return defined({ state, promptTokens, outputTokens, pendingTokens, provenance })
}
