import { hookContextOf } from '../../domain/hooks/hook-prompt.ts'
import type { AgentSessionId } from '../../domain/kernel/ids.ts'
import { inQuotes } from '../../domain/kernel/safe-text.ts'
import { hookSessionStart } from '../../ports/agent/hook-payload.ts'
import { callHooks, type HookCaller, hookFacts } from './call-hooks.ts'
import type { RunInProgress } from './run-in-progress.ts'

/** The output of session-start hooks, in a fence; they are called before there is a session. */
export const askSessionHooks = async (
  run: HookCaller & Pick<RunInProgress, 'account' | 'held'>,
  about: {
    readonly sessionId: AgentSessionId
    readonly prompt: string
    /** The one that the prompt is fenced with, or a fresh one. */
    readonly nonce: string
    readonly isContinuation: boolean
  },
): Promise<string | undefined> => {
  const { sessionId, prompt, nonce, isContinuation } = about
  const previous = run.held.isThere && isContinuation ? run.held.session.id : null
  const report = await callHooks(run, 'on_session_start', sessionId, {
    hook_event_name: 'session_start',
    session: hookSessionStart({
      ...hookFacts(run, sessionId),
      isContinuation,
      previousSessionId: previous,
      handoffCount: isContinuation ? run.account.restartsSoFar + 1 : run.account.restartsSoFar,
    }),
    original_prompt: run.conversation.task,
    prompt,
  })
  if (!report.ok)
    throw new Error(`The session-start hook ${inQuotes(report.failed.name)} failed: ${report.failed.error.message}`)
  return hookContextOf(report.results, { nonce, around: prompt })
}
