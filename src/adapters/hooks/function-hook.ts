import type { HookSettings } from '../../domain/hooks/hook-settings.ts'
import type { HookPayload } from '../../ports/agent/hook-payload.ts'
import { capped } from './capped-output.ts'
import type { Deadline } from './deadline.ts'
import { failed, type Outcome } from './outcome.ts'

type FunctionHook = Extract<HookSettings, { type: 'function' }>

/** Calls a function. One that goes on after its deadline is no longer listened to: nothing can end it from outside. */
export const runFunction = async (hook: FunctionHook, payload: HookPayload, deadline: Deadline): Promise<Outcome> => {
  const { signal } = deadline
  if (signal.aborted) return deadline.outcome()
  const call = async (): Promise<Outcome> => {
    // A copy: a hook that writes into its payload must not change what the next one is told.
    const returned = await hook.run(structuredClone(payload), { signal })
    return { output: capped(asText(returned)) }
  }
  const isOver = new Promise<Outcome>((resolve) => {
    signal.addEventListener('abort', () => resolve(deadline.outcome()), { once: true })
  })
  return Promise.race([call().catch(thrown), isOver])
}

const asText = (returned: unknown): string =>
  typeof returned === 'string' ? returned : (JSON.stringify(returned) ?? '')

const thrown = (error: unknown): Outcome =>
  failed('hook.threw', error instanceof Error ? capped(error.message) : 'It threw something that is not an error.')
