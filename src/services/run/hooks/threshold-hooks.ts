import { type ThresholdOutcome, thresholdOutcome } from '../../../domain/hooks/hook-answer.ts'
import type { RestartBegun } from '../../../domain/restart/begin-restart.ts'
import { hookContext } from '../../../ports/agent/hook-payload.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import { policyOf } from '../run-window.ts'
import { initiateTransfer, type Restarting, restartHeldSession } from '../work/session-outcome.ts'
import { callHooks, type HookCaller, hasHookFor, hookSessionOf } from './hook-calls.ts'

/**
 * The decision of threshold hooks about a full window: they replace the built-in restart. A hook that answers
 * `continue` lets the session continue; one that succeeds without that answer asks for a new session, without a
 * checkpoint.
 *
 * @returns the restart that was begun, or the limit that refused it; undefined when the session continues
 */
export const decideByHooks = async (run: HookCaller & Restarting): Promise<RestartBegun | undefined> => {
  if (policyOf(run) === 'manual' || !hasHookFor(run, 'on_context_threshold')) return undefined
  const outcome = await callThresholdHooks(run)
  // A hook that was interrupted has decided nothing.
  run.signal.throwIfAborted()
  if (outcome === 'continue') return undefined
  if (typeof outcome === 'object') {
    const handoff = await initiateTransfer(run, outcome.handoff)
    return handoff && { handoff, session: run.held.session }
  }
  if (outcome === 'built_in_restart' && policyOf(run) !== 'auto') return undefined
  const reason =
    outcome === 'new_session'
      ? 'A threshold hook asked for a new session.'
      : 'The context window is full, and no threshold hook had a say.'
  const flags = outcome === 'new_session' ? (['decided_by_hook'] as const) : []
  // The tools of the turn that filled the window may not have answered yet, so the session is failed later.
  return restartHeldSession(run, reason, flags, { failLater: true })
}

const callThresholdHooks = async (run: HookCaller & Pick<RunInProgress, 'held'>): Promise<ThresholdOutcome> => {
  const { session } = run.held
  const { inputTokens, contextWindow, usagePercent } = run.held.figures()
  const { model } = run.held
  const context = hookContext({
    // Where only the percentage is known, the hook gets it as tokens of a window of 100.
    inputTokens: inputTokens ?? Math.round((usagePercent ?? 0) * 100),
    contextWindow: contextWindow ?? 100,
    ...(model !== undefined && { modelName: model }),
  })
  const report = await callHooks(run, 'on_context_threshold', session.id, {
    hook_event_name: 'context_threshold',
    context,
    session: hookSessionOf(run, session.id),
    original_prompt: run.conversation.task,
  })
  return thresholdOutcome(report.results)
}
