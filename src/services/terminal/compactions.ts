import { defined } from '../../domain/kernel/defined.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import { inQuotes } from '../../domain/kernel/safe-text.ts'
import { COMPACTION_TRIGGERS, type CompactionTrigger } from '../../domain/window/window-event.ts'
import { describeFigures, levelOf } from '../../domain/window/window-level.ts'
import { derivedCommand } from '../commands/derived-command.ts'
import type { FollowedSession } from './followed-session.ts'
import type { HookOutcome } from './hook-event.ts'
import { outcomeOf, reported } from './reported.ts'
import type { TerminalDeps } from './terminal-deps.ts'

/** Who tells of a compaction that has happened. Each of them does so once for each compaction. */
export type CompactionTeller = 'start' | 'post' | 'transcript' | 'told' | 'complete'

/** A compaction, as far as its teller knows it. */
interface Told {
  readonly trigger: CompactionTrigger
  readonly preTokens?: number
  readonly producedAt?: Instant
}

/**
 * Records each compaction of a window once, though up to three hooks and the transcript tell of it, late and in any order.
 *
 * Nobody names a compaction, so they are numbered: a teller who has told of the current one already tells of the next.
 */
export class Compactions {
  readonly #deps: TerminalDeps

  constructor(deps: TerminalDeps) {
    this.#deps = deps
  }

  /** Takes that one is about to begin, and tells the session that started this one: what is not written down may be lost. */
  async begin(at: FollowedSession, trigger: CompactionTrigger, producedAt: Instant | undefined): Promise<HookOutcome> {
    const { number, toldBy } = at.kept.compaction
    const isWaiting = toldBy.length === 1 && toldBy[0] === 'pre'
    if (!isWaiting) at.keep({ compaction: { number: number + 1, toldBy: ['pre'] } })
    const command = derivedCommand(this.#deps.sha256, at.key, 'compacting', at.kept.compaction.number)
    const report = defined({ type: 'compacting' as const, producedAt })
    const outcome = await reported(this.#deps, at, report, command)
    await this.#warnParent(at, trigger)
    return outcomeOf(outcome)
  }

  async tell(
    at: FollowedSession,
    by: CompactionTeller,
    { trigger, preTokens, producedAt }: Told,
  ): Promise<HookOutcome> {
    const { number, toldBy } = at.kept.compaction
    const isNext = number === 0 || toldBy.includes(by)
    at.keep({ compaction: isNext ? { number: number + 1, toldBy: [by] } : { number, toldBy: [...toldBy, by] } })
    const name = `compaction ${at.kept.compaction.number}`
    const command = derivedCommand(this.#deps.sha256, at.key, name, by)
    const key = `${at.key} ${name}`.slice(-200)
    const report = defined({ type: 'compaction' as const, trigger, preTokens, producedAt, key })
    return outcomeOf(await reported(this.#deps, at, report, command))
  }

  async #warnParent({ session, monitor, key, kept }: FollowedSession, trigger: CompactionTrigger): Promise<void> {
    const { parentSessionId, agentName, id } = session
    if (parentSessionId === undefined || kept.notify === 'self') return
    // It is compacting by now, and was this full before.
    const level = levelOf(monitor && { ...monitor, isCompacting: false })
    const full = level.state === 'known' ? `, ${describeFigures(level)},` : ''
    const text = `The context window of agent ${inQuotes(agentName)} (session ${id})${full} is about to be compacted (${trigger}). What it has not written down may be lost.`
    const commandId = derivedCommand(this.#deps.sha256, key, 'parent', kept.compaction.number)
    // A parent that has ended is not told, and nothing else is wrong then.
    await this.#deps.context.send({ session: parentSessionId, text, delivery: 'urgent', commandId })
  }
}

/** The cause of a compaction, as a hook names it. */
export const triggerIn = (text: string | undefined): CompactionTrigger =>
  COMPACTION_TRIGGERS.find((trigger) => trigger === text) ?? 'unknown'
