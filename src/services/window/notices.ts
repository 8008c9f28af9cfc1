import { RecentKeys } from '../../domain/kernel/recent-keys.ts'
import type { TurnsRecorded } from '../../domain/recording/record-turns.ts'
import type { ContextSignal } from '../../domain/session/context-signal.ts'
import { monitoredPressure } from '../../domain/window/context-monitor.ts'
import { percentOf } from '../../domain/window/window-level.ts'
import { roundedShare } from '../../ports/agent/hook-payload.ts'
import type { Logger } from '../../ports/system/logger.ts'
import type { Notifier } from '../../ports/system/notifier.ts'
import { errorFields } from '../commands/safe-logger.ts'

/** Calls a notifier. Its errors change nothing that was stored. */
export const announce = async (
  { notifier, logger }: { readonly notifier?: Notifier | undefined; readonly logger?: Logger | undefined },
  signals: readonly ContextSignal[],
): Promise<void> => {
  if (notifier === undefined) return
  for (const signal of signals) {
    try {
      await notifier.notify(signal)
    } catch (error) {
      // The queue still has it.
      logger?.warn({ signalId: signal.id, ...errorFields(error) }, 'the notifier failed')
    }
  }
}

/** Tells a logger what recorded turns mean for their window, for programs that record turns themselves. */
export class TurnLog {
  readonly #logger: Logger | undefined
  readonly #unknown = new RecentKeys()

  constructor(logger: Logger | undefined) {
    this.#logger = logger
  }

  take({ session, monitor, handoff, refusedBy }: TurnsRecorded): void {
    if (this.#logger === undefined || monitor?.isEnabled !== true) return
    const { conversationId, id: sessionId } = session
    const pressure = monitoredPressure(monitor)
    const share = pressure.state === 'known' ? pressure.ratio : undefined
    const usagePercent = share === undefined ? null : roundedShare(share)
    const fields = { conversationId, sessionId, usagePercent }
    const percent = share === undefined ? 'an unknown share' : `${percentOf(share)} %`
    if (handoff !== undefined)
      this.#logger.info({ ...fields, handoffId: handoff.id }, `a restart is due at ${percent} of the window`)
    else if (refusedBy !== undefined)
      this.#logger.warn({ ...fields, limit: refusedBy }, `the budget allows no restart (${refusedBy})`)
    else if (pressure.state !== 'known' && monitor.policy === 'auto' && this.#unknown.add(sessionId))
      this.#logger.warn(
        { ...fields, why: pressure.why },
        'nobody knows how full the window is, so it is never restarted for it',
      )
  }
}
