import type { Unit } from '../../ports/store/unit-of-work.ts'
import type { WakeUpListener, WakeUps } from '../../ports/store/wake-ups.ts'

/** Wakes those in this process who wait for handoffs; the store is nobody else's. */
export class MemoryWakeUps implements WakeUps {
  readonly #listeners = new Set<WakeUpListener>()

  listen(listener: WakeUpListener): Disposable {
    this.#listeners.add(listener)
    listener.tell({ isHeard: true })
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /** Wakes the listeners that wait for what was stored. */
  kept({ changes }: Pick<Unit, 'changes'>): void {
    for (const change of changes) {
      if (change.type !== 'add_handoff' || change.handoff.kind === 'context_restart') continue
      const { sourceAgent, targetAgent } = change.handoff
      if (sourceAgent !== targetAgent) for (const listener of this.#listeners) listener.wake(targetAgent)
    }
  }
}
