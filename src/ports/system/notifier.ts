import type { ContextSignal } from '../../domain/session/context-signal.ts'

/**
 * Is told of signals as soon as they are stored, inside the process that stored them. A signal also stays in the queue
 * until its session acknowledges it, so a caller that misses one here finds it there. A notifier that throws changes nothing.
 */
export interface Notifier {
  notify(signal: ContextSignal): void | Promise<void>
}
