import { type BudgetUse, DEFAULT_RESTART_BUDGET, type RestartBudget } from '../../../domain/budget/restart-budget.ts'
import type { Conversation } from '../../../domain/conversation/conversation.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { agentSessionId } from '../../../domain/kernel/ids.ts'
import { err } from '../../../domain/kernel/result.ts'
import type { Refusal } from '../../../domain/refusal.ts'
import { describeFreshReason } from '../../../domain/run/follow-up.ts'
import { type AgentSession, heldBy } from '../../../domain/session/agent-session.ts'
import type { ProcessIdentity } from '../../../domain/session/process-identity.ts'
import { joinedPrompt } from '../../../domain/turn/message.ts'
import { RefusedError, unwrap } from '../../../domain/unwrap.ts'
import { mustHold } from '../../commands/answers.ts'
import { askSessionHooks } from '../hooks/hook-calls.ts'
import { abandonedBy, claimantOf, goneRunner } from '../recover/gone-runner.ts'
import { endOrphans } from '../recover/launched-processes.ts'
import { readBackWork } from '../recover/read-back.ts'
import { isForAnother } from '../recover/recovery.ts'
import { continuationAfter, lookBackNote, recordBefore } from '../restart/continuation-prompt.ts'
import type { OpeningParts } from '../restart/run-person-words.ts'
import { retryThroughOutage } from '../retry-through-outage.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import { monitorOf, type RunRequest } from '../run-request.ts'
import type { RunnerDeps } from '../run-terms.ts'
import { applyMonitorSettings, unsaidPolicy } from '../run-window.ts'
import { threadsNote } from '../threads/threads-note.ts'
import { type Launcher, promptToResume, relaunch, resumeIn, startFresh } from '../work/launch.ts'
import { throwIfSpent } from '../work/limits.ts'
import { owedRestart, type SessionOutcome } from '../work/session-outcome.ts'
import { mustBeOfThisStore } from './cleared-blocks.ts'
import { decideFollowUp, type FollowUpDecision } from './follow-up-decision.ts'
import { countRestarts, endedFor } from './used-budget.ts'
import { placeFor, restorePlace } from './work-places.ts'

/** The conversation of a run: the one that its request names, or a new one. */
export const conversationFor = async (deps: RunnerDeps, request: RunRequest): Promise<Conversation> => {
  const { conversation: externalKey, conversationId, prompt, budget, subject } = request
  if (conversationId !== undefined) {
    const stored = await deps.history.conversation(conversationId)
    if (stored === undefined) throw new RefusedError({ code: 'conversation.not_found', conversationId })
    await restorePlace(deps, request, stored)
    return withBudget(deps, stored, budget)
  }
  const workspace = await placeFor(deps, request)
  await mustBeOfThisStore(deps, externalKey, workspace)
  const restartBudget = budget && { ...DEFAULT_RESTART_BUDGET, ...deps.restartBudget, ...budget }
  const details = defined({ externalKey, subject, workspace, restartBudget })
  const wanted = { originalTask: prompt, ...details }
  const open = () => retryThroughOutage(deps.ids, (named) => deps.handoffs.openConversation({ ...wanted, ...named }))
  const opened = await open()
  return withBudget(deps, unwrap(opened.ok ? opened : err(aboutPrompt(opened.error))).conversation, budget)
}

/** The refusal in the words of a run: the first prompt is the task of the conversation. */
const aboutPrompt = (refusal: Refusal): Refusal =>
  refusal.code === 'input.invalid'
    ? {
        ...refusal,
        fields: refusal.fields.map((found) => (found.field === 'originalTask' ? { ...found, field: 'prompt' } : found)),
      }
    : refusal

/** The conversation with the budget of this run. Nothing is stored when its budget is the same already. */
const withBudget = async (
  deps: RunnerDeps,
  conversation: Conversation,
  budget: Partial<RestartBudget> = {},
): Promise<Conversation> => {
  const current: Partial<RestartBudget> = conversation.restartBudget
  const parts = Object.entries(budget) as readonly [keyof RestartBudget, unknown][]
  if (parts.every(([name, value]) => current[name] === value)) return conversation
  const change = { conversation: conversation.id, budget }
  return unwrap(await retryThroughOutage(deps.ids, (named) => deps.handoffs.setBudget({ ...change, ...named })))
    .conversation
}

/**
 * Takes over the orphaned session of a conversation, if its lease has expired or its process has ended.
 *
 * @returns whether there is a session to resume
 * @throws RefusedError when its holder lives, or may live
 */
export const takeOverBaton = async (run: RunInProgress): Promise<boolean> => {
  const baton = await run.deps.store.sessions.findBaton(run.conversation.id)
  if (baton === undefined) return false
  const handoffId = heldBy(baton)
  if (handoffId !== undefined && (await isForAnother(run.deps, baton, run.agents)))
    throw new RefusedError({ code: 'conversation.handoff_open', conversationId: run.conversation.id, handoffId })
  return takeOver(run, baton)
}

/** Makes this process the holder of an orphaned session. @returns true; it throws when it cannot */
export const takeOver = async (run: RunInProgress, abandoned: AgentSession): Promise<true> => {
  const gone = await run.retryThroughOutage(() => goneRunner(run.deps, abandoned.id))
  const request = { session: abandoned.id, ...run.lease, ...abandonedBy(gone) }
  run.held.hold(
    mustHold(
      unwrap(await run.retryThroughOutage((named) => run.deps.handoffs.takeOverSession({ ...request, ...named }))),
    ),
  )
  run.agents.switchTo(run.held.session.agentName)
  if (gone !== undefined) succeedRunner(run, gone)
  await endOrphanedAgents(run)
  run.account.restartedBefore(await countRestarts(run))
  await applyMonitorSettings(run)
  const { initiatedByHandoff } = abandoned
  const cameFrom = initiatedByHandoff && (await run.deps.history.handoff(initiatedByHandoff))
  run.spans.begin(run.held.session, cameFrom?.traceContext)
  return true
}

/** Claims under the name of the lost runner from now on, and emits that it is gone. */
const succeedRunner = (run: Pick<RunInProgress, 'held' | 'news'>, gone: ProcessIdentity): void => {
  run.held.claimAs(claimantOf(gone) ?? run.held.claimant)
  run.news.emit({ type: 'runner:gone', sessionId: run.held.session.id, host: gone.host, pid: gone.leader?.pid ?? null })
}

/** Ends the agent processes that the lost runner left, and emits each. */
const endOrphanedAgents = async (
  run: Pick<RunInProgress, 'deps' | 'held' | 'news' | 'retryThroughOutage'>,
): Promise<void> => {
  const { session } = run.held
  for (const { process, fate } of await run.retryThroughOutage(() => endOrphans(run.deps, session.id))) {
    const { host, leader } = process
    run.news.emit({ type: 'process:left', sessionId: session.id, host, pid: leader?.pid ?? null, fate })
  }
}

/** Begins the first session of the run: resumes the one that an earlier run was cancelled in, or starts a new one. */
export const beginFirst = async <Message>(
  run: RunInProgress<Message>,
  use: BudgetUse,
): Promise<Launcher<Message> | SessionOutcome> => {
  const latest = await run.deps.store.sessions.findLatest(run.conversation.id)
  if (latest !== undefined) run.account.restartedBefore(await countRestarts(run))
  const ended = endedFor(run, latest, use)
  if (ended !== undefined) return ended
  throwIfSpent(run)
  const { resume } = run.request
  const followUp = latest && resume === undefined ? await decideFollowUp(run, latest) : undefined
  return (latest && (await resumePaused(run, latest, followUp))) ?? beginAnew(run, latest, followUp)
}

/**
 * Starts a new session: with the prompt, where the follow-up was decided to go, or with a continuation from the record.
 */
export const beginAnew = async <Message>(
  run: RunInProgress<Message>,
  latest: AgentSession | undefined,
  followUp: FollowUpDecision | undefined,
): Promise<Launcher<Message>> => {
  const { request, conversation, deps } = run
  const opening = await openingFor(run, latest, followUp)
  run.conversation.noteUnsaid(undefined)
  const sessionId = agentSessionId(deps.ids.next())
  run.held.plan(sessionId)
  const words = joinedPrompt([opening.continuation, opening.prompt])
  const nonce = opening.nonce ?? deps.ids.next()
  const hookContext = await askSessionHooks(run, { sessionId, prompt: words, nonce, isContinuation: false })
  const { runtime, agent: agentName, model } = request
  const monitor = { policy: unsaidPolicy(deps), ...monitorOf(request) }
  const about = { conversationId: conversation.id, sessionId, agentName, backend: runtime.backend, monitor, ...opening }
  const details = defined({ model, hookContext, ...run.lease })
  run.held.hold(
    mustHold(
      unwrap(await run.retryThroughOutage((named) => deps.handoffs.startSession({ ...about, ...details, ...named }))),
    ),
  )
  emitSessionStart(run)
  emitFollowUp(run, followUp)
  const prompt = joinedPrompt([hookContext, words])
  const resumed = opening.providerSessionId && resumeIn(run, opening.providerSessionId, { prompt })
  return resumed || startFresh(run, prompt)
}

/** The texts that open the first session of a run, and the provider session that it resumes. */
interface FirstOpening {
  readonly prompt?: string
  readonly continuation?: string
  readonly nonce?: string
  readonly providerSessionId?: string
}

const openingFor = async (
  run: OpeningParts & Noting,
  latest: AgentSession | undefined,
  followUp: FollowUpDecision | undefined,
): Promise<FirstOpening> => {
  const { prompt, resume: providerSessionId } = run.request
  if (latest === undefined || providerSessionId !== undefined) return defined({ prompt, providerSessionId })
  const nonce = run.deps.ids.next()
  // The task is on record and unfinished, so the opening is a continuation and no prompt of the person.
  if (latest.state !== 'completed' && run.conversation.unsaidTask === undefined)
    return { continuation: await withNotes(run, latest, await continuationAfter(run, nonce)), nonce }
  if (typeof followUp?.resumes === 'string') return { prompt, providerSessionId: followUp.resumes }
  return { prompt, continuation: await withNotes(run, latest, await recordBefore(run, latest, nonce)), nonce }
}

type Noting = Pick<RunInProgress, 'deps' | 'conversation' | 'threads' | 'tools' | 'retryThroughOutage'>

const withNotes = async (run: Noting, { id }: AgentSession, continuation: string): Promise<string> =>
  joinedPrompt([continuation, await threadsNote(run, id), await lookBackNote(run)])

const emitFollowUp = (run: Pick<RunInProgress, 'held' | 'news'>, followUp: FollowUpDecision | undefined): void => {
  if (followUp !== undefined)
    run.news.emit({ type: 'conversation:follow_up', sessionId: run.held.session.id, ...followUp })
}

const emitSessionStart = (run: Pick<RunInProgress, 'account' | 'held' | 'news' | 'spans'>): void => {
  run.account.sessionBegun()
  const { id: sessionId, epoch } = run.held.session
  run.news.emit({ type: 'session:start', sessionId, epoch, isContinuation: false, previousSessionId: null })
  run.spans.begin(run.held.session)
}

/** Resumes the session that an earlier run was cancelled in, if this runtime can. It may not have been launched yet. */
const resumePaused = async <Message>(
  run: RunInProgress<Message>,
  latest: AgentSession,
  followUp: FollowUpDecision | undefined,
): Promise<Launcher<Message> | SessionOutcome | undefined> => {
  const { providerSessionId } = latest
  const { request, deps } = run
  const isOurs = latest.agentName === request.agent.trim() && latest.backend === request.runtime.backend
  const canResume = providerSessionId === undefined ? latest.progress.turns === 0 : request.runtime.resume !== undefined
  if (latest.state !== 'paused' || request.resume !== undefined || !isOurs || !canResume) return undefined
  // The earlier run has ended, and its holder token with it. The caller of this run decided to resume by running it
  // again.
  const resumption = { session: latest.id, byHand: true as const, ...run.lease }
  const { holder, ...resumed } = unwrap(
    await run.retryThroughOutage((named) => deps.handoffs.resumeSession({ ...resumption, ...named })),
  )
  // Another process has taken the session over since.
  if (holder === undefined) throw new RefusedError({ code: 'session.superseded', sessionId: latest.id })
  if (providerSessionId !== undefined && typeof followUp?.freshBecause === 'string') {
    const end = {
      ...resumed,
      holder,
      reason: `It was stopped, and not resumed: ${describeFreshReason(followUp.freshBecause)}.`,
    }
    unwrap(await run.retryThroughOutage((named) => deps.handoffs.failSession({ ...end, ...named })))
    return undefined
  }
  run.held.hold({ ...resumed, holder })
  await applyMonitorSettings(run)
  emitSessionStart(run)
  if (providerSessionId !== undefined) emitFollowUp(run, followUp)
  if (providerSessionId === undefined) return relaunch(run)
  const owed = (await readBackWork(run, providerSessionId)) ?? (await owedRestart(run))
  return owed ?? resumeIn(run, providerSessionId, await promptToResume(run))
}
