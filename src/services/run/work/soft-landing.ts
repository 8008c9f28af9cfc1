import { DEFAULT_SOFT_LANDING, hasLanded, softLandingText } from '../../../domain/run/soft-landing-text.ts'
import { CRITICAL, RESTART } from '../../../domain/window/milestone.ts'
import type { RecordedTurns } from '../../commands/answers.ts'
import { hasHookFor } from '../hooks/hook-calls.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import type { RunTerms } from '../run-terms.ts'
import { policyOf } from '../run-window.ts'

/** The parts of a run that a soft landing is decided by. */
type Landing = RunTerms & Pick<RunInProgress, 'conversation' | 'held' | 'news'>

/** Asks one launched agent to finish its unit of work before its window is full, so that a successor can continue. */
export class SoftLanding {
  readonly #run: Landing
  #due: string | undefined
  #mayStop = false
  #isDelivered = false
  #lastAnswer = ''

  constructor(run: Landing) {
    this.#run = run
  }

  /** Makes the text due when the recorded turns have reached the critical milestone, which they do once per cycle. */
  consider({ session, signals = [] }: RecordedTurns): void {
    const { held, conversation } = this.#run
    const isReached = signals.some(({ milestone, aboutId }) => milestone === CRITICAL && aboutId === session.id)
    const text = this.#run.setting('softLanding') ?? DEFAULT_SOFT_LANDING
    const isRestarted =
      policyOf(this.#run) === 'auto' && held.monitor?.milestones.some(({ name }) => name === RESTART) === true
    if (!isReached || text === false || !isRestarted) return
    // Where hooks decide, or the work continues without a restart, an agent that stops counts as done, so it must not
    // stop.
    const { whenExhausted } = conversation.restartBudget
    this.#mayStop = whenExhausted === 'stop' && !hasHookFor(this.#run, 'on_context_threshold')
    this.#due = softLandingText(text, { mayStop: this.#mayStop })
  }

  /** The text to send to the agent now, once. */
  takeDue(): string | undefined {
    const due = this.#due
    this.#due = undefined
    return due
  }

  /** Notes that the agent was sent the text. */
  delivered(): void {
    this.#isDelivered = true
    this.#lastAnswer = ''
    this.#run.news.emit({ type: 'context:landing', sessionId: this.#run.held.session.id, ...this.#run.held.figures() })
  }

  /** Notes the latest answer of the agent. */
  hear(answer: string): void {
    this.#lastAnswer = answer
  }

  /** Whether the latest answer says that the agent has stopped for a fresh window. */
  get hasLanded(): boolean {
    return this.#isDelivered && this.#mayStop && hasLanded(this.#lastAnswer)
  }
}
