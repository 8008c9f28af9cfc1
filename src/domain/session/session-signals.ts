import { type Decided, type DecisionDraft, newDraft } from '../decision.ts'
import type { SessionFacts } from '../facts.ts'
import type { SignalId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { err } from '../kernel/result.ts'
import type { ContextMonitor } from '../window/context-monitor.ts'
import { findWorking, type SessionTarget } from './change-session.ts'
import type { ContextSignal, SignalDelivery } from './context-signal.ts'

/** Queues what sessions are to be told. */
export const queueSignals = (draft: DecisionDraft, signals: readonly ContextSignal[]): void =>
  draft.effect(...signals.map((signal) => ({ type: 'add_signal' as const, signal })))

/** Takes back what is still to be said of a window. */
export const withdrawSignals = (
  draft: DecisionDraft,
  { conversationId, sessionId: aboutId }: ContextMonitor,
  at: Instant,
): void => draft.effect({ type: 'withdraw_signals', conversationId, aboutId, at })

/** Queues something that a session is to be told, beside what is said about windows. */
export const sendSignal = (
  facts: SessionFacts,
  target: SessionTarget,
  { text, delivery = 'sequential' }: { readonly text: string; readonly delivery?: SignalDelivery },
  { id, at }: { readonly id: SignalId; readonly at: Instant },
): Decided<{ readonly signals: readonly ContextSignal[] }> => {
  const found = findWorking(facts, target)
  if (!found.ok) return found
  const { id: sessionId, conversationId, state } = found.value.session
  // Of a session that was handed off, the successor is told instead.
  if (state === 'completed' || state === 'failed') return err({ code: 'session.not_active', sessionId, state })
  const signal: ContextSignal = {
    ...{ id, conversationId, recipientId: sessionId, aboutId: sessionId, kind: 'message', text, delivery },
    ...{ status: 'queued', queuedAt: at },
  }
  const draft = newDraft()
  queueSignals(draft, [signal])
  return draft.finish({ signals: [signal] })
}
