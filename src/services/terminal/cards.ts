import type { SessionCard } from '../../ports/terminal/terminal-files.ts'
import type { AfterCompaction } from './after-compaction.ts'
import type { FollowedSession } from './followed-session.ts'
import type { TerminalSignal } from './hook-event.ts'
import { cardOf } from './session-card.ts'
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
    const { providerSessionId, kept, session } = at
    const monitor = at.monitor ?? (await this.#deps.store.monitors.find(session.id))
    if (monitor === undefined) return
    if (signals !== undefined) this.#waiting.set(providerSessionId, textsForPerson(signals))
    const waiting = this.#waiting.get(providerSessionId) ?? []
    const hasParent = session.parentSessionId !== undefined
    const afterCompaction = await this.#afterCompaction.textFor(at)
    const now = this.#deps.clock.now()
    const advice = this.#deps.agents.named(kept.runtime).adviceWhenFull.short
    const card = cardOf({ providerSessionId, kept, advice, monitor, hasParent, waiting, afterCompaction, at: now })
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
