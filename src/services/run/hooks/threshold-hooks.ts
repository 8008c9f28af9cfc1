import { type ThresholdOutcome, thresholdOutcome } from '../../../domain/hooks/hook-answer.ts'
import type { RestartBegun } from '../../../domain/restart/begin-restart.ts'
import { hookContext } from '../../../ports/agent/hook-payload.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import { policyOf } from '../run-window.ts'
import { initiateTransfer, type Restarting, restartHeldSession } from '../work/session-outcome.ts'
import { callHooks, type HookCaller, hasHooks, hookSessionOf } from './hook-calls.ts'

/**
 * The decision of threshold hooks about a full window: they replace the built-in restart. A hook that says `continue` lets the
 * session run on; one that ends well without saying so wants a new session, without a checkpoint.
 *
 * @returns the restart that was begun, or what stood against it; nothing when the session runs on
 */
export const decideByHooks = async (run: HookCaller & Restarting): Promise<RestartBegun | undefined> => {
  if (policyOf(run) === 'manual' || !hasHooks(run, 'on_context_threshold')) return undefined
  const outcome = await askHooks(run)
  // A hook that was cut off has decided nothing.
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
  // The tools of the turn that crossed may still have something to say.
  return restartHeldSession(run, reason, flags, { failLater: true })
}

const askHooks = async (run: HookCaller & Pick<RunInProgress, 'held'>): Promise<ThresholdOutcome> => {
  const { session } = run.held
  const { inputTokens, contextWindow, usagePercent } = run.held.figures()
  const { model } = run.held
  const context = hookContext({
    // Where all that is known is a percentage, it is told as hundredths of a window.
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
