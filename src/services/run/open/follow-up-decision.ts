import { defined } from '../../../domain/kernel/defined.ts'
import type { Instant } from '../../../domain/kernel/instant.ts'
import { type FreshReason, freshReason } from '../../../domain/run/follow-up.ts'
import { DEFAULT_SESSION_SETTINGS } from '../../../domain/run/session-settings.ts'
import type { AgentSession } from '../../../domain/session/agent-session.ts'
import { type RecordOfRun, type RunInProgress, runWorkspace } from '../run-in-progress.ts'

/** Where a further prompt goes: into the provider session that it resumes, or into a fresh window for a reason. */
export type FollowUpDecision =
  | { readonly resumes: string; readonly freshBecause: null }
  | { readonly resumes: null; readonly freshBecause: FreshReason }

/** The parts of a run that decide where its next session begins. */
type Deciding = RecordOfRun & Pick<RunInProgress, 'request' | 'setting' | 'places'>

/**
 * Decides where the next session of a conversation begins, after its latest one.
 *
 * @returns undefined when there is no further prompt: the latest session was paused or failed, and its work continues
 */
export const decideFollowUp = async (run: Deciding, latest: AgentSession): Promise<FollowUpDecision | undefined> => {
  if (run.conversation.unsaidTask !== undefined || latest.state === 'completed') return followUpAfter(run, latest)
  const { providerSessionId } = latest
  const isOurs = latest.state === 'paused' && latest.backend === run.request.runtime.backend
  return isOurs && providerSessionId !== undefined && (await isGone(run, providerSessionId))
    ? { resumes: null, freshBecause: 'session_gone' }
    : undefined
}

/** Whether the runtime reports that it no longer has this session. Not every runtime can report that. */
const isGone = async (run: Deciding, providerSessionId: string): Promise<boolean> =>
  (await run.request.runtime.has?.({ providerSessionId, ...defined({ workspace: runWorkspace(run) }) })) === false

/** Decides where a further prompt of a conversation goes, after its latest session. */
const followUpAfter = async (run: Deciding, latest: AgentSession): Promise<FollowUpDecision> => {
  const { request, deps } = run
  const monitor = await run.retryThroughOutage(() => deps.store.monitors.find(latest.id))
  const { runtime, milestones = deps.monitor?.milestones } = request
  const freshBecause = freshReason(latest, monitor, {
    agentName: request.agent.trim(),
    backend: runtime.backend,
    canResume: runtime.resume !== undefined,
    mode: run.setting('sessionMode') ?? DEFAULT_SESSION_SETTINGS.mode,
    timeoutMs: run.setting('sessionTimeoutMs') ?? DEFAULT_SESSION_SETTINGS.timeoutMs,
    isElsewhere: run.conversation.current.workspace === undefined && runWorkspace(run) !== undefined,
    at: deps.clock.now(),
    ...defined({ milestones, restedAt: latest.state === 'paused' ? await lastSaidAt(run, latest) : undefined }),
  })
  const { providerSessionId } = latest
  if (freshBecause !== undefined || providerSessionId === undefined)
    return { resumes: null, freshBecause: freshBecause ?? 'cannot_resume' }
  return (await isGone(run, providerSessionId))
    ? { resumes: null, freshBecause: 'session_gone' }
    : { resumes: providerSessionId, freshBecause: null }
}

const lastSaidAt = async (run: RecordOfRun, { id }: AgentSession): Promise<Instant | undefined> =>
  (await run.retryThroughOutage(() => run.deps.store.messages.listLatest(id, 1))).at(-1)?.recordedAt
