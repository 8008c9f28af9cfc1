import type { ContextSignal } from '../../domain/session/context-signal.ts'
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
