import type { HandoffFlag, HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import type { HandoffAccepted, HandoffCompleted } from '../../../domain/handoff/settle-handoff.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { type AgentSessionId, agentSessionId } from '../../../domain/kernel/ids.ts'
import { inQuotes } from '../../../domain/kernel/safe-text.ts'
import type { WindowFigures } from '../../../domain/run/run-event.ts'
import { joinedPrompt } from '../../../domain/turn/message.ts'
import { RefusedError, unwrap } from '../../../domain/unwrap.ts'
import type { HandoffSpan } from '../../../ports/system/run-telemetry.ts'
import { mustHold } from '../../commands/answers.ts'
import { pauseFor } from '../../commands/pause-for.ts'
import type { RunEnding } from '../end/end-run.ts'
import { askSessionHooks, callHooks, type HookCaller, hookSessionOf } from '../hooks/hook-calls.ts'
import { messageOf } from '../run-errors.ts'
import type { RecordOfRun, RunInProgress } from '../run-in-progress.ts'
import { applyMonitorSettings } from '../run-window.ts'
import { threadsNote } from '../threads/threads-note.ts'
import { throwIfSpent } from '../work/limits.ts'
import { askForCheckpoint, notAsked } from './ask-checkpoint.ts'
import { continuationOf, lookBackNote } from './continuation-prompt.ts'
import { switchAgent, throwIfBouncing, transferNote } from './transfer.ts'

/** A handoff, and the answer of its latest step: with that the next step needs no read. */
type Step = Partial<HandoffAccepted> & { readonly handoff: HandoffMetadata }

/** How often to look whether an orphaned claim has expired. */
const LOOK_AGAIN_MS = 250

/**
 * Carries a handoff out from the step that it has reached. Each step is stored before the next, so that the process
 * that resumes it after a crash finds where it stopped. Then the run holds the successor, which is still to be
 * launched.
 *
 * @returns the opening of the successor
 */
export const carryOutRestart = async (run: RunInProgress, handoff: HandoffMetadata): Promise<string> => {
  const span = run.spans.handoff({ handoffId: handoff.id, kind: handoff.kind, reason: handoff.reason })
  try {
    return await carryOutSteps(run, handoff, span)
  } catch (error) {
    const problem = messageOf(error)
    span?.end({ outcome: 'failed', error: run.deps.redact?.(problem) ?? problem })
    // The run still holds the source, so it ends as a run of that agent.
    if (run.held.session.id === handoff.sourceSessionId) run.agents.switchTo(handoff.sourceAgent)
    throw error
  }
}

/** The steps: checkpoint, claim, continuation, completion. A step that is stored already is skipped. */
const carryOutSteps = async (
  run: RunInProgress,
  handoff: HandoffMetadata,
  span: HandoffSpan | undefined,
): Promise<string> => {
  const old = run.held.session
  const figures = run.held.figures()
  const isTransfer = handoff.kind === 'agent_transfer'
  emitHandoffStart(run, handoff)
  if (isTransfer) await throwIfBouncing(run, handoff)
  const checkpointed = await withCheckpoint(run, { handoff, ...heldBy(run) })
  throwIfSpent(run)
  // From here on with the hooks, tools and runtime of the successor.
  if (isTransfer) switchAgent(run, handoff)
  const claimed = await withClaim(run, checkpointed)
  const { handoff: ready, ...rest } = await withContinuation(run, claimed)
  const continuation = ready.status === 'accepted' ? ready.prepared?.continuation : undefined
  const completed = await complete(run, { ...rest, handoff: ready })
  // A wish of the outgoing agent does not count for its successor.
  run.transferWish.take()
  if (isTransfer) run.account.transferred()
  else run.account.restarted()
  run.news.emit({ type: 'session:end', sessionId: old.id, state: 'handed_off', reason: null })
  run.spans.end({ outcome: 'handed_off' })
  run.spans.begin(run.held.session, handoff.traceContext)
  const { traceContext } = run.spans
  if (traceContext !== undefined) span?.reached(traceContext)
  span?.end({ outcome: 'completed' })
  if (isTransfer) await applyMonitorSettings(run)
  await announce(run, completed.handoff, { oldSessionId: old.id, newSessionId: completed.session.id, ...figures })
  return continuation ?? run.conversation.task
}

/**
 * Leaves a handoff to an agent that takes no part in the run. The outgoing agent is asked for its checkpoint now,
 * because the worker that takes the handoff up cannot ask it.
 */
export const handOver = async (run: RunInProgress, handoff: HandoffMetadata): Promise<RunEnding> => {
  const { id: handoffId, sourceAgent: fromAgent, targetAgent: toAgent } = handoff
  emitHandoffStart(run, handoff)
  if (handoff.kind === 'agent_transfer') await withCheckpoint(run, { handoff, ...heldBy(run) })
  run.news.emit({ type: 'agent:handoff:left', handoffId, fromAgent, toAgent, oldSessionId: run.held.session.id })
  const reason = `The work is handed to ${inQuotes(toAgent)}, who takes no part in this run: handoff ${handoffId} waits for a worker.`
  return { outcome: 'handed_over', reason }
}

const emitHandoffStart = (run: Pick<RunInProgress, 'held' | 'news'>, handoff: HandoffMetadata): void => {
  const { id: handoffId, kind, sourceAgent: fromAgent, targetAgent: toAgent, reason } = handoff
  const oldSessionId = run.held.session.id
  if (kind === 'context_restart')
    run.news.emit({ type: 'context:handoff:start', handoffId, oldSessionId, ...run.held.figures() })
  else run.news.emit({ type: 'agent:handoff:start', handoffId, fromAgent, toAgent, oldSessionId, reason })
}

/** Completes the handoff: the successor gets the lease of the source. */
const complete = (run: RunInProgress, step: Step): Promise<HandoffCompleted> => {
  const { lease, held, deps } = run
  const { claimant, holder } = held
  const { runtime, model } = run.request
  const target = step.handoff.kind === 'agent_transfer' ? defined({ model }) : {}
  const request = { ...step, claimant, backend: runtime.backend, ...target, ...lease, holder }
  return held.handOn(async () =>
    mustHold(unwrap(await run.retryThroughOutage((named) => deps.handoffs.completeHandoff({ ...request, ...named })))),
  )
}

/** This process's copy of the source, for the next command. */
const heldBy = ({ held, conversation }: Pick<RunInProgress, 'held' | 'conversation'>): Omit<Step, 'handoff'> =>
  defined({ session: held.session, monitor: held.monitor, conversation: conversation.current })

const withCheckpoint = async (run: RunInProgress, step: Step): Promise<Step> => {
  const { handoff } = step
  const isThere = handoff.checkpoint !== undefined || handoff.document !== undefined
  if (handoff.status !== 'initiated' || isThere) return step
  // CheckpointInterview costs as much as the window holds.
  if (isCheckpointWanted(handoff)) throwIfSpent(run)
  const checkpoint = isCheckpointWanted(handoff)
    ? await askForCheckpoint(run, handoff)
    : notAsked('It was decided to do without.')
  run.signal.throwIfAborted()
  const request = { ...step, ...checkpoint, holder: run.held.holder }
  const stored = await run.retryThroughOutage((named) => run.deps.handoffs.keepCheckpoint({ ...request, ...named }))
  // Another process has stored a checkpoint or claimed the handoff meanwhile: its state counts.
  if (!stored.ok && ['handoff.checkpointed', 'handoff.illegal_transition'].includes(stored.error.code))
    return reread(run, handoff)
  run.news.emit({ type: 'context:handoff:checkpoint', handoffId: handoff.id, outcome: checkpoint.checkpoint.outcome })
  return unwrap(stored)
}

const reread = async (run: RecordOfRun, handoff: HandoffMetadata): Promise<Step> => {
  const reread = await run.retryThroughOutage(() => run.deps.history.handoff(handoff.id))
  return { handoff: reread ?? handoff }
}

/** A hook that asks for a new session wants no checkpoint; an overflowed or lost window cannot give one. */
const WITHOUT_CHECKPOINT: readonly HandoffFlag[] = ['decided_by_hook', 'window_overflowed', 'runtime_lost']

const isCheckpointWanted = ({ flags }: HandoffMetadata): boolean =>
  !flags.some((flag) => WITHOUT_CHECKPOINT.includes(flag))

const withClaim = async (
  run: Pick<RunInProgress, 'deps' | 'held' | 'lease' | 'signal' | 'retryThroughOutage'>,
  step: Step,
): Promise<Step> => {
  for (;;) {
    run.signal.throwIfAborted()
    const { handoff } = step
    if (handoff.status === 'accepted' && handoff.claim.claimant === run.held.claimant) return step
    const request = { ...step, claimant: run.held.claimant, claimMs: run.lease.leaseMs, holder: run.held.holder }
    const claimed = await run.retryThroughOutage((named) => run.deps.handoffs.acceptHandoff({ ...request, ...named }))
    if (claimed.ok) return claimed.value
    // Another process has completed or ended the handoff: this run must not carry it out.
    if (claimed.error.code === 'handoff.illegal_transition') throw run.held.supersededError()
    if (claimed.error.code !== 'handoff.already_claimed') throw new RefusedError(claimed.error)
    await pauseFor(LOOK_AGAIN_MS, run.signal)
  }
}

const withContinuation = async (run: RunInProgress, step: Step): Promise<Step> => {
  const { handoff } = step
  if (handoff.status === 'accepted' && handoff.prepared !== undefined) return step
  const targetSessionId = agentSessionId(run.deps.ids.next())
  const nonce = run.deps.ids.next()
  const threads = await threadsNote(run, handoff.sourceSessionId)
  const opening = [transferNote(handoff), await continuationOf(run, handoff, nonce), threads, await lookBackNote(run)]
  const prompt = joinedPrompt(opening)
  const hookContext = await askSessionHooks(run, { sessionId: targetSessionId, prompt, nonce, isContinuation: true })
  const continuation = joinedPrompt([hookContext, prompt])
  run.signal.throwIfAborted()
  const request = {
    ...step,
    claimant: run.held.claimant,
    continuation,
    nonce,
    targetSessionId,
    holder: run.held.holder,
  }
  return unwrap(await run.retryThroughOutage((named) => run.deps.handoffs.prepareHandoff({ ...request, ...named })))
}

/** Emits that this run has taken up a handoff that another run left. */
export const announceTakenUp = async (
  run: HookCaller & Pick<RunInProgress, 'account' | 'held' | 'spans'>,
  handoff: HandoffMetadata,
): Promise<void> => {
  run.account.transferred()
  run.spans.begin(run.held.session, handoff.traceContext)
  const about = { oldSessionId: handoff.sourceSessionId, newSessionId: run.held.session.id, ...run.held.figures() }
  await announce(run, handoff, about)
}

const announce = async (
  run: HookCaller & Pick<RunInProgress, 'account' | 'held'>,
  handoff: HandoffMetadata,
  about: { readonly oldSessionId: AgentSessionId; readonly newSessionId: AgentSessionId } & WindowFigures,
): Promise<void> => {
  const handoffNumber = run.account.restartsSoFar
  const { session } = run.held
  const { oldSessionId, newSessionId } = about
  const { id: handoffId, sourceAgent: fromAgent, targetAgent: toAgent } = handoff
  if (handoff.kind === 'context_restart')
    run.news.emit({ type: 'context:handoff:complete', handoffId, handoffNumber, ...about })
  else run.news.emit({ type: 'agent:handoff:complete', handoffId, fromAgent, toAgent, oldSessionId, newSessionId })
  run.news.emit({
    type: 'session:start',
    sessionId: session.id,
    epoch: session.epoch,
    isContinuation: true,
    previousSessionId: about.oldSessionId,
  })
  await callHooks(run, 'after_handoff', session.id, {
    hook_event_name: 'handoff_completed',
    handoff: {
      handoff_id: handoff.id,
      kind: handoff.kind,
      reason: handoff.reason,
      handoff_number: handoffNumber,
      previous_session_id: about.oldSessionId,
      new_session_id: session.id,
    },
    session: hookSessionOf(run, session.id),
    original_prompt: run.conversation.task,
  })
}
