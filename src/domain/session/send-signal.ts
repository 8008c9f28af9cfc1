import { type Decided, newDraft } from '../decision.ts'
import type { SessionFacts } from '../facts.ts'
import type { SignalId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { err } from '../kernel/result.ts'
import { findWorking, type SessionTarget } from './change-session.ts'
import type { ContextSignal, SignalDelivery } from './context-signal.ts'
import { queueSignals } from './signal-queue.ts'

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
  // Handed off, somebody else goes on and is told instead.
  if (state === 'completed' || state === 'failed') return err({ code: 'session.not_active', sessionId, state })
  const signal: ContextSignal = {
    ...{ id, conversationId, recipientId: sessionId, aboutId: sessionId, kind: 'message', text, delivery },
    ...{ status: 'queued', queuedAt: at },
  }
  const draft = newDraft()
  queueSignals(draft, [signal])
  return draft.finish({ signals: [signal] })
}
