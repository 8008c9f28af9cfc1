import { type AgentSession, heldBy } from '../../domain/agent-session.ts'
import { minimalContinuation } from '../../domain/continuation.ts'
import type { Conversation } from '../../domain/conversation.ts'
import { defined } from '../../domain/defined.ts'
import { agentSessionId } from '../../domain/ids.ts'
import { RefusedError, unwrap } from '../../domain/unwrap.ts'
import { promptWithHooks } from './carry-out-restart.ts'
import { goOnIn, startFresh } from './launch.ts'
import { isForAnother } from './recover.ts'
import type { RunInProgress, RunnerDeps } from './run-in-progress.ts'
import { monitorOf, type RunRequest } from './run-request.ts'
import { beginSpan } from './spans.ts'
import type { Launcher } from './work-session.ts'

/** The conversation a run is about: the one it names, or a new one. */
export const conversationFor = async (deps: RunnerDeps, request: RunRequest): Promise<Conversation> => {
  const { conversation: externalKey, conversationId, prompt, budget, subject } = request
  if (conversationId !== undefined) {
    const known = await deps.handoffs.conversation(conversationId)
    if (known === undefined) throw new RefusedError({ code: 'conversation.not_found', conversationId })
    return known
  }
  const workspace = request.workspace ?? deps.settings?.workspace
  const details = defined({ externalKey, subject, workspace, restartBudget: budget })
  return unwrap(await deps.handoffs.openConversation({ originalTask: prompt, ...details })).conversation
}

/**
 * Takes over what another process left of the conversation, if its holder was not heard of in time.
 *
 * @returns whether there is a session to go on with
 * @throws RefusedError when its holder lives, or cannot be known to be gone
 */
export const takeOverBaton = async (run: RunInProgress): Promise<boolean> => {
  const baton = await run.deps.store.sessions.findBaton(run.conversation.id)
  if (baton === undefined) return false
  const handoffId = heldBy(baton)
  if (handoffId !== undefined && (await isForAnother(run.deps, baton)))
    throw new RefusedError({ code: 'conversation.handoff_open', conversationId: run.conversation.id, handoffId })
  await takeOver(run, baton)
  return true
}

/** Makes this process the holder of an abandoned session. */
export const takeOver = async (run: RunInProgress, abandoned: AgentSession): Promise<void> => {
  const request = { session: abandoned.id, leaseMs: run.leaseMs, ifAbandoned: true as const }
  run.hold(unwrap(await run.deps.handoffs.takeOverSession(request)))
  const { initiatedByHandoff } = abandoned
  const cameFrom = initiatedByHandoff && (await run.deps.handoffs.handoff(initiatedByHandoff))
  beginSpan(run, cameFrom?.traceContext)
}

/** Begins the run's first session: the one an earlier run was called off in, or a new one. */
export const beginFirst = async <Message>(run: RunInProgress<Message>): Promise<Launcher<Message>> => {
  const latest = await run.deps.store.sessions.findLatest(run.conversation.id)
  const again = latest && (await resumePaused(run, latest))
  if (again !== undefined) return again
  const { request, conversation, deps } = run
  const sessionId = agentSessionId(deps.ids.next())
  const asked = openingAfter(latest, request.prompt, conversation)
  const prompt = await promptWithHooks(run, { sessionId, prompt: asked, isContinuation: false })
  const { runtime, agent: agentName, model, resume: providerSessionId } = request
  const monitor = monitorOf(request, run.hooks)
  const about = { conversationId: conversation.id, sessionId, agentName, backend: runtime.backend, prompt, monitor }
  const details = defined({ model, providerSessionId, leaseMs: run.leaseMs })
  const started = unwrap(await deps.handoffs.startSession({ ...about, ...details }))
  run.hold(started)
  return begun(run, providerSessionId === undefined ? undefined : goOnIn(run, providerSessionId, prompt), prompt)
}

/** Work that failed or was called off is gone on with, and not begun again, when it is asked for in the same words. */
const openingAfter = (latest: AgentSession | undefined, prompt: string, { originalTask }: Conversation): string => {
  const isUnfinished = latest?.state === 'failed' || latest?.state === 'paused'
  return isUnfinished && latest.progress.turns > 0 && prompt === originalTask
    ? minimalContinuation({ originalTask })
    : prompt
}

const begun = <Message>(
  run: RunInProgress<Message>,
  resumed: Launcher<Message> | undefined,
  prompt: string,
): Launcher<Message> => {
  const { session } = run.held
  run.tally.sessions += 1
  const { id: sessionId, epoch } = session
  run.emit({ type: 'session:start', sessionId, epoch, isContinuation: false, previousSessionId: null })
  beginSpan(run)
  return resumed ?? startFresh(run, prompt)
}

const resumePaused = async <Message>(
  run: RunInProgress<Message>,
  latest: AgentSession,
): Promise<Launcher<Message> | undefined> => {
  const { providerSessionId } = latest
  const { request, deps, leaseMs } = run
  const isOurs = latest.agentName === request.agent.trim() && latest.backend === request.runtime.backend
  const canGoOn = latest.state === 'paused' && providerSessionId !== undefined && request.resume === undefined
  if (!isOurs || !canGoOn || request.runtime.resume === undefined) return undefined
  const taken = unwrap(await deps.handoffs.takeOverSession({ session: latest.id, leaseMs }))
  const resumed = unwrap(await deps.handoffs.resumeSession(taken))
  run.hold({ ...taken, ...resumed })
  return begun(run, goOnIn(run, providerSessionId, request.prompt), request.prompt)
}
