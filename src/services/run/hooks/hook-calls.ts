import { hookContextOf } from '../../../domain/hooks/hook-prompt.ts'
import type { HookReport, HookResult } from '../../../domain/hooks/hook-result.ts'
import type { HookMoment } from '../../../domain/hooks/hook-settings.ts'
import { beginningOf } from '../../../domain/kernel/cut-text.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { AgentSessionId } from '../../../domain/kernel/ids.ts'
import { asLines, asText, inQuotes } from '../../../domain/kernel/safe-text.ts'
import { unwrap } from '../../../domain/unwrap.ts'
import {
  type HookPayloads,
  type HookSession,
  type HookSessionFacts,
  hookSession,
  hookSessionStart,
} from '../../../ports/agent/hook-payload.ts'
import { ENDING_OUTAGE_MS } from '../retry-through-outage.ts'
import type { RecordOfRun, RunInProgress } from '../run-in-progress.ts'
import { runHooks } from './run-hooks.ts'

/** The parts of a run that hook payloads describe. */
type HookSubject = Pick<RunInProgress, 'conversation' | 'request' | 'places'>

/** The parts of a run that hooks are called with. */
export type HookCaller = RecordOfRun & Pick<RunInProgress, 'request' | 'places' | 'hooks' | 'signal' | 'news'>

/** A session as the payload of a hook describes it. */
export const hookSessionOf = (run: HookSubject, sessionId: AgentSessionId): HookSession =>
  hookSession(hookFacts(run, sessionId))

/** The facts of a session for hooks. */
const hookFacts = ({ conversation, request, places }: HookSubject, sessionId: AgentSessionId): HookSessionFacts => {
  const { externalKey: jobId, workspace: shared } = conversation.current
  const workspace = places.get(request.agent.trim()) ?? shared
  return { sessionId, agentName: request.agent, ...defined({ jobId, workspace }) }
}

/** Whether the run has a hook for this moment. */
export const hasHookFor = ({ hooks }: Pick<RunInProgress, 'hooks'>, moment: HookMoment): boolean =>
  hooks.some((hook) => hook.moment === moment)

const NOTHING_CALLED: HookReport = { ok: true, results: [] }

/** Calls the hooks of a moment, and records their results. */
export const callHooks = async <Moment extends HookMoment>(
  run: HookCaller,
  moment: Moment,
  sessionId: AgentSessionId,
  payload: HookPayloads[Moment],
): Promise<HookReport> => {
  const { hookRunner, handoffs } = run.deps
  if (hookRunner === undefined || !hasHookFor(run, moment)) return NOTHING_CALLED
  // The hooks after the end are called even when the run was cancelled.
  const isAfterEnd = moment === 'after_run' || moment === 'on_error'
  const signal = isAfterEnd ? {} : { signal: run.signal }
  const redacted = withoutSecrets(payload, run.deps.redact)
  const report = await runHooks({ runner: hookRunner, hooks: run.hooks, moment, payload: redacted, ...signal })
  const { results } = report
  for (const result of results) emitHookCalled(run, { sessionId, moment, result })
  const about = { conversationId: run.conversation.id, sessionId, moment, results }
  const limits = isAfterEnd ? { outageMs: ENDING_OUTAGE_MS } : {}
  if (results.length > 0)
    unwrap(await run.retryThroughOutage((named) => handoffs.recordHooks({ ...about, ...named }), limits))
  return report
}

/** Enough of an error output to see the problem; the rest is not recorded. */
const LONGEST_LINE = 300
const LONGEST_ERROR_OUTPUT = 4_000

/** Emits the result of a hook, and logs the error output of one that succeeded. */
const emitHookCalled = (
  { deps: { logger, redact = (text) => text }, news }: HookCaller,
  about: { readonly sessionId: AgentSessionId; readonly moment: HookMoment; readonly result: HookResult },
): void => {
  const { sessionId, moment, result } = about
  const { name: hook, ok, errorOutput = '' } = result
  const written = redact(errorOutput)
  const [lastLine = null] = asLines(written.trimEnd())
    .slice(-1)
    .filter((line) => line !== '')
  const cut = lastLine !== null && lastLine.length > LONGEST_LINE ? `${beginningOf(lastLine, LONGEST_LINE)}…` : lastLine
  const error = result.ok ? null : { ...result.error, message: redact(result.error.message), lastLine: cut }
  news.emit({ type: 'hook:called', sessionId, moment, hook, ok, error })
  if (!ok || written.trim() === '') return
  const shown = asText(beginningOf(written.trimEnd(), LONGEST_ERROR_OUTPUT))
  logger?.info({ hook, moment, sessionId, errorOutput: shown }, 'a hook that ended well wrote to standard error')
}

/** A hook may pass its payload to anybody, unlike an agent, so it gets the redacted texts of the record. */
const withoutSecrets = <Payload extends object>(
  payload: Payload,
  redact: (text: string) => string = (text) => text,
): Payload => {
  const { prompt, original_prompt: original } = payload as {
    readonly prompt?: string
    readonly original_prompt?: string
  }
  return {
    ...payload,
    ...(prompt !== undefined && { prompt: redact(prompt) }),
    ...(original !== undefined && { original_prompt: redact(original) }),
  }
}

/** Calls the session-start hooks, before the session is stored, and answers with their output in a fence. */
export const askSessionHooks = async (
  run: HookCaller & Pick<RunInProgress, 'account' | 'held'>,
  about: {
    readonly sessionId: AgentSessionId
    readonly prompt: string
    /** The nonce of the fences in the prompt, or a fresh one. */
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
