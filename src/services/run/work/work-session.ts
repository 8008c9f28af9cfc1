import { describeLimit, describeStop } from '../../../domain/budget/restart-budget.ts'
import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import { unwrap } from '../../../domain/unwrap.ts'
import type { RunningAgent, RuntimeEnd } from '../../../ports/agent/agent-runtime.ts'
import { pauseFor } from '../../commands/pause-for.ts'
import { outsideHandoff } from '../lease.ts'
import { countRefusedTools } from '../news/agent-news.ts'
import { AgentSilent, messageOf } from '../run-errors.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import { openThreads } from '../threads/open-threads.ts'
import { BoundedWait } from './bounded-wait.ts'
import type { Launcher } from './launch.ts'
import { type HeardStep, LaunchWatch } from './launch-watch.ts'
import { uncountedEnd } from './limits.ts'
import { landed, overflowed, type Restarting, type SessionOutcome } from './session-outcome.ts'
import { StepReader } from './step-reader.ts'
import { TurnRecorder } from './turn-recorder.ts'

/**
 * How long an interrupted agent may take to stop before its process is ended, and how long the run then waits for that.
 */
const GRACE_MS = 10_000
const GIVE_UP_MS = 5_000

/**
 * Works one session until the agent stops or its window is full, and yields every message once the turn that it ends is
 * recorded. The agent is interrupted only between answers and while no tool runs.
 */
export async function* workSession<Message>(
  run: RunInProgress<Message>,
  launch: Launcher<Message>,
): AsyncGenerator<Message, SessionOutcome> {
  const ending = new AbortController()
  const signal = AbortSignal.any([run.signal, ending.signal])
  const recorder = new TurnRecorder(run, launch)
  const watch = new LaunchWatch(run)
  const agent = launch.start(signal)
  let grace: ReturnType<typeof setTimeout> | undefined
  const interrupt = (): void => {
    if (grace !== undefined) return
    grace = setTimeout(() => ending.abort(new Error('The agent did not stop when it was interrupted.')), GRACE_MS)
    // The interrupt is not waited for: until the agent stops, its messages come as steps.
    agent.interrupt().catch((error: unknown) => ending.abort(error))
  }
  const steps = new StepReader(run, { agent, watch, onLimit: interrupt })
  using wait = new BoundedWait(signal, GIVE_UP_MS)
  let end: RuntimeEnd | undefined
  let ahead: ReturnType<typeof steps.next> | undefined
  let hasLooked = false
  try {
    for (;;) {
      const upcoming = ahead ?? steps.next()
      ahead = undefined
      const next = await nextStep(run, recorder, () => whileHeard(run, ending, () => wait.for(upcoming)))
      if ('end' in next) {
        end ??= next.end ?? SILENT
        break
      }
      const { step } = next.heard
      await recorder.take(next.heard)
      countRefusedTools(run, step)
      await land(recorder, agent, wait)
      if (step.message !== undefined) yield step.message
      end = step.end ?? end
      hasLooked &&= recorder.mayInterrupt
      if (!recorder.mayInterrupt || grace !== undefined) continue
      // The agent may have begun a tool while the turn was recorded: look for one more step, so that the tool is not
      // interrupted.
      if (agent.worksAhead === true && !hasLooked && end === undefined) {
        hasLooked = true
        ahead = steps.next()
        if (await isThere(ahead)) continue
      }
      interrupt()
    }
  } finally {
    clearTimeout(grace)
    // A caller that leaves early wants the agent to be ended. An agent that does not end in time is not waited for.
    if (end === undefined) ending.abort(new Error('The agent was left.'))
    await wait.for(steps.return()).catch(() => undefined)
    if (end === undefined || run.signal.aborted) await recorder.leave(steps.rest())
  }
  run.signal.throwIfAborted()
  if (ending.signal.reason instanceof AgentSilent && recorder.leaving === undefined) {
    await recorder.leave()
    throw ending.signal.reason
  }
  return concludeSession(run, recorder, end ?? SILENT)
}

/** Sends the agent the text of the soft landing, when that is due and its runtime can send texts. */
const land = async (recorder: TurnRecorder, agent: RunningAgent<unknown>, wait: BoundedWait): Promise<void> => {
  const text = recorder.takeLanding()
  if (text === undefined || agent.tell === undefined) return
  try {
    await wait.for(agent.tell(text))
  } catch {
    return // the agent has ended or takes no text: then it is restarted without a soft landing
  }
  recorder.recordLanding(text)
}

/** The longest time that a timer takes. */
const LONGEST_MS = 2_147_483_647

/**
 * Waits for the agent, and ends it when it is silent for too long. The time that the reader of its messages takes does
 * not count.
 */
const whileHeard = async <T>(
  { setting }: Pick<RunInProgress, 'setting'>,
  ending: AbortController,
  next: () => Promise<T>,
): Promise<T> => {
  const idleMs = setting('idleTimeoutMs')
  if (idleMs === undefined) return next()
  const silent = (): void => ending.abort(new AgentSilent(`The agent said nothing for ${idleMs} ms, and was ended.`))
  const timer = setTimeout(silent, Math.min(idleMs, LONGEST_MS))
  try {
    return await next()
  } finally {
    clearTimeout(timer)
  }
}

/** A message that was already sent arrives within this time. */
const SOON_MS = 20

const isThere = async (step: Promise<unknown>): Promise<boolean> => {
  const arrived = step.then(
    () => true,
    () => true,
  )
  return Promise.race([arrived, pauseFor(SOON_MS).then(() => false)])
}

type Next<Message> = { readonly heard: HeardStep<Message> } | { readonly end: RuntimeEnd | undefined }

/** The next step, or how the agent ended: an error of the runtime ends the agent and not the run. */
const nextStep = async <Message>(
  run: Pick<RunInProgress, 'signal'>,
  recorder: TurnRecorder,
  next: () => ReturnType<StepReader<Message>['next']>,
): Promise<Next<Message>> => {
  try {
    const { done, value } = await next()
    return done === true ? { end: undefined } : { heard: value }
  } catch (error) {
    run.signal.throwIfAborted()
    if (recorder.leaving !== undefined) return { end: { type: 'interrupted' } }
    return { end: { type: 'failed', message: messageOf(error) } }
  }
}

const SILENT: RuntimeEnd = { type: 'failed', message: 'The agent ended without saying how.' }

/** The outcome of a session, from how its agent ended and why the session was to be left. */
const concludeSession = async (
  run: RunInProgress,
  recorder: TurnRecorder,
  end: RuntimeEnd,
): Promise<SessionOutcome> => {
  const { leaving } = recorder
  if (leaving?.type === 'exhausted') {
    const { limit, isRefused = false } = leaving
    const { restartBudget } = run.conversation
    await recorder.finish()
    const reason = isRefused ? describeLimit(limit, restartBudget) : describeStop(limit, restartBudget)
    // The request that reached the limit may have finished the work.
    return !isRefused && end.type === 'idle'
      ? { type: 'over', outcome: 'completed' }
      : { type: 'over', outcome: 'exhausted', reason, limit }
  }
  if (leaving?.type === 'uncounted') {
    await recorder.finish()
    throw uncountedEnd(run, leaving.uncounted)
  }
  if (leaving?.type === 'restart') {
    // The agent finished its work before it could be interrupted: then no restart is needed, unless it stopped to be
    // restarted.
    const isFinal = leaving.handoff.kind !== 'context_restart'
    if (isFinal || end.type !== 'idle' || !recorder.hasMore || recorder.hasLanded) {
      // The agent relies on the threads that it wished for before the restart.
      await openThreads(run)
      return leaving
    }
    await cancelRestart(run, leaving.handoff)
    recorder.stay()
  }
  await recorder.finish()
  const handedOff = recorder.leaving?.type === 'restart' ? recorder.leaving.handoff : await outsideHandoff(run)
  if (handedOff !== undefined) return { type: 'restart', handoff: handedOff }
  switch (end.type) {
    case 'idle':
      return recorder.hasLanded ? landed(run) : { type: 'over', outcome: 'completed' }
    case 'interrupted':
      return { type: 'over', outcome: 'cancelled', reason: 'The agent was interrupted.' }
    case 'overflow':
      return overflowed(run, end.message)
    case 'failed':
      return { type: 'over', outcome: 'failed', reason: end.message }
    default:
      return end satisfies never
  }
}

const cancelRestart = async (run: Restarting, handoff: HandoffMetadata): Promise<void> => {
  const reason = 'The work was finished before a fresh window was needed.'
  const end = { handoff, reason, holder: run.held.holder }
  run.held.update(
    unwrap(await run.retryThroughOutage((named) => run.deps.handoffs.cancelHandoff({ ...end, ...named }))),
  )
  run.news.emit({ type: 'context:handoff:cancelled', handoffId: handoff.id, reason })
}
