import type { HookReport, HookResult } from '../../../domain/hooks/hook-result.ts'
import { hookName, isDue } from '../../../domain/hooks/hook-selection.ts'
import type { HookMoment, HookSettings } from '../../../domain/hooks/hook-settings.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { HookPayloads } from '../../../ports/agent/hook-payload.ts'
import type { HookRunner } from '../../../ports/agent/hook-runner.ts'

/** The hooks of a configuration, the moment to call them for, and their payload. */
export interface RunHooksRequest<Moment extends HookMoment> {
  readonly runner: HookRunner
  /** All hooks of the configuration; those of other moments are not called. */
  readonly hooks: readonly HookSettings[]
  readonly moment: Moment
  readonly payload: HookPayloads[Moment]
  /** Aborting it ends the running hook, and no further hook is called. */
  readonly signal?: AbortSignal
}

/**
 * Calls the hooks of a moment one after the other, those whose `on_events` and `when` match. After a hook that
 * fails, the next one is called, unless the failed one has `continue_on_error: false`: then the report names it and
 * those that were not called.
 *
 * @example
 * ```ts
 * const { configuration } = await readConfiguration({
 *   hooks: { on_context_threshold: [{ type: 'shell', command: 'echo continue' }] },
 * })
 * const report = await runHooks({
 *   runner: new NodeHookRunner(),
 *   hooks: configuration.hooks,
 *   moment: 'on_context_threshold',
 *   payload: {
 *     hook_event_name: 'context_threshold',
 *     context: hookContext({ inputTokens: 170_000, contextWindow: 200_000 }),
 *     session: hookSession({ sessionId: 's-1', agentName: 'claude-code' }),
 *     original_prompt: 'Fix the flaky test',
 *   },
 * })
 * console.log(thresholdOutcome(report.results)) // => continue
 * ```
 */
export const runHooks = async <Moment extends HookMoment>(request: RunHooksRequest<Moment>): Promise<HookReport> => {
  const { runner, hooks, moment, payload, signal } = request
  const due = hooks.filter((hook) => hook.moment === moment && isDue(hook, payload))
  const results: HookResult[] = []
  for (const [index, hook] of due.entries()) {
    const result = await runner.run(hook, payload, defined({ signal }))
    results.push(result)
    const isLast = signal?.aborted === true || !hook.shouldContinueOnError
    if (!result.ok && isLast)
      return { ok: false, results, failed: result, notCalled: due.slice(index + 1).map(hookName) }
  }
  return { ok: true, results }
}
