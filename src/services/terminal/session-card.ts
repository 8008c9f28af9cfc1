import type { Instant } from '../../domain/kernel/instant.ts'
import { type ContextMonitor, monitoredPressure } from '../../domain/window/context-monitor.ts'
import { describeFill } from '../../domain/window/context-pressure.ts'
import type { CardLevel, KeptSession, SessionCard } from '../../ports/terminal-files.ts'

/** Advice for the person at the terminal, by milestone. */
const ADVICE: Readonly<Record<string, string>> = {
  warning: 'Finish what is under way before you begin something large.',
  critical: 'Let the agent finish its step and write a handoff; then /compact or /clear.',
  restart: 'A fresh window is due: /compact or /clear at the next good point.',
}

/** How full a window is, as a card shows it. */
export const levelOf = (monitor: ContextMonitor): CardLevel => {
  if (monitor.isCompacting) return { state: 'compacting' }
  const pressure = monitoredPressure(monitor)
  if (pressure.state === 'unknown') return { state: 'unknown' }
  const { ratio, usedTokens = null, window } = pressure
  return { state: 'known', ratio, usedTokens, windowTokens: window?.tokens ?? null }
}

/** The facts that a card is made of. */
export interface CardFacts {
  readonly providerSessionId: string
  readonly kept: KeptSession
  readonly monitor: ContextMonitor
  /** Whether another session started this one: then that one is told, and not the person. */
  readonly hasParent: boolean
  /** Sentences that wait for the person beside what the window itself says. */
  readonly waiting: readonly string[]
  /** The text that it gets back after a compaction. */
  readonly afterCompaction: string | undefined
  readonly at: Instant
}

/** The card of a session. */
export const cardOf = (facts: CardFacts): SessionCard => {
  const { providerSessionId, kept, monitor, afterCompaction, at } = facts
  return {
    v: 1,
    sessionId: monitor.sessionId,
    conversationId: monitor.conversationId,
    providerSessionId,
    milestones: monitor.milestones,
    level: levelOf(monitor),
    restarts: kept.restarts ?? 0,
    costUsd: kept.costUsd ?? null,
    notices: [...(kept.notice === undefined ? [] : [kept.notice]), ...noticesOf(facts)],
    afterCompaction: afterCompaction === undefined ? null : { text: afterCompaction },
    lastHandoffPath: kept.lastHandoffPath ?? null,
    updatedAt: at,
  }
}

/** Sentences for the person. A notice stands until the cycle ends: a milestone that was reached does not become untrue. */
const noticesOf = ({ monitor, hasParent, waiting }: CardFacts): readonly string[] => {
  if (hasParent || !monitor.isEnabled) return waiting
  if (monitor.isCompacting) return ['The context window is being compacted.', ...waiting]
  const pressure = monitoredPressure(monitor)
  const reached = monitor.milestones.findLast(({ at }) => at <= monitor.latchedAt)
  if (reached === undefined || pressure.state === 'unknown') return waiting
  const full = describeFill({ ...pressure, windowTokens: pressure.window?.tokens })
  const advice = ADVICE[reached.name] ?? ''
  return [`The context window is ${full}. ${advice}`.trim(), ...waiting]
}
