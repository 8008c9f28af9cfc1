import type { ContextSignal } from '../domain/context-signal.ts'
import type { Notifier } from '../ports/notifier.ts'

/** Tells a notifier. Whatever it does with that, what was stored is stored. */
export const announce = async (notifier: Notifier | undefined, signals: readonly ContextSignal[]): Promise<void> => {
  if (notifier === undefined) return
  for (const signal of signals) {
    try {
      await notifier.notify(signal)
    } catch {
      // The queue still has it.
    }
  }
}
