import { defined } from '../../domain/kernel/defined.ts'
import { type FreshReason, freshReason } from '../../domain/run/follow-up.ts'
import { DEFAULT_SESSION_SETTINGS } from '../../domain/run/session-settings.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import type { RunInProgress } from './run-in-progress.ts'

/** Where a further prompt goes: into a provider session that is there, or into a fresh one for a reason. */
export type FollowUpWay =
  | { readonly resumes: string; readonly freshBecause: null }
  | { readonly resumes: null; readonly freshBecause: FreshReason }

/** Decides where a further prompt of a conversation goes, after its latest session. */
export const followUpAfter = async (run: RunInProgress, latest: AgentSession): Promise<FollowUpWay> => {
  const { request, deps, workspace } = run
  const monitor = await run.steadily(() => deps.store.monitors.find(latest.id))
  const { runtime, milestones = deps.monitor?.milestones } = request
  const freshBecause = freshReason(latest, monitor, {
    agentName: request.agent.trim(),
    backend: runtime.backend,
    canResume: runtime.resume !== undefined,
    mode: run.setting('sessionMode') ?? DEFAULT_SESSION_SETTINGS.mode,
    timeoutMs: run.setting('sessionTimeoutMs') ?? DEFAULT_SESSION_SETTINGS.timeoutMs,
    at: deps.clock.now(),
    ...defined({ milestones }),
  })
  const { providerSessionId } = latest
  if (freshBecause !== undefined || providerSessionId === undefined)
    return { resumes: null, freshBecause: freshBecause ?? 'cannot_resume' }
  const isThere = await runtime.has?.({ providerSessionId, ...defined({ workspace }) })
  return isThere === false
    ? { resumes: null, freshBecause: 'session_gone' }
    : { resumes: providerSessionId, freshBecause: null }
}
