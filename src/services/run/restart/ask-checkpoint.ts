import { citedIn } from '../../../domain/checkpoint/checkpoint-citation.ts'
import { type CheckpointFacts, factsOfReview } from '../../../domain/checkpoint/checkpoint-facts.ts'
import { type CheckpointReview, reviewCheckpoint } from '../../../domain/checkpoint/checkpoint-review.ts'
import { checkpointIn } from '../../../domain/checkpoint/checkpoint-text.ts'
import type { HandoffFlag, HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { DEFAULT_CHECKPOINT_TIMEOUT_MS } from '../../../domain/run/configuration.ts'
import { RuntimeFailure } from '../../../ports/agent/runtime-failure.ts'
import { messageOf } from '../run-errors.ts'
import type { RecordOfRun, RunInProgress } from '../run-in-progress.ts'
import { isOutOfMoney, remainingMs } from '../work/limits.ts'
import { CheckpointInterview } from './checkpoint-interview.ts'
import { checkpointRequestFor, questionText } from './checkpoint-question.ts'

/** The outcome of interview: the text if there is one, and its flags. */
export interface CheckpointAsked {
  readonly document?: string
  readonly flags: readonly HandoffFlag[]
  readonly checkpoint: CheckpointFacts
}

/** There is no checkpoint. The record is recapped in its place. */
const without = (flag: HandoffFlag, checkpoint: CheckpointFacts): CheckpointAsked => ({
  flags: ['minimal_continuation', flag, 'recap_from_record'],
  checkpoint,
})

/** There is no checkpoint, and nobody was asked. */
export const notAsked = (reason: string): CheckpointAsked =>
  without('checkpoint_skipped', { outcome: 'skipped', reason })

/** Timers take no more than this. */
const LONGEST_MS = 2_147_483_647

/** Said before the same question. The session does not remember the first: it is asked and not written. */
const AGAIN =
  'You were asked this before, and answered without a word: with a tool call, or with nothing. There is no tool to use ' +
  'here. Answer in words alone.'

/**
 * Asks the outgoing agent for a checkpoint, in its old session and within its time: once, and a second time when it did
 * not answer in words.
 */
export const askForCheckpoint = async (run: RunInProgress, handoff: HandoffMetadata): Promise<CheckpointAsked> => {
  const { providerSessionId } = run.held.session
  const { runtime } = run.request
  if (runtime.ask === undefined || providerSessionId === undefined)
    return notAsked(runtime.ask === undefined ? 'Its runtime cannot be asked.' : 'It was never launched.')
  const limitMs = run.setting('checkpointTimeoutMs') ?? DEFAULT_CHECKPOINT_TIMEOUT_MS
  const withinMs = Math.min(limitMs, (await remainingMs(run)) ?? limitMs, LONGEST_MS)
  if (withinMs <= 0) return timedOut(0)
  const request = await checkpointRequestFor(run, handoff)
  const interview = new CheckpointInterview(run, { ask: runtime.ask.bind(runtime), providerSessionId, withinMs })
  let answer = await interview.put(() => questionText(run, request))
  // It costs as much as the first time: not where the money is gone, nor where the time is.
  const mayAskAgain = isWordless(answer) && !interview.isOver && !isOutOfMoney(run)
  if (mayAskAgain) answer = await interview.put(() => `${AGAIN}\n\n${questionText(run, request)}`)
  return concluded(run, { answer, interview, withinMs })
}

/** The answer to one question: words, or the error. */
type Answer = Awaited<ReturnType<CheckpointInterview['put']>>

const isWordless = (answer: Answer): boolean =>
  'text' in answer
    ? checkpointIn(answer.text).isMissing
    : answer.error instanceof RuntimeFailure && answer.error.code === 'runtime.no_words'

const concluded = async (
  run: RecordOfRun,
  asked: { readonly answer: Answer; readonly interview: CheckpointInterview; readonly withinMs: number },
): Promise<CheckpointAsked> => {
  const { answer, interview, withinMs } = asked
  const attempts = interview.attempts > 1 ? interview.attempts : undefined
  const told = defined({ attempts, totals: interview.totals })
  if ('error' in answer) {
    if (interview.isOver) return timedOut(withinMs, told)
    return without('checkpoint_failed', { outcome: 'failed', reason: messageOf(answer.error), ...told })
  }
  const { text, isMissing, isTagged } = checkpointIn(answer.text)
  if (isMissing) return without('checkpoint_missing', { outcome: 'missing', ...told })
  const review = await reviewed(run, text)
  // Where a template of one's own asks for no tags, there are none to be missed.
  const isUnstructured = !isTagged && review.sections.length === 0 && interview.question.includes('<checkpoint>')
  return {
    document: review.text,
    flags: isUnstructured ? ['checkpoint_unstructured'] : [],
    checkpoint: { ...factsOfReview(review), ...told },
  }
}

/** Holds a checkpoint against what was recorded in the conversation. */
export const reviewed = async (run: RecordOfRun, text: string): Promise<CheckpointReview> => {
  const cited = citedIn(text)
  const find = () => run.deps.store.messages.findToolCalls(run.conversation.id, cited)
  const known = cited.length === 0 ? [] : await run.retryThroughOutage(find)
  return reviewCheckpoint(text, { knownCalls: new Set(known.map(({ callId }) => callId)) })
}

const timedOut = (withinMs: number, told: Pick<CheckpointFacts, 'attempts' | 'totals'> = {}): CheckpointAsked => {
  const reason = `There was no answer within ${Math.max(0, Math.round(withinMs))} ms.`
  return without('checkpoint_timed_out', { outcome: 'timed_out', reason, ...told })
}
