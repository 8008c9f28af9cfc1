import { describeLimit, describeStop } from '../../../domain/budget/restart-budget.ts'
import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import { cutText } from '../../../domain/kernel/cut-text.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { AgentSession } from '../../../domain/session/agent-session.ts'
import { RefusedError } from '../../../domain/unwrap.ts'
import { noteUnsaidTask } from '../open/unsaid-task.ts'
import { type Placed, type RecordOfRun, type RunInProgress, runWorkspace } from '../run-in-progress.ts'
import { LaunchWatch } from '../work/launch-watch.ts'
import { uncountedEnd } from '../work/limits.ts'
import type { Leaving } from '../work/session-leaving.ts'
import type { SessionOutcome } from '../work/session-outcome.ts'
import { TurnRecorder } from '../work/turn-recorder.ts'
import { RecordedSession } from './recorded-session.ts'

/**
 * Reads the work that the record lacks back from the transcript of the runtime, once this run holds the session. It is
 * recorded like everything from an agent: redacted, turn by turn, and a turn that fills the window leads to a restart.
 *
 * @returns how the session is left, when the recorded turns lead to that
 */
export const readBackWork = async (
  run: RunInProgress,
  providerSessionId: string,
): Promise<SessionOutcome | undefined> => {
  const leaving = await readBack(run, providerSessionId)
  if (leaving?.type === 'restart') return leaving
  if (leaving === undefined) return undefined
  if (leaving.type === 'uncounted') throw uncountedEnd(run, leaving.uncounted)
  const { limit, isRefused = false } = leaving
  const describe = isRefused ? describeLimit : describeStop
  return { type: 'over', outcome: 'exhausted', reason: describe(limit, run.conversation.restartBudget), limit }
}

/**
 * As {@link readBackWork}, for a session that a handoff holds: the missing work belongs to the turn that led to the
 * handoff.
 */
export const readBackUnderHandoff = async (run: RunInProgress, handoff: HandoffMetadata): Promise<void> => {
  const { session } = run.held
  if (handoff.checkpoint !== undefined) return extractOf(run, handoff, session)
  if (session.providerSessionId !== undefined)
    await readBack(run, session.providerSessionId, { type: 'restart', handoff })
}

/** As {@link readBackWork}, for a session that was handed off: the missing work is stored with its handoff. */
export const readBackSource = async (run: Reading & Pick<RunInProgress, 'held'>): Promise<void> => {
  const { initiatedByHandoff } = run.held.session
  const { history } = run.deps
  const handoff = initiatedByHandoff && (await run.retryThroughOutage(() => history.handoff(initiatedByHandoff)))
  const source = handoff && (await run.retryThroughOutage(() => history.session(handoff.sourceSessionId)))
  // The source of a thread still works, and records its own messages.
  if (handoff && source && handoff.kind !== 'thread') await extractOf(run, handoff, source)
}

/** The parts of a run that read a transcript beside the record. */
type Reading = RecordOfRun & Placed

const LONGEST_EXTRACT = 1_000_000

const extractOf = async (run: Reading, handoff: HandoffMetadata, source: AgentSession): Promise<void> => {
  const { providerSessionId } = source
  const { runtime } = run.request
  if (handoff.extract !== undefined || providerSessionId === undefined || source.backend !== runtime.backend) return
  const recorded = await run.retryThroughOutage(() => RecordedSession.of(run, source))
  const missing: string[] = []
  for await (const step of runtime.transcript?.(transcriptOf(run, providerSessionId)) ?? []) {
    const { events, texts } = recorded.missingOf(step) ?? { events: [], texts: [] }
    const words = texts.map(({ role, text }) => `${role}: ${text}`)
    const calls = events.flatMap((event) => (event.type === 'tool_call' ? [event] : []))
    missing.push(...words, ...calls.map(({ toolName, callId }) => `tool call: ${toolName} (${callId ?? 'unnamed'})`))
  }
  if (missing.length === 0) return
  const { redact = (words: string) => words, sha256 } = run.deps
  // Redacted before it is cut, so that no part of a secret stands at its end.
  const { text, cut } = cutText(redact(missing.join('\n\n')), LONGEST_EXTRACT, sha256)
  const extract = cut === undefined ? text : `${text}\n\n[cut: ${cut.length} characters, sha256 ${cut.sha256}]`
  const request = { handoff: handoff.id, extract }
  const answer = await run.retryThroughOutage((named) => run.deps.handoffs.keepExtract({ ...request, ...named }))
  // Another process was first, and has read the same.
  if (!answer.ok && answer.error.code !== 'handoff.extracted') throw new RefusedError(answer.error)
}

const transcriptOf = (run: Placed, providerSessionId: string) => ({
  providerSessionId,
  ...defined({ workspace: runWorkspace(run) }),
})

const readBack = async (
  run: RunInProgress,
  providerSessionId: string,
  leaving?: Leaving,
): Promise<Leaving | undefined> => {
  const { runtime } = run.request
  if (runtime.transcript === undefined || runtime.backend !== run.held.session.backend) return undefined
  const recorded = await run.retryThroughOutage(() => RecordedSession.of(run, run.held.session))
  const recorder = new TurnRecorder(run, {
    ...{ prompt: '', unrecorded: [], channel: 'transcript' },
    ...(leaving !== undefined && { leaving }),
  })
  const watch = new LaunchWatch(run)
  let isBehind = false
  for await (const step of runtime.transcript(transcriptOf(run, providerSessionId))) {
    run.signal.throwIfAborted()
    const missing = recorded.missingOf(step)
    isBehind ||= missing !== undefined
    // Some runtimes report the usage of a request after its answer. It is missing only after a missing answer.
    const isAboutMissing = isBehind && step.texts.length === 0
    if (missing !== undefined || isAboutMissing) await recorder.take(watch.take(missing ?? step))
    else recorder.skip(step)
  }
  await recorder.settle()
  // A lost process may have sent the task to the agent without recording that.
  if (isBehind) await noteUnsaidTask(run)
  return recorder.leaving === leaving ? undefined : recorder.leaving
}
