import { defined } from '../../../domain/kernel/defined.ts'
import { threadOffer } from '../../../domain/thread/thread-offer.ts'
import type { RecordedTurns } from '../../commands/answers.ts'
import type { RunInProgress } from '../run-in-progress.ts'

/** Says what was recorded of one launched agent: its turns, with how long each took, and the milestones that they reached. */
export class TurnNews {
  readonly #run: Pick<RunInProgress, 'held' | 'news' | 'log' | 'spans' | 'deps' | 'conversation'>
  #lastTurnMs = performance.now()

  constructor(run: Pick<RunInProgress, 'held' | 'news' | 'log' | 'spans' | 'deps' | 'conversation'>) {
    this.#run = run
  }

  /** Says that turns were recorded, answered by this model. */
  tell(recorded: RecordedTurns, model: string | undefined): void {
    this.#run.held.answeredBy(model)
    const now = performance.now()
    tellTurns(this.#run, recorded, now - this.#lastTurnMs)
    this.#lastTurnMs = now
    tellMilestones(this.#run, recorded)
  }
}

/** Says which turns were recorded, to whoever listens, watches or reads the log. */
const tellTurns = (
  run: Pick<RunInProgress, 'held' | 'news' | 'log' | 'spans'>,
  { session, turns }: RecordedTurns,
  durationMs: number,
): void => {
  const figures = run.held.figures()
  const { id: sessionId } = session
  for (const { number, toolCalls: calls, usage } of turns) {
    const toolCalls = calls.map(({ callId, toolName }) => ({ callId, toolName }))
    run.news.emit({ type: 'turn:recorded', sessionId, turn: number, toolCalls, ...figures })
    if (usage.state === 'unknown') run.log.missing('usage', { sessionId, turn: number })
    const tokens =
      usage.state === 'metered' ? { inputTokens: usage.promptTokens, outputTokens: usage.outputTokens } : {}
    const toolNames = toolCalls.map(({ toolName }) => toolName)
    run.spans.turn({ number, ...defined({ model: run.held.answeringModel }), ...tokens, toolNames, durationMs })
  }
}

/** Says which milestones the recorded turns have reached. */
const tellMilestones = (
  run: Pick<RunInProgress, 'held' | 'news' | 'deps' | 'conversation'>,
  { session, signals = [] }: RecordedTurns,
): void => {
  for (const { milestone, recipientId } of signals) {
    if (milestone === undefined || recipientId !== session.id) continue
    run.news.emit({ type: 'context:milestone', sessionId: session.id, milestone, ...run.held.figures() })
    if (milestone !== run.deps.threads?.offerAt) continue
    const message = threadOffer(run.conversation.id, milestone)
    run.news.emit({ type: 'run:warning', code: 'thread.offered', message })
  }
}
