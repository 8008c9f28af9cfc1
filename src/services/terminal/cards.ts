import type { Instant } from '../../domain/kernel/instant.ts'
import { type ContextMonitor, monitoredPressure } from '../../domain/window/context-monitor.ts'
import { levelOf } from '../../domain/window/window-level.ts'
import type { KeptSession } from '../../ports/terminal/terminal-files.ts'
import type { GivenBack, SessionCard } from '../../ports/terminal/wire.ts'
import type { AfterCompaction } from './after-compaction.ts'
import type { FollowedSession } from './followed-session.ts'
import type { TerminalSignal } from './hook-event.ts'
import type { TerminalDeps } from './terminal-deps.ts'

const REMEMBERED = 2_000

/** Writes the cards of sessions, so that a status line needs no service to show them. */
export class Cards {
  readonly #deps: TerminalDeps
  readonly #afterCompaction: AfterCompaction
  readonly #written = new Map<string, SessionCard>()
  readonly #waiting = new Map<string, readonly string[]>()

  constructor(deps: TerminalDeps, afterCompaction: AfterCompaction) {
    this.#deps = deps
    this.#afterCompaction = afterCompaction
  }

  /** Writes the card of a session, unless it would say the same. A card that cannot be written breaks nothing. */
  async write(at: FollowedSession, signals?: readonly TerminalSignal[]): Promise<void> {
    const { providerSessionId, tracking, session } = at
    const monitor = at.monitor ?? (await this.#deps.store.monitors.find(session.id))
    if (monitor === undefined) return
    if (signals !== undefined) this.#waiting.set(providerSessionId, textsForPerson(signals))
    const waiting = this.#waiting.get(providerSessionId) ?? []
    const hasParent = session.parentSessionId !== undefined
    const afterCompaction = await this.#afterCompaction.textFor(at)
    const now = this.#deps.clock.now()
    const advice = this.#deps.agents.named(tracking.runtime).adviceWhenFull.short
    const card = cardOf({ providerSessionId, tracking, advice, monitor, hasParent, waiting, afterCompaction, at: now })
    if (isSame(this.#written.get(providerSessionId), card)) return
    try {
      await this.#deps.files.writeCard(providerSessionId, card)
      this.#remember(providerSessionId, card)
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error)
      this.#deps.logger.warn({ sessionId: session.id, problem }, 'the card of a session cannot be written')
    }
  }

  #remember(providerSessionId: string, card: SessionCard): void {
    this.#written.delete(providerSessionId)
    this.#written.set(providerSessionId, card)
    const [oldest] = this.#written.keys()
    if (this.#written.size <= REMEMBERED || oldest === undefined) return
    this.#written.delete(oldest)
    this.#waiting.delete(oldest)
  }
}

const textsForPerson = (signals: readonly TerminalSignal[]): readonly string[] =>
  signals.filter((signal) => signal.for === 'person').map(({ text }) => text)

const isSame = (before: SessionCard | undefined, after: SessionCard): boolean =>
  before !== undefined && JSON.stringify({ ...before, updatedAt: '' }) === JSON.stringify({ ...after, updatedAt: '' })

/** The facts that a card is made of. */
interface CardFacts {
  readonly providerSessionId: string
  readonly tracking: KeptSession
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
const cardOf = (facts: CardFacts): SessionCard => {
  const { providerSessionId, tracking, monitor, afterCompaction, at } = facts
  return {
    v: 1,
    sessionId: monitor.sessionId,
    conversationId: monitor.conversationId,
    providerSessionId,
    milestones: monitor.milestones,
    level: levelOf(monitor),
    window: monitor.window,
    variables: tracking.variables ?? {},
    restarts: tracking.restarts ?? 0,
    costUsd: tracking.costUsd ?? null,
    notices: [...(tracking.notice === undefined ? [] : [tracking.notice]), ...noticesOf(facts)],
    afterCompaction: afterCompaction ?? null,
    lastHandoffPath: tracking.lastHandoffPath ?? null,
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
