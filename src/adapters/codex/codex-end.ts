import { defined } from '../../domain/kernel/defined.ts'
import type { RuntimeEnd } from '../../ports/agent-runtime.ts'
import type { CodexEvent } from './codex-sdk.ts'

/** Codex itself says "Codex ran out of room in the model's context window"; providers say it in their own words. */
const OVERFLOW =
  /context[ _]window|context[ _]length|maximum context|\b(prompt|input|request|conversation|context)\b.{0,40}\btoo (long|large)\b/i

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
    if (OVERFLOW.test(message)) return { type: 'overflow', message }
    return defined({ type: 'failed' as const, message, code: codeOf(thrown) })
  }
}

const messageOf = (thrown: unknown): string => {
  if (thrown === undefined) return 'Codex ended without an answer'
  return thrown instanceof Error ? thrown.message : String(thrown)
}

const codeOf = (thrown: unknown): string | undefined =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined
