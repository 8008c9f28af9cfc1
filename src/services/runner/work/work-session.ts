import { type BudgetLimit, describeLimit, describeStop, mayCarryOn } from '../../../domain/budget/restart-budget.ts'
import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import type { RunOutcome } from '../../../domain/run/run-summary.ts'
import { unwrap } from '../../../domain/unwrap.ts'
import type { Launch, RunningAgent, RuntimeEnd } from '../../../ports/agent-runtime.ts'
import type { RecordedText } from '../../../ports/window-reader.ts'
import { pauseFor } from '../../pause-for.ts'
import { AgentSilent, messageOf } from '../run-errors.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import { BoundedWait } from './bounded-wait.ts'
import { type HeardStep, LaunchWatch } from './launch-watch.ts'
import { uncountedEnd } from './limits.ts'
import { StepReader } from './step-reader.ts'
import { restartHeldSession } from './threshold.ts'
import { TurnRecorder } from './turn-recorder.ts'

/** How the work of a session came to its end. */
export type SessionOutcome =
  | { readonly type: 'restart'; readonly handoff: HandoffMetadata }
  | {
      readonly type: 'over'
      readonly outcome: RunOutcome
      readonly reason?: string
      readonly limit?: BudgetLimit
    }

/** How long an interrupted agent may take to stop before it is ended, and one that is ended before it is given up. */
const GRACE_MS = 10_000
const GIVE_UP_MS = 5_000

/** Launches an agent for a session. */
export interface Launcher<Message> {
  /** The signal ends it at once. */
  readonly start: (signal: Launch['signal']) => RunningAgent<Message>
  /** All that the agent is told. */
  readonly prompt: string
  /** The parts of it that are not on record yet: they belong to the turn that answers them. */
  readonly unrecorded: readonly RecordedText[]
  /** The session of the runtime that it goes on in, and how many turns ours had then; absent when it begins one. */
  readonly resumes?: { readonly providerSessionId: string; readonly turns: number }
}

/**
 * Works one session: passes every message on, once what it brought to an end is recorded, until the agent has come to rest
 * or its window is full. It is interrupted between answers only, and no tool is cut off.
 */
export async function* workSession<Message>(
  run: RunInProgress<Message>,
  launch: Launcher<Message>,
): AsyncGenerator<Message, SessionOutcome> {
  const ending = new AbortController()
  const signal = AbortSignal.any([run.signal, ending.signal])
  const desk = new TurnRecorder(run, launch)
  const watch = new LaunchWatch(run)
  const agent = launch.start(signal)
  let grace: ReturnType<typeof setTimeout> | undefined
  const interrupt = (): void => {
    if (grace !== undefined) return
    grace = setTimeout(() => ending.abort(new Error('The agent did not stop when it was interrupted.')), GRACE_MS)
    // Not waited for: what it says until it stops comes as steps.
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
      const next = await nextStep(run, desk, () => whileHeard(run, ending, () => wait.for(upcoming)))
      if ('end' in next) {
        end ??= next.end ?? SILENT
        break
      }
      const { step } = next.heard
      await desk.take(next.heard)
      await land(desk, agent, wait)
      if (step.message !== undefined) yield step.message
      end = step.end ?? end
      hasLooked &&= desk.mayInterrupt
      if (!desk.mayInterrupt || grace !== undefined) continue
      // It may have gone on while the turn was recorded, and have said so: a tool that it began since is not cut off.
      if (agent.worksAhead === true && !hasLooked && end === undefined) {
        hasLooked = true
        ahead = steps.next()
        if (await isThere(ahead)) continue
      }
      interrupt()
    }
  } finally {
    clearTimeout(grace)
    // Whoever left early wants nothing to be running; what does not come to its end is given up.
    if (end === undefined) ending.abort(new Error('The agent was left.'))
    await wait.for(steps.return()).catch(() => undefined)
    if (end === undefined || run.signal.aborted) await desk.leave(steps.rest())
  }
  run.throwIfStopped()
  if (ending.signal.reason instanceof AgentSilent && desk.leaving === undefined) {
    await desk.leave()
    throw ending.signal.reason
  }
  return concluded(run, desk, end)
}

/** Tells an agent at work to bring it to a soft landing, when that is due and it can be told anything. */
const land = async (desk: TurnRecorder, agent: RunningAgent<unknown>, wait: BoundedWait): Promise<void> => {
  const text = desk.takeLanding()
  if (text === undefined || agent.tell === undefined) return
  try {
    await wait.for(agent.tell(text))
  } catch {
    return // it has ended, or cannot be told after all: then it is restarted where it is, as without
  }
  desk.told(text)
}

/** Timers take no more than this. */
const LONGEST_MS = 2_147_483_647

/** Waits for the agent, and ends one that says nothing for longer than it may. Whoever reads its messages may take their time. */
const whileHeard = async <T>(run: RunInProgress, ending: AbortController, next: () => Promise<T>): Promise<T> => {
  const idleMs = run.setting('idleTimeoutMs')
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
  const come = step.then(
    () => true,
    () => true,
  )
  return Promise.race([come, pauseFor(SOON_MS).then(() => false)])
}

type Next<Message> = { readonly heard: HeardStep<Message> } | { readonly end: RuntimeEnd | undefined }

/** The next step, or how it ended: what a runtime throws is its end, and not ours. */
const nextStep = async <Message>(
  run: RunInProgress<Message>,
  desk: TurnRecorder,
  next: () => ReturnType<StepReader<Message>['next']>,
): Promise<Next<Message>> => {
  try {
    const { done, value } = await next()
    return done === true ? { end: undefined } : { heard: value }
  } catch (error) {
    run.throwIfStopped()
    if (desk.leaving !== undefined) return { end: { type: 'interrupted' } }
    return { end: { type: 'failed', message: messageOf(error) } }
  }
}

const SILENT: RuntimeEnd = { type: 'failed', message: 'The agent ended without saying how.' }

const concluded = async (run: RunInProgress, desk: TurnRecorder, end: RuntimeEnd = SILENT): Promise<SessionOutcome> => {
  const { leaving } = desk
  if (leaving?.type === 'exhausted') {
    const { limit, isRefused = false } = leaving
    const { restartBudget } = run.conversation
    await desk.finish()
    const reason = isRefused ? describeLimit(limit, restartBudget) : describeStop(limit, restartBudget)
    // It may have done its work with the request that reached the limit.
    return !isRefused && end.type === 'idle'
      ? { type: 'over', outcome: 'completed' }
      : { type: 'over', outcome: 'exhausted', reason, limit }
  }
  if (leaving?.type === 'uncounted') {
    await desk.finish()
    throw uncountedEnd(run, leaving.uncounted)
  }
  if (leaving?.type === 'restart') {
    // It went on and finished before it could be interrupted: then there is nothing left to restart for, unless it landed.
    if (end.type !== 'idle' || !desk.hasMore || desk.hasLanded) return leaving
    await cancelRestart(run, leaving.handoff)
    desk.stay()
  }
  await desk.finish()
  switch (end.type) {
    case 'idle':
      return desk.hasLanded ? landed(run) : { type: 'over', outcome: 'completed' }
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

const cancelRestart = async (run: RunInProgress, handoff: HandoffMetadata): Promise<void> => {
  const reason = 'The work was finished before a fresh window was needed.'
  const end = { handoff, reason, holder: run.held.holder }
  run.update(unwrap(await run.retryThroughOutage((named) => run.deps.handoffs.cancelHandoff({ ...end, ...named }))))
  run.emit({ type: 'context:handoff:cancelled', handoffId: handoff.id, reason })
}

/** It stopped for a fresh window. One that cannot be had ends the work here, and the work is not done. */
const landed = async (run: RunInProgress): Promise<SessionOutcome> => {
  const reason = 'The agent brought its work to a soft landing, because its window was filling up.'
  const { handoff, refusedBy } = await restartHeldSession(run, reason, [])
  if (handoff !== undefined) return { type: 'restart', handoff }
  if (refusedBy === undefined) return { type: 'over', outcome: 'failed', reason }
  const { restartBudget } = run.conversation
  return { type: 'over', outcome: 'exhausted', reason: describeLimit(refusedBy, restartBudget), limit: refusedBy }
}

/** The window took no more. A fresh one goes on without a checkpoint: the old one has no room to write it. */
const overflowed = async (run: RunInProgress, message: string): Promise<SessionOutcome> => {
  const { session } = run.held
  const failed: SessionOutcome = { type: 'over', outcome: 'failed', reason: message }
  if (run.policy !== 'auto' || session.progress.turns === 0) return failed
  const { handoff, refusedBy } = await restartHeldSession(run, `The context window overflowed: ${message}`, [
    'window_overflowed',
  ])
  if (handoff !== undefined) return { type: 'restart', handoff }
  if (refusedBy === undefined) return failed
  const { restartBudget } = run.conversation
  const reason = describeLimit(refusedBy, restartBudget)
  return mayCarryOn(refusedBy, restartBudget)
    ? failed
    : { type: 'over', outcome: 'exhausted', reason, limit: refusedBy }
}
