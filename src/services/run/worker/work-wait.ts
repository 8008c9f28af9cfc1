import type { WakeUpState } from '../../../ports/store/wake-ups.ts'
import { errorFields } from '../../commands/safe-logger.ts'
import type { RunnerDeps } from '../run-terms.ts'

/** How a worker waits for work. */
export interface WaitingBy {
  /** Whether the store wakes the worker when work is handed over, or the worker only looks from time to time. */
  readonly by: 'wake_ups' | 'looking'
  /** The longest time between two looks. */
  readonly longestMs: number
  /** Why the store does not wake it. */
  readonly reason?: string
}

/** The settings of the wait. */
export interface WaitSettings {
  /** The agents whose handoffs are waited for. */
  readonly agents: readonly string[]
  readonly pollMs?: { readonly least: number; readonly most: number }
  readonly onWaiting?: (waiting: WaitingBy) => void
}

/**
 * The shortest and the longest time between two looks; the longest where the store wakes the worker, in case a wake-up
 * is missed.
 */
export const POLL = { least: 250, most: 5_000, mostWoken: 30_000 } as const
const SLOWER = 1.6
/** A handoff whose source is still held is ready soon, but no wake-up says when. */
const HELD_MS = 1_000

/** The wait between two looks for work: longer each time, until work is found or the store wakes the worker. */
export class WorkWait implements Disposable {
  readonly #settings: WaitSettings
  readonly #listening: Disposable | undefined
  #isHeard = false
  #isWoken = false
  #nextMs: number
  #rouse = (): void => {}

  constructor({ store, logger, redact }: Pick<RunnerDeps, 'store' | 'logger' | 'redact'>, settings: WaitSettings) {
    this.#settings = settings
    this.#nextMs = this.#leastMs
    const tell = (state: WakeUpState): void => {
      this.#isHeard = state.isHeard
      const waiting = this.#waitingBy(state)
      logger?.[state.isHeard ? 'info' : 'warn']({ ...waiting }, 'how a worker waits for work')
      try {
        settings.onWaiting?.(waiting)
      } catch (error) {
        // A listener of the store must not throw: nothing would catch the error there.
        logger?.warn({ ...errorFields(error, redact) }, 'onWaiting threw')
      }
      // The current wait may be longer than this state needs.
      this.#wakeUp()
    }
    const wake = (agent?: string): void => {
      if (agent === undefined || settings.agents.includes(agent)) this.#wakeUp()
    }
    if (store.wakeUps === undefined) tell({ isHeard: false, reason: 'this store wakes nobody' })
    this.#listening = store.wakeUps?.listen({ wake, tell })
  }

  /** Notes that work was found: more may come soon. */
  found(): void {
    this.#nextMs = this.#leastMs
  }

  /** Waits until it is time to look again; not at all if the store woke the worker since the last look. */
  async pause(signal: AbortSignal, isSomethingHeld: boolean): Promise<void> {
    const mostMs = isSomethingHeld ? Math.min(HELD_MS, this.#mostMs) : this.#mostMs
    if (!this.#isWoken) await this.#sleep(Math.min(this.#nextMs, mostMs), signal)
    this.#nextMs = this.#isWoken ? this.#leastMs : Math.min(mostMs, Math.ceil(this.#nextMs * SLOWER))
    this.#isWoken = false
  }

  [Symbol.dispose](): void {
    this.#listening?.[Symbol.dispose]()
  }

  #waitingBy(state: WakeUpState): WaitingBy {
    const longestMs = this.#mostMs
    return state.isHeard ? { by: 'wake_ups', longestMs } : { by: 'looking', longestMs, reason: state.reason }
  }

  #wakeUp(): void {
    this.#isWoken = true
    this.#rouse()
  }

  #sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const over = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', over)
        this.#rouse = () => {}
        resolve()
      }
      const timer = setTimeout(over, milliseconds)
      signal.addEventListener('abort', over, { once: true })
      this.#rouse = over
      if (signal.aborted) over()
    })
  }

  get #leastMs(): number {
    return this.#settings.pollMs?.least ?? POLL.least
  }

  get #mostMs(): number {
    return this.#settings.pollMs?.most ?? (this.#isHeard ? POLL.mostWoken : POLL.most)
  }
}
