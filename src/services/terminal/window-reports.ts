import { defined } from '../../domain/kernel/defined.ts'
import type { CommandId } from '../../domain/kernel/ids.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import { inQuotes } from '../../domain/kernel/safe-text.ts'
import type { MonitorReport, ReportOutcome } from '../../domain/window/monitor-reports.ts'
import { COMPACTION_TRIGGERS, type CompactionTrigger } from '../../domain/window/window-event.ts'
import { WindowGauge } from '../../domain/window/window-gauge.ts'
import { describeFigures, levelOf } from '../../domain/window/window-level.ts'
import { derivedCommand } from '../commands/derived-command.ts'
import type { FollowedSession } from './followed-session.ts'
import type { HookOutcome } from './hook-event.ts'
import type { TerminalDeps } from './terminal-deps.ts'

/** Passes a report on to the session's monitor, and keeps how full the window is by it. */
export const reported = async (
  { context, logger }: Pick<TerminalDeps, 'context' | 'logger'>,
  at: FollowedSession,
  report: MonitorReport,
  commandId?: CommandId,
): Promise<ReportOutcome | 'unknown_session'> => {
  const request = { session: at.session.id, report }
  const answer = await context.report(commandId === undefined ? request : { ...request, commandId })
  if (answer.ok) {
    at.update({ monitor: answer.value.monitor })
    return answer.value.outcome
  }
  logger.warn({ sessionId: at.session.id, refusal: answer.error.code }, 'a report on a window was refused')
  return answer.error.code === 'command.id_reused' ? 'repeated' : 'unknown_session'
}

/** The outcome as hooks are answered: that a compaction has begun is taken, and no more. */
export const outcomeOf = (outcome: ReportOutcome | 'unknown_session'): HookOutcome =>
  outcome === 'compacting' ? 'ok' : outcome

const REMEMBERED = 2_000
/** A status line is drawn several times a second, and mostly says the same. */
const SAME_FOR_MS = 10_000

/** Takes what status lines say of windows. */
export class Samples {
  readonly #deps: TerminalDeps
  readonly #last = new Map<string, { readonly reading: string; readonly at: number; readonly outcome: HookOutcome }>()

  constructor(deps: TerminalDeps) {
    this.#deps = deps
  }

  /** Reports a sample. One that says nothing leaves no trace, and the same again costs nothing. */
  async take(at: FollowedSession, raw: unknown, producedAt: Instant | undefined): Promise<HookOutcome> {
    const { statusLine } = this.#deps.readers
    const gauge = new WindowGauge({ runtime: statusLine.format, believed: this.#deps.believedWindow })
    gauge.take(statusLine.known?.(at.tracking.variables ?? {}) ?? [])
    const report = gauge.take(statusLine.read(raw)).reports.findLast(({ type }) => type === 'sample')
    if (report?.type !== 'sample') return 'ok'
    if (report.reading.state === 'unknown' && !(await this.#isKnown(at))) return 'ok'
    return this.#report(at, report, producedAt)
  }

  /** Forgets what was said last: something else has happened to the window since. */
  forget(providerSessionId: string): void {
    this.#last.delete(providerSessionId)
  }

  async #report(
    at: FollowedSession,
    sample: Extract<MonitorReport, { type: 'sample' }>,
    producedAt: Instant | undefined,
  ): Promise<HookOutcome> {
    const reading = JSON.stringify([sample.reading, sample.window])
    const last = this.#last.get(at.providerSessionId)
    const now = Date.parse(this.#deps.clock.now())
    if (last?.reading === reading && now - last.at < SAME_FOR_MS) return last.outcome
    const outcome = outcomeOf(await reported(this.#deps, at, defined({ ...sample, producedAt })))
    this.#last.delete(at.providerSessionId)
    if (outcome === 'ok' || outcome === 'not_registered')
      this.#last.set(at.providerSessionId, { reading, at: now, outcome })
    const [oldest] = this.#last.keys()
    if (this.#last.size > REMEMBERED && oldest !== undefined) this.#last.delete(oldest)
    return outcome
  }

  async #isKnown({ session }: FollowedSession): Promise<boolean> {
    const monitor = await this.#deps.store.monitors.find(session.id)
    return monitor !== undefined && monitor.reading.state !== 'unknown'
  }
}

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
    const { number, toldBy } = at.tracking.compaction
    const isWaiting = toldBy.length === 1 && toldBy[0] === 'pre'
    if (!isWaiting) at.keep({ compaction: { number: number + 1, toldBy: ['pre'] } })
    const command = derivedCommand(this.#deps.sha256, at.key, 'compacting', at.tracking.compaction.number)
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
    const { number, toldBy } = at.tracking.compaction
    const isNext = number === 0 || toldBy.includes(by)
    at.keep({ compaction: isNext ? { number: number + 1, toldBy: [by] } : { number, toldBy: [...toldBy, by] } })
    const name = `compaction ${at.tracking.compaction.number}`
    const command = derivedCommand(this.#deps.sha256, at.key, name, by)
    const key = `${at.key} ${name}`.slice(-200)
    const report = defined({ type: 'compaction' as const, trigger, preTokens, producedAt, key })
    return outcomeOf(await reported(this.#deps, at, report, command))
  }

  async #warnParent({ session, monitor, key, tracking }: FollowedSession, trigger: CompactionTrigger): Promise<void> {
    const { parentSessionId, agentName, id } = session
    if (parentSessionId === undefined || tracking.notify === 'self') return
    // It is compacting by now, and was this full before.
    const level = levelOf(monitor && { ...monitor, isCompacting: false })
    const full = level.state === 'known' ? `, ${describeFigures(level)},` : ''
    const text = `The context window of agent ${inQuotes(agentName)} (session ${id})${full} is about to be compacted (${trigger}). What it has not written down may be lost.`
    const commandId = derivedCommand(this.#deps.sha256, key, 'parent', tracking.compaction.number)
    // A parent that has ended is not told, and nothing else is wrong then.
    await this.#deps.context.send({ session: parentSessionId, text, delivery: 'urgent', commandId })
  }
}

/** The cause of a compaction, as a hook names it. */
export const triggerIn = (text: string | undefined): CompactionTrigger =>
  COMPACTION_TRIGGERS.find((trigger) => trigger === text) ?? 'unknown'
