import { failed, type Outcome } from './outcome.ts'

/** When a call has to end: its time is up, or it is no longer wanted. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal
  /** The outcome of a call that was ended, with the reason. */
  outcome(trace?: Partial<Outcome>): Outcome
}

/**
 * A deadline from now on. The timer is our own: one of `AbortSignal.timeout` lets a process end that still waits for a
 * hook, and may be collected before it goes off.
 */
export const deadlineIn = (timeoutMs: number, cancel?: AbortSignal): Deadline => {
  const controller = new AbortController()
  const end = (): void => controller.abort()
  const timer = setTimeout(end, timeoutMs)
  cancel?.addEventListener('abort', end, { once: true })
  if (cancel?.aborted) end()
  return {
    signal: controller.signal,
    outcome: (trace = {}) =>
      cancel?.aborted
        ? failed('hook.cancelled', 'It was ended, because it was no longer wanted.', trace)
        : failed('hook.timeout', `It did not end within ${timeoutMs} ms.`, trace),
    [Symbol.dispose]: () => {
      clearTimeout(timer)
      cancel?.removeEventListener('abort', end)
    },
  }
}
