import { z } from 'zod'
import { defined } from '../../domain/kernel/defined.ts'
import { saysTooLong } from '../../domain/run/agent-end.ts'
import type { RuntimeEnd } from '../../ports/agent/agent-runtime.ts'
import type { ReportedEnd } from '../../ports/agent/window-reader.ts'
import type { CodexEvent } from './codex-sdk.ts'

/** The SDK reports the signal that ended the process in words only. */
const STOPPED = /exited with signal SIG(INT|TERM)\b/

/** Finds out how a run ended. An `error` may be followed by another try, so only the end of the events decides. */
export class EndFinder {
  #isCompleted = false
  #error: string | undefined
  #failure: string | undefined

  take(event: CodexEvent): void {
    if (event.type === 'turn.completed') this.#isCompleted = true
    if (event.type === 'turn.failed') this.#failure = event.error.message
    if (event.type === 'error') this.#error = event.message
  }

  /** How it ended, once there are no more events; with what was thrown, if anything was. */
  end(isInterrupted: boolean, thrown?: unknown): RuntimeEnd {
    if (this.#isCompleted && this.#failure === undefined) return { type: 'idle' }
    if (isInterrupted) return { type: 'interrupted' }
    const message = this.#failure ?? this.#error ?? messageOf(thrown)
    if (STOPPED.test(message)) return { type: 'interrupted' }
    if (saysTooLong(message)) return { type: 'overflow', message }
    return defined({ type: 'failed' as const, message, code: codeOf(thrown) })
  }
}

const messageOf = (thrown: unknown): string => {
  if (thrown === undefined) return 'Codex ended without an answer'
  return thrown instanceof Error ? thrown.message : String(thrown)
}

const codeOf = (thrown: unknown): string | undefined =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined

const ended = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('turn.completed') }),
  z.looseObject({
    type: z.literal('turn.failed'),
    error: z.looseObject({ message: z.string() }).optional().catch(undefined),
  }),
  z.looseObject({ type: z.literal('error'), message: z.string() }),
])

/** How the work came to its end, as one event says it: an `error` may be followed by another try. */
export const endIn = (event: unknown): ReportedEnd | undefined => {
  const { data: ending } = ended.safeParse(event)
  if (ending === undefined) return undefined
  if (ending.type === 'turn.completed') return { end: { type: 'idle' }, isFinal: true }
  const words = ending.type === 'error' ? ending.message : ending.error?.message
  const message = words || 'The turn failed, and Codex gave no reason.'
  return {
    end: { type: saysTooLong(message) ? 'overflow' : 'failed', message },
    isFinal: ending.type === 'turn.failed',
  }
}
