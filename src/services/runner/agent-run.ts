import type { RunEvent } from '../../domain/run-event.ts'
import type { RunSummary } from '../../domain/run-summary.ts'

/** What does the work of a run, once somebody iterates it. */
export type RunWork<Message> = (emit: (event: RunEvent) => void) => AsyncGenerator<Message, void>

/**
 * A run: iterate it for the agent's messages, listen to it for what happens, and wait for its summary.
 *
 * Nothing is done before it is iterated. Leaving the loop early calls the run off.
 *
 * @example
 * ```ts
 * await using batonpass = await createBatonpass({ store: 'memory' })
 * const runtime = new ScriptedRuntime({ windows: [{ turns: [{ text: 'Done.', promptTokens: 900 }] }] })
 * const run = batonpass.run({ runtime, agent: 'claude-code', prompt: 'Fix the flaky test' })
 * run.on((event) => {
 *   if (event.type === 'turn:recorded') console.log(event.turn) // => 1
 * })
 * console.log((await run.finish()).outcome) // => completed
 * ```
 */
export class AgentRun<Message> implements AsyncIterable<Message> {
  readonly #work: AsyncGenerator<Message, void>
  readonly #listeners = new Set<(event: RunEvent) => unknown>()
  readonly #closers = new Set<() => void>()
  readonly #ended: Promise<RunSummary>
  #settle: { resolve(summary: RunSummary): void; reject(error: unknown): void }
  #summary: RunSummary | undefined
  #isIterated = false
  #isOver = false

  constructor(work: RunWork<Message>) {
    this.#work = work((event) => this.#tell(event))
    this.#settle = { resolve: () => undefined, reject: () => undefined }
    this.#ended = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
    })
    // Whoever never asks for the summary is told of a failure by the iteration.
    this.#ended.catch(() => undefined)
  }

  /** What the run came to, once it is over. It rejects when the run broke, as the iteration does. */
  get summary(): Promise<RunSummary> {
    return this.#ended
  }

  /** The messages of the agent, each as it comes, once what it brought to an end is recorded. Can be iterated once. */
  [Symbol.asyncIterator](): AsyncIterator<Message> {
    if (this.#isIterated) throw new TypeError('A run can be iterated once. Start another one.')
    this.#isIterated = true
    return {
      next: () => this.#step(() => this.#work.next()),
      return: () => this.#step(() => this.#work.return()),
    }
  }

  /** Lets the run work to its end, for whoever does not want its messages. */
  async finish(): Promise<RunSummary> {
    if (!this.#isIterated) for await (const _ of this);
    return this.summary
  }

  /** Calls a listener with everything that happens. Answers with what takes it away again. */
  on(listener: (event: RunEvent) => unknown): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Everything that happens from now on, as a list that ends with the run. */
  events(): AsyncIterable<RunEvent> {
    const queue: RunEvent[] = []
    let wake = (): void => undefined
    const off = this.on((event) => {
      queue.push(event)
      wake()
    })
    const close = (): void => wake()
    this.#closers.add(close)
    const isOver = (): boolean => this.#isOver
    return (async function* () {
      try {
        for (;;) {
          yield* queue.splice(0)
          if (queue.length > 0) continue
          if (isOver()) return
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      } finally {
        off()
      }
    })()
  }

  /** A listener that throws is its own affair. */
  #tell(event: RunEvent): void {
    if (event.type === 'run:end') this.#summary = event.summary
    for (const listener of this.#listeners) {
      try {
        Promise.resolve(listener(event)).catch(() => undefined)
      } catch {}
    }
  }

  async #step(next: () => Promise<IteratorResult<Message, void>>): Promise<IteratorResult<Message, void>> {
    try {
      const result = await next()
      if (result.done === true) this.#end(new Error('The run was left before it had begun.'))
      return result
    } catch (error) {
      this.#end(error)
      throw error
    }
  }

  /** A run that has ended has said so; one that has not is broken. */
  #end(error: unknown): void {
    this.#isOver = true
    if (this.#summary === undefined) this.#settle.reject(error)
    else this.#settle.resolve(this.#summary)
    for (const close of this.#closers) close()
  }
}
