import type { Instant } from '../../domain/kernel/instant.ts'
import { type ContextMonitor, monitoredPressure } from '../../domain/window/context-monitor.ts'
import { levelOf } from '../../domain/window/window-level.ts'
import type { GivenBack, KeptSession, SessionCard } from '../../ports/terminal/terminal-files.ts'

/** The facts that a card is made of. */
export interface CardFacts {
  readonly providerSessionId: string
  readonly kept: KeptSession
  readonly monitor: ContextMonitor
  /** The way to a handoff that a person has in this terminal, in few words. */
  readonly advice: string
  /** Whether another session started this one: then that one is told, and not the person. */
  readonly hasParent: boolean
  /** Sentences that wait for the person beside what the window itself says. */
  readonly waiting: readonly string[]
  /** The text that it gets back after a compaction. */
  readonly afterCompaction: GivenBack | undefined
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
    window: monitor.window,
    variables: kept.variables ?? {},
    restarts: kept.restarts ?? 0,
    costUsd: kept.costUsd ?? null,
    notices: [...(kept.notice === undefined ? [] : [kept.notice]), ...noticesOf(facts)],
    afterCompaction: afterCompaction ?? null,
    lastHandoffPath: kept.lastHandoffPath ?? null,
    updatedAt: at,
  }
}

/** Sentences for the person. A notice stands until the cycle ends: a milestone that was reached does not become untrue. */
const noticesOf = ({ monitor, hasParent, waiting, advice }: CardFacts): readonly string[] => {
  if (hasParent || !monitor.isEnabled) return waiting
  if (monitor.isCompacting) return ['The context window is being compacted.', ...waiting]
  const reached = monitor.milestones.findLast(({ at }) => at <= monitor.latchedAt)
  if (reached === undefined || monitoredPressure(monitor).state === 'unknown') return waiting
  return [milestoneNotice(reached.name, advice), ...waiting]
}

/** One short line: it stands beside the level, which says how full the window is. */
const milestoneNotice = (name: string, advice: string): string => {
  if (name === 'warning') return 'warning: begin nothing large'
  if (name === 'critical' || name === 'restart') return `${name}: ${advice}`
  return `${name} reached`
}
