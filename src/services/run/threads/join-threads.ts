import { describeStop } from '../../../domain/budget/restart-budget.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { HandoffId } from '../../../domain/kernel/ids.ts'
import { inQuotes } from '../../../domain/kernel/safe-text.ts'
import type { DelegatedThread } from '../../../domain/thread/delegated-thread.ts'
import { outcomeOnRecord, type ThreadOutcome, threadReport } from '../../../domain/thread/thread-report.ts'
import { joinedPrompt } from '../../../domain/turn/message.ts'
import { outsideHandoffAfter, unlessTakenOver } from '../lease.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import { type Launcher, resumeIn } from '../work/launch.ts'
import { emitLimitReached } from '../work/limits.ts'
import { owedRestart, restartInstead, type SessionOutcome } from '../work/session-outcome.ts'
import { adoptThreads } from './adopt-threads.ts'

const LOOK_AGAIN_MS = { least: 250, most: 5_000 }
const SLOWER = 1.6
const LATEST = 50

/**
 * Waits for the threads of a conversation whose agent has stopped, records their outcomes, each once, and reports them
 * to the agent: in its session, or in a fresh window where the session cannot be resumed.
 *
 * @returns the next launch; undefined when there was no thread to wait for
 */
export const joinThreads = async <Message>(
  run: RunInProgress<Message>,
  outcome: SessionOutcome,
): Promise<Launcher<Message> | SessionOutcome | undefined> => {
  if (outcome.type !== 'over' || outcome.outcome !== 'completed') return undefined
  const threads = await waitForAll(run)
  if (threads.length === 0) return undefined
  const outcomes = await Promise.all(threads.map((thread) => outcomeOf(run, thread)))
  const texts = threads.map((thread, index) =>
    threadReport(thread, outcomes[index] as ThreadOutcome, run.deps.ids.next()),
  )
  const messages = threads.map(({ handoff }, index) => ({
    role: 'user' as const,
    origin: 'batonpass' as const,
    text: texts[index] ?? '',
    reports: handoff.id,
  }))
  const request = { ...run.held.working, turns: [{ messages }], withholdRestart: true }
  const answer = await run.retryThroughOutage((named) => run.deps.handoffs.recordTurns({ ...request, ...named }))
  const handoff = answer.ok ? undefined : await outsideHandoffAfter(run, answer.error)
  if (handoff !== undefined) return { type: 'restart', handoff }
  run.held.update(unlessTakenOver(run, answer))
  for (const [index, thread] of threads.entries()) emitThreadEnd(run, thread, outcomes[index] as ThreadOutcome)
  if (isOutOfTurns(run)) return outOfTurns(run)
  const owed = await owedRestart(run)
  if (owed !== undefined) return owed
  const { providerSessionId } = run.held.session
  const resumed = providerSessionId && resumeIn(run, providerSessionId, { prompt: joinedPrompt(texts) })
  return resumed || restartInstead(run, CANNOT_RESUME, [])
}

/** The reports of its threads would begin another turn of the agent: whether the run may have no more turns. */
const isOutOfTurns = ({ account, setting }: RunInProgress): boolean =>
  account.turns >= (setting('maxTurns') ?? Number.POSITIVE_INFINITY)

const outOfTurns = (run: RunInProgress): SessionOutcome => {
  emitLimitReached(run, 'turns')
  const reason = describeStop('turns', run.conversation.restartBudget)
  return { type: 'over', outcome: 'exhausted', reason, limit: 'turns' }
}

const CANNOT_RESUME = 'Its threads have ended, and its runtime cannot resume a session.'

const emitThreadEnd = (
  run: RunInProgress,
  { handoff, session }: DelegatedThread,
  { outcome, reason }: ThreadOutcome,
): void => {
  const { id: handoffId, targetAgent: toAgent } = handoff
  const about = { handoffId, toAgent, threadId: session.conversationId }
  run.news.emit({ type: 'thread:end', ...about, outcome, reason: reason ?? null })
}

/** Waits until every thread has ended, in this process or in another one. */
const waitForAll = async (run: RunInProgress): Promise<readonly EndedThread[]> => {
  let isWarned = false
  for (let waitMs = LOOK_AGAIN_MS.least; ; waitMs = Math.min(LOOK_AGAIN_MS.most, Math.ceil(waitMs * SLOWER))) {
    // Read before the record: the end of every thread that has ended by now is then in the record.
    const counted = run.threads.ends
    const seen = { stopped: run.threads.stopped(), running: run.threads.running() }
    const waited = (await adoptThreads(run)).map((thread) => withEnd(thread, seen))
    const open = waited.filter(({ end }) => end === undefined)
    if (open.length === 0) return waited as readonly EndedThread[]
    run.signal.throwIfAborted()
    if (waitMs > LOOK_AGAIN_MS.least && !isWarned) isWarned = warnOfElsewhere(run, open)
    await run.threads.nextEnd(counted, { waitMs, signal: run.signal })
  }
}

/** Warns of a thread that is waited for and that another process runs. */
const warnOfElsewhere = (run: RunInProgress, open: readonly DelegatedThread[]): boolean => {
  const elsewhere = open.find(({ handoff }) => !run.threads.isRunning(handoff.id))
  if (elsewhere === undefined) return false
  const { conversationId, agentName } = elsewhere.session
  const message = `The run waits for thread ${conversationId} of ${inQuotes(agentName)}, which it does not run itself.`
  run.news.emit({ type: 'run:warning', code: 'thread.waits', message })
  return true
}

/** A thread that has ended. */
interface EndedThread extends DelegatedThread {
  readonly end: Omit<ThreadOutcome, 'answer'>
}

/** The threads of this process before the record was read: those that it runs, and those that it cannot continue. */
interface ThreadsSeen {
  readonly stopped: ReadonlyMap<HandoffId, string>
  readonly running: ReadonlySet<HandoffId>
}

/**
 * A thread with its end: the one on record, or else that this process could not continue it. A thread that runs here
 * has no end yet, even if a session of it has: a session that cannot be resumed is failed before the next one begins.
 */
const withEnd = (
  thread: DelegatedThread,
  { stopped, running }: ThreadsSeen,
): DelegatedThread & Partial<EndedThread> => {
  if (running.has(thread.handoff.id)) return thread
  const reason = stopped.get(thread.handoff.id)
  const stoppedHere = reason === undefined ? undefined : { outcome: 'stopped' as const, reason }
  return { ...thread, ...defined({ end: outcomeOnRecord(thread.session) ?? stoppedHere }) }
}

const outcomeOf = async (run: RunInProgress, { session, end }: EndedThread): Promise<ThreadOutcome> => {
  const latest = await run.retryThroughOutage(() => run.deps.store.messages.listLatest(session.id, LATEST))
  const answer = latest.findLast(({ role, text }) => role === 'assistant' && text.trim() !== '')?.text
  return { ...end, ...defined({ answer }) }
}
