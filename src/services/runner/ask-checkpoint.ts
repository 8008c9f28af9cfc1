import { citedIn } from '../../domain/checkpoint-citation.ts'
import { type CheckpointFacts, factsOfReview } from '../../domain/checkpoint-facts.ts'
import { checkpointPrompt } from '../../domain/checkpoint-prompt.ts'
import { type CheckpointReview, reviewCheckpoint } from '../../domain/checkpoint-review.ts'
import { checkpointIn } from '../../domain/checkpoint-text.ts'
import { DEFAULT_CHECKPOINT_TIMEOUT_MS } from '../../domain/configuration.ts'
import { taskOf } from '../../domain/conversation.ts'
import { defined } from '../../domain/defined.ts'
import type { HandoffFlag, HandoffMetadata } from '../../domain/handoff.ts'
import type { UsageTotals } from '../../domain/usage-reading.ts'
import type { RuntimeReply } from '../../ports/agent-runtime.ts'
import { recording } from './agent-processes.ts'
import { AskingCost } from './asking-cost.ts'
import { messageOf } from './run-errors.ts'
import type { RunInProgress } from './run-in-progress.ts'

/** What became of asking: the text if there is one, and what to say about it. */
export interface CheckpointAsked {
  readonly document?: string
  readonly flags: readonly HandoffFlag[]
  readonly checkpoint: CheckpointFacts
}

/** There is no checkpoint, and nobody was asked. */
export const notAsked = (reason: string): CheckpointAsked => ({
  flags: ['minimal_continuation', 'checkpoint_skipped'],
  checkpoint: { outcome: 'skipped', reason },
})

/** Timers take no more than this. */
const LONGEST_MS = 2_147_483_647

/** Asks the outgoing agent for a checkpoint: once, in its old session, within its time. */
export const askForCheckpoint = async (run: RunInProgress, handoff: HandoffMetadata): Promise<CheckpointAsked> => {
  const { providerSessionId } = run.held.session
  const { runtime } = run.request
  if (runtime.ask === undefined || providerSessionId === undefined)
    return notAsked(runtime.ask === undefined ? 'Its runtime cannot be asked.' : 'It was never launched.')
  const limitMs = run.setting('checkpointTimeoutMs') ?? DEFAULT_CHECKPOINT_TIMEOUT_MS
  const withinMs = Math.min(limitMs, (await run.remainingMs()) ?? limitMs, LONGEST_MS)
  if (withinMs <= 0) return timedOut(0)
  const timeout = AbortSignal.timeout(Math.ceil(withinMs))
  const signal = AbortSignal.any([run.signal, timeout])
  const cost = new AskingCost(run)
  let reply: RuntimeReply
  try {
    const about = { providerSessionId, prompt: questionFor(run, handoff), model: run.held.session.model }
    const told = { onProcess: recording(run), onUsage: cost.take }
    const question = { ...defined({ ...about, workspace: run.workspace }), signal, ...told }
    // Waited for no longer than that, whatever the runtime does with its signal.
    reply = await Promise.race([runtime.ask(question), aborted(signal)])
  } catch (error) {
    if (signal.aborted) cost.cutOff()
    run.throwIfStopped()
    return timeout.aborted ? timedOut(withinMs, cost.totals) : failed(error, cost.totals)
  }
  if (reply.totals !== undefined) cost.take(reply.totals)
  return readReply(run, reply.text, cost.totals)
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })

const questionFor = (run: RunInProgress, { triggeringToolCalls: toolCalls }: HandoffMetadata): string => {
  const originalTask = taskOf(run.conversation)
  const template = run.setting('template')
  return typeof template === 'function'
    ? template({ originalTask, toolCalls })
    : checkpointPrompt({ originalTask, toolCalls }, template)
}

const readReply = async (
  run: RunInProgress,
  text: string,
  totals: UsageTotals | undefined,
): Promise<CheckpointAsked> => {
  const { text: written, isMissing } = checkpointIn(text)
  if (isMissing)
    return {
      flags: ['minimal_continuation', 'checkpoint_missing'],
      checkpoint: defined({ outcome: 'missing' as const, totals }),
    }
  const review = await reviewed(run, written)
  return { document: review.text, flags: [], checkpoint: factsOfReview(review, totals) }
}

/** Holds a checkpoint against what was recorded in the conversation. */
export const reviewed = async (run: RunInProgress, text: string): Promise<CheckpointReview> => {
  const cited = citedIn(text)
  const find = () => run.deps.store.messages.findToolCalls(run.conversation.id, cited)
  const known = cited.length === 0 ? [] : await run.steadily(find)
  return reviewCheckpoint(text, { knownCalls: new Set(known.map(({ callId }) => callId)) })
}

const timedOut = (withinMs: number, totals?: UsageTotals): CheckpointAsked => ({
  flags: ['minimal_continuation', 'checkpoint_timed_out'],
  checkpoint: defined({
    outcome: 'timed_out' as const,
    reason: `There was no answer within ${Math.max(0, Math.round(withinMs))} ms.`,
    totals,
  }),
})

const failed = (error: unknown, totals: UsageTotals | undefined): CheckpointAsked => ({
  flags: ['minimal_continuation', 'checkpoint_failed'],
  checkpoint: defined({ outcome: 'failed' as const, reason: messageOf(error), totals }),
})
