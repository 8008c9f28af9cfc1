import type { RunningAgent, RuntimeStep } from '../../../ports/agent/agent-runtime.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import type { HeardStep, LaunchWatch } from './launch-watch.ts'

/** Steps that are read ahead at most, far more than wait for a slow store; then the agent waits for its reader. */
const MOST_AHEAD = 10_000

type Over = { readonly error?: unknown }

/**
 * Reads the steps of an agent. Where it works ahead of its reader and has a limit, its steps are read and counted at
 * once, though they are recorded later, and the agent is stopped as soon as the limit is reached.
 */
export class StepReader<Message> {
  readonly #steps: AsyncIterator<RuntimeStep<Message>>
  readonly #watch: LaunchWatch
  readonly #readsAhead: boolean
  readonly #onLimit: () => void
  readonly #heard: HeardStep<Message>[] = []
  #over: Over | undefined
  #isReading = false
  #wake = (): void => undefined
  #makeRoom = (): void => undefined

  constructor(
    run: Pick<RunInProgress, 'conversation' | 'setting'>,
    { agent, watch, onLimit }: { agent: RunningAgent<Message>; watch: LaunchWatch; onLimit: () => void },
  ) {
    this.#steps = agent.steps[Symbol.asyncIterator]()
    this.#watch = watch
    this.#onLimit = onLimit
    const hasLimit = run.conversation.restartBudget.maxCostUsd !== undefined || run.setting('maxTurns') !== undefined
    this.#readsAhead = agent.worksAhead === true && hasLimit
  }

  async next(): Promise<IteratorResult<HeardStep<Message>, undefined>> {
    if (!this.#readsAhead) return this.#read()
    if (!this.#isReading) void this.#readAll()
    while (this.#heard.length === 0 && this.#over === undefined)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    const value = this.#heard.shift()
    this.#makeRoom()
    if (value !== undefined) return { done: false, value }
    if (this.#over !== undefined && 'error' in this.#over) throw this.#over.error
    return { done: true, value: undefined }
  }

  /** The steps that were read ahead and that nobody has taken. */
  rest(): readonly HeardStep<Message>[] {
    return this.#heard.splice(0)
  }

  /** Leaves the agent. */
  async return(): Promise<void> {
    this.#makeRoom()
    await this.#steps.return?.()
  }

  async #readAll(): Promise<void> {
    this.#isReading = true
    try {
      for (let next = await this.#read(); next.done !== true; next = await this.#read()) {
        this.#heard.push(next.value)
        if (this.#watch.shouldStop) this.#onLimit()
        this.#wake()
        while (this.#heard.length >= MOST_AHEAD)
          await new Promise<void>((resolve) => {
            this.#makeRoom = resolve
          })
      }
      this.#over = {}
    } catch (error) {
      this.#over = { error }
    }
    this.#wake()
  }

  async #read(): Promise<IteratorResult<HeardStep<Message>, undefined>> {
    const { done, value } = await this.#steps.next()
    return done === true ? { done, value: undefined } : { done: false, value: this.#watch.take(value) }
  }
}
