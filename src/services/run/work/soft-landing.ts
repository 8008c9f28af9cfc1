import { DEFAULT_SOFT_LANDING, hasLanded, softLandingText } from '../../../domain/run/soft-landing.ts'
import { CRITICAL, RESTART } from '../../../domain/window/milestone.ts'
import type { RecordedTurns } from '../../commands/answers.ts'
import { hasHooks } from '../hooks/hook-calls.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import type { RunTerms } from '../run-terms.ts'
import { policyOf } from '../run-window.ts'

/** The parts of a run that a soft landing is decided by. */
type Landing = RunTerms & Pick<RunInProgress, 'conversation' | 'held' | 'news'>

/** Brings the work of one launched agent to an end that a successor can pick up, before its window is full. */
export class SoftLanding {
  readonly #run: Landing
  #due: string | undefined
  #mayStop = false
  #isDelivered = false
  #lastAnswer = ''

  constructor(run: Landing) {
    this.#run = run
  }

  /** Looks whether the turns that were recorded make it due. Milestones signal once per cycle, and so does this. */
  consider({ session, signals = [] }: RecordedTurns): void {
    const { held, conversation } = this.#run
    const isReached = signals.some(({ milestone, aboutId }) => milestone === CRITICAL && aboutId === session.id)
    const text = this.#run.setting('softLanding') ?? DEFAULT_SOFT_LANDING
    const isRestarted =
      policyOf(this.#run) === 'auto' && held.monitor?.milestones.some(({ name }) => name === RESTART) === true
    if (!isReached || text === false || !isRestarted) return
    // Where hooks decide, or the work is to go on without a restart, whoever stops is taken to be done.
    const { whenExhausted } = conversation.restartBudget
    this.#mayStop = whenExhausted === 'stop' && !hasHooks(this.#run, 'on_context_threshold')
    this.#due = softLandingText(text, { mayStop: this.#mayStop })
  }

  /** The text that is to be said now, once. */
  takeDue(): string | undefined {
    const due = this.#due
    this.#due = undefined
    return due
  }

  /** It was said, and heard as far as anybody knows. */
  delivered(): void {
    this.#isDelivered = true
    this.#lastAnswer = ''
    this.#run.news.emit({ type: 'context:landing', sessionId: this.#run.held.session.id, ...this.#run.held.figures() })
  }

  hear(answer: string): void {
    this.#lastAnswer = answer
  }

  /** Whether the agent has stopped for a fresh window, and says so. */
  get hasLanded(): boolean {
    return this.#isDelivered && this.#mayStop && hasLanded(this.#lastAnswer)
  }
}
