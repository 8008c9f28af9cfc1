import { citedIn } from '../../../domain/checkpoint/checkpoint-citation.ts'
import { type CheckpointFacts, factsOfReview } from '../../../domain/checkpoint/checkpoint-facts.ts'
import { type CheckpointReview, reviewCheckpoint } from '../../../domain/checkpoint/checkpoint-review.ts'
import { checkpointIn } from '../../../domain/checkpoint/checkpoint-text.ts'
import type { HandoffFlag, HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { DEFAULT_CHECKPOINT_TIMEOUT_MS } from '../../../domain/run/run-configuration.ts'
import { RuntimeFailure } from '../../../ports/agent/runtime-failure.ts'
import { messageOf } from '../run-errors.ts'
import type { RecordOfRun, RunInProgress } from '../run-in-progress.ts'
import { isOutOfMoney, remainingMs } from '../work/limits.ts'
import { CheckpointInterview } from './checkpoint-interview.ts'
import { checkpointQuestionText, checkpointRequestFor } from './checkpoint-question.ts'

/** The outcome of interview: the text if there is one, and its flags. */
export interface CheckpointAsked {
  readonly document?: string
  readonly flags: readonly HandoffFlag[]
  readonly checkpoint: CheckpointFacts
}

/** The outcome without a checkpoint: a recap of the record takes its place. */
const without = (flag: HandoffFlag, checkpoint: CheckpointFacts): CheckpointAsked => ({
  flags: ['minimal_continuation', flag, 'recap_from_record'],
  checkpoint,
})

/** The outcome when no agent was asked. */
export const notAsked = (reason: string): CheckpointAsked =>
  without('checkpoint_skipped', { outcome: 'skipped', reason })

/** The longest time that a timer takes. */
const LONGEST_MS = 2_147_483_647

/** Stands before the repeated question. The session has no record of the first one: asking does not change it. */
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
  let answer = await interview.put(() => checkpointQuestionText(run, request))
  // A second question costs as much as the first: it is not asked when the budget is spent or the time is over.
  const mayAskAgain = isWordless(answer) && !interview.isOver && !isOutOfMoney(run)
  if (mayAskAgain) answer = await interview.put(() => `${AGAIN}\n\n${checkpointQuestionText(run, request)}`)
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
  result: { readonly answer: Answer; readonly interview: CheckpointInterview; readonly withinMs: number },
): Promise<CheckpointAsked> => {
  const { answer, interview, withinMs } = result
  const attempts = interview.attempts > 1 ? interview.attempts : undefined
  const counted = defined({ attempts, totals: interview.totals })
  if ('error' in answer) {
    if (interview.isOver) return timedOut(withinMs, counted)
    return without('checkpoint_failed', { outcome: 'failed', reason: messageOf(answer.error), ...counted })
  }
  const { text, isMissing, isTagged } = checkpointIn(answer.text)
  if (isMissing) return without('checkpoint_missing', { outcome: 'missing', ...counted })
  const review = await reviewed(run, text)
  // Only a question that asks for the tag expects one: a template of the user's own may not.
  const isUnstructured = !isTagged && review.sections.length === 0 && interview.question.includes('<checkpoint>')
  return {
    document: review.text,
    flags: isUnstructured ? ['checkpoint_unstructured'] : [],
    checkpoint: { ...factsOfReview(review), ...counted },
  }
}

/** Reviews a checkpoint: checks the tool calls that it cites against the record. */
export const reviewed = async (run: RecordOfRun, text: string): Promise<CheckpointReview> => {
  const cited = citedIn(text)
  const find = () => run.deps.store.messages.findToolCalls(run.conversation.id, cited)
  const recorded = cited.length === 0 ? [] : await run.retryThroughOutage(find)
  return reviewCheckpoint(text, { knownCalls: new Set(recorded.map(({ callId }) => callId)) })
}

const timedOut = (withinMs: number, counted: Pick<CheckpointFacts, 'attempts' | 'totals'> = {}): CheckpointAsked => {
  const reason = `There was no answer within ${Math.max(0, Math.round(withinMs))} ms.`
  return without('checkpoint_timed_out', { outcome: 'timed_out', reason, ...counted })
}
