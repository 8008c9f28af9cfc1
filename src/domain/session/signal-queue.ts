import type { DecisionDraft } from '../decision.ts'
import type { Instant } from '../kernel/instant.ts'
import type { ContextMonitor } from '../window/context-monitor.ts'
import type { ContextSignal } from './context-signal.ts'

/** Queues what sessions are to be told. */
export const queueSignals = (draft: DecisionDraft, signals: readonly ContextSignal[]): void =>
  draft.effect(...signals.map((signal) => ({ type: 'add_signal' as const, signal })))

/** Takes back what is still to be said of a window. */
export const withdrawSignals = (
  draft: DecisionDraft,
  { conversationId, sessionId: aboutId }: ContextMonitor,
  at: Instant,
): void => draft.effect({ type: 'withdraw_signals', conversationId, aboutId, at })
