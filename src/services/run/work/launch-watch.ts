import { defined } from '../../../domain/kernel/defined.ts'
import type { UsageTotals } from '../../../domain/window/usage-reading.ts'
import { WindowGauge } from '../../../domain/window/window-gauge.ts'
import type { RuntimeStep } from '../../../ports/agent/agent-runtime.ts'
import { TurnCollector } from '../../window/turn-collector.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import { LaunchAccount, type Paying } from './launch-account.ts'
import { isOutOfMoney } from './limits.ts'
import { RunningTools } from './running-tools.ts'
import type { Leaving } from './session-leaving.ts'
import { UsableSteps } from './usable-steps.ts'

/** A step of an agent, and whether a limit of its run is reached with it. */
export interface HeardStep<Message> {
  readonly step: RuntimeStep<Message>
  /** The session's total usage by now, when the step has changed it. */
  readonly totals?: UsageTotals
  /** Set once the budget for the cost is spent, or the cost cannot be counted. */
  readonly money?: Exclude<Leaving, { type: 'restart' }>
  /** Whether the run has had all the turns that it may have. */
  readonly isOutOfTurns: boolean
}

/**
 * Counts the usage of an agent when a step is read, and so before it is recorded: a fast agent may be many turns ahead
 * of its record, and must not exceed its limits for that long.
 */
export class LaunchWatch {
  readonly #run: Paying
  readonly #usable = new UsableSteps()
  readonly #gauge: WindowGauge
  readonly #collector: TurnCollector
  readonly #account: LaunchAccount
  readonly #limit: TurnLimit
  readonly #tools = new RunningTools()
  #isOutOfTurns = false

  constructor(run: Paying) {
    this.#run = run
    this.#gauge = new WindowGauge({ runtime: run.request.runtime.backend })
    this.#collector = new TurnCollector({ keep: (reading) => reading, sha256: run.deps.sha256 })
    this.#account = new LaunchAccount(run)
    this.#limit = new TurnLimit(run)
  }

  take<Message>(given: RuntimeStep<Message>): HeardStep<Message> {
    const step = this.#usable.take(given)
    const isNewTurn = this.#beginsTurn(step)
    const model = this.#gauge.history().model ?? this.#run.held.model
    const totals = this.#account.take(step, { model, isNewTurn })
    this.#tools.take(step, isNewTurn)
    this.#isOutOfTurns ||= this.#limit.take(step, isNewTurn)
    return { step, ...defined({ totals, money: this.#money() }), isOutOfTurns: this.#isOutOfTurns }
  }

  /**
   * Whether the agent is to be stopped now. The next request would cost money, so a limit on the cost waits for no
   * tool.
   */
  get shouldStop(): boolean {
    return this.#money() !== undefined || (this.#isOutOfTurns && !this.#tools.areRunning)
  }

  #money(): HeardStep<unknown>['money'] {
    if (isOutOfMoney(this.#run)) return { type: 'exhausted', limit: 'cost' }
    const { uncounted } = this.#account
    return uncounted && { type: 'uncounted', uncounted }
  }

  /** Finds new turns in the same way as the record does; the words of the texts do not matter. */
  #beginsTurn({ events, texts, beginsTurn = false }: RuntimeStep<unknown>): boolean {
    const { begun } = this.#collector
    const taken = this.#gauge.take(events)
    const wordless = texts.map((text) => ({ ...text, text: '' }))
    const isNewTurn = taken.isNewTurn || beginsTurn
    this.#collector.take({ events: taken.events, texts: wordless, isNewTurn, reading: this.#gauge.reading() })
    return this.#collector.begun > begun
  }
}

/** Counts the turns of a run. The last turn that it may have ends when its tools have answered. */
class TurnLimit {
  readonly #most: number
  /** Turns of the run so far, with the open one. */
  #turns: number
  #toolsAtWork = 0

  constructor(run: Pick<RunInProgress, 'setting' | 'account'>) {
    this.#most = run.setting('maxTurns') ?? Number.POSITIVE_INFINITY
    this.#turns = run.account.turns
  }

  /** @returns whether this step ends the last turn that the run may have */
  take({ events, texts }: RuntimeStep<unknown>, isNewTurn: boolean): boolean {
    const calls = events.filter(({ type }) => type === 'tool_call').length
    const answers = texts.filter(({ role }) => role === 'tool').length
    this.#toolsAtWork = (isNewTurn ? 0 : this.#toolsAtWork) + calls - answers
    if (isNewTurn) this.#turns += 1
    const isWorkedOff = this.#turns === this.#most && answers > 0 && this.#toolsAtWork <= 0
    return isWorkedOff || this.#turns > this.#most
  }
}
