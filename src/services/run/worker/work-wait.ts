import type { WakeUpState } from '../../../ports/store/wake-ups.ts'
import { errorFields } from '../../commands/safe-logger.ts'
import type { RunnerDeps } from '../run-terms.ts'

/** How a worker waits for work. */
export interface WaitingBy {
  /** Woken by the store when something is handed over, or by looking alone. */
  readonly by: 'wake_ups' | 'looking'
  /** How often it looks at the longest, whether it is woken or not. */
  readonly longestMs: number
  /** Why it is not woken. */
  readonly reason?: string
}

/** The choices of how to wait. */
export interface WaitingChoices {
  /** The agents whose handoffs are waited for. */
  readonly agents: readonly string[]
  readonly pollMs?: { readonly least: number; readonly most: number }
  readonly onWaiting?: (waiting: WaitingBy) => void
}

/** How long to wait at least, and at most: looking alone, or only in case a wake-up was missed. */
export const POLL = { least: 250, most: 5_000, mostWoken: 30_000 } as const
const SLOWER = 1.6
/** A handoff that is there, and whose source is still held, is ready soon: nobody says when. */
const HELD_MS = 1_000

/** Waits between looks: less and less often, until something is found or somebody wakes it. */
export class WorkWait implements Disposable {
  readonly #choices: WaitingChoices
  readonly #listening: Disposable | undefined
  #isHeard = false
  #isWoken = false
  #nextMs: number
  #rouse = (): void => {}

  constructor({ store, logger, redact }: Pick<RunnerDeps, 'store' | 'logger' | 'redact'>, choices: WaitingChoices) {
    this.#choices = choices
    this.#nextMs = this.#leastMs
    const tell = (state: WakeUpState): void => {
      this.#isHeard = state.isHeard
      const waiting = this.#waitingBy(state)
      logger?.[state.isHeard ? 'info' : 'warn']({ ...waiting }, 'how a worker waits for work')
      try {
        choices.onWaiting?.(waiting)
      } catch (error) {
        // Whoever listens to the store must not throw: nobody would catch it there.
        logger?.warn({ ...errorFields(error, redact) }, 'onWaiting threw')
      }
      // It may have begun to wait for longer than it now should.
      this.#wakeUp()
    }
    const wake = (agent?: string): void => {
      if (agent === undefined || choices.agents.includes(agent)) this.#wakeUp()
    }
    if (store.wakeUps === undefined) tell({ isHeard: false, reason: 'this store wakes nobody' })
    this.#listening = store.wakeUps?.listen({ wake, tell })
  }

  /** Notes that there was something: the next may come soon. */
  found(): void {
    this.#nextMs = this.#leastMs
  }

  /** Waits until it is time to look again; not at all if somebody woke it since the last time. */
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
    return this.#choices.pollMs?.least ?? POLL.least
  }

  get #mostMs(): number {
    return this.#choices.pollMs?.most ?? (this.#isHeard ? POLL.mostWoken : POLL.most)
  }
}
