import { defined } from '../../domain/kernel/defined.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import type { MonitorReport } from '../../domain/window/monitor-reports.ts'
import { WindowGauge } from '../../domain/window/window-gauge.ts'
import type { FollowedSession } from './followed-session.ts'
import type { HookOutcome } from './hook-event.ts'
import { outcomeOf, reported } from './reported.ts'
import type { TerminalDeps } from './terminal-deps.ts'

const REMEMBERED = 2_000
/** A status line is drawn several times a second, and mostly says the same. */
const SAME_FOR_MS = 10_000

/** Takes what status lines say of windows. */
export class Samples {
  readonly #deps: TerminalDeps
  readonly #last = new Map<string, { readonly said: string; readonly at: number; readonly outcome: HookOutcome }>()

  constructor(deps: TerminalDeps) {
    this.#deps = deps
  }

  /** Reports a sample. One that says nothing leaves no trace, and the same again costs nothing. */
  async take(at: FollowedSession, raw: unknown, producedAt: Instant | undefined): Promise<HookOutcome> {
    const { statusLine } = this.#deps.readers
    const gauge = new WindowGauge({ runtime: statusLine.format, believed: this.#deps.believedWindow })
    gauge.take(statusLine.known?.(at.kept.variables ?? {}) ?? [])
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
    const said = JSON.stringify([sample.reading, sample.window])
    const last = this.#last.get(at.providerSessionId)
    const now = Date.parse(this.#deps.clock.now())
    if (last?.said === said && now - last.at < SAME_FOR_MS) return last.outcome
    const outcome = outcomeOf(await reported(this.#deps, at, defined({ ...sample, producedAt })))
    this.#last.delete(at.providerSessionId)
    if (outcome === 'ok' || outcome === 'not_registered')
      this.#last.set(at.providerSessionId, { said, at: now, outcome })
    const [oldest] = this.#last.keys()
    if (this.#last.size > REMEMBERED && oldest !== undefined) this.#last.delete(oldest)
    return outcome
  }

  async #isKnown({ session }: FollowedSession): Promise<boolean> {
    const monitor = await this.#deps.store.monitors.find(session.id)
    return monitor !== undefined && monitor.reading.state !== 'unknown'
  }
}
