import type { AgentSessionId } from '../../domain/kernel/ids.ts'
import type { RunEvent } from '../../domain/run/run-event.ts'
import type { RunSummary } from '../../domain/run/run-summary.ts'
import { BEFORE_SUCCESSOR, inOrder, type RunItem } from './run-items.ts'

/** The caller that iterates a run, as the work of the run sees it. */
export interface RunWatch {
  emit(event: RunEvent): void
  /** Names the session that the messages from now on belong to. */
  enter(sessionId: AgentSessionId): void
  /** Aborts when the caller leaves the iteration while the agent works. */
  readonly left: AbortSignal
}

/**
 * The work of a run. It begins when the caller iterates it, and waits for the caller at each message and between two
 * sessions.
 */
export type RunWork<Message> = (watch: RunWatch) => AsyncGenerator<Message | typeof BEFORE_SUCCESSOR, void>

/**
 * A run: iterate it for the agent's messages, listen to its events, and wait for its summary.
 *
 * Nothing is done before it is iterated. Leaving the loop early cancels the run.
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
  readonly #work: AsyncGenerator<Message | typeof BEFORE_SUCCESSOR, void>
  readonly #listeners = new Set<(event: RunEvent) => unknown>()
  readonly #closers = new Set<() => void>()
  readonly #ended: Promise<RunSummary>
  #settle: { resolve(summary: RunSummary): void; reject(error: unknown): void }
  readonly #left = new AbortController()
  #summary: RunSummary | undefined
  #sessionId: AgentSessionId | undefined
  /** How many messages are waited for. */
  #awaited = 0
  #isIterated = false
  #isOver = false

  constructor(work: RunWork<Message>) {
    const enter = (sessionId: AgentSessionId): void => {
      this.#sessionId = sessionId
    }
    this.#work = work({ emit: (event) => this.#tell(event), enter, left: this.#left.signal })
    this.#settle = { resolve: () => undefined, reject: () => undefined }
    this.#ended = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
    })
    // A caller that never reads the summary learns of a failure from the iteration, so this rejection is handled.
    this.#ended.catch(() => undefined)
  }

  /** The summary of the run, once it is over. It rejects when the run broke, as the iteration does. */
  get summary(): Promise<RunSummary> {
    return this.#ended
  }

  /** The messages of the agent, each once the turn that it ends is recorded. Can be iterated once. */
  [Symbol.asyncIterator](): AsyncIterator<Message, void> {
    const steps = this.#iterated()
    const next = async (): Promise<IteratorResult<Message, void>> => {
      const { done, value } = await steps.next()
      if (done === true) return { done, value: undefined }
      return value === BEFORE_SUCCESSOR ? next() : { done: false, value }
    }
    return {
      next,
      return: async () => {
        await steps.return?.()
        return { done: true, value: undefined }
      },
    }
  }

  /**
   * Messages and events as one stream, in the order in which they happened. Between the last message of a session and
   * the first of its successor stands `context:handoff:complete`, which names both. The run is iterated by this, once.
   *
   * The run waits while you look at a message, and launches nothing while you look at that event. While you look at any
   * other event, the run continues up to its next message.
   *
   * @example
   * ```ts
   * await using batonpass = await createBatonpass({ store: 'memory' })
   * const windows = [
   *   { turns: [{ text: 'Half.', promptTokens: 900, tools: ['edit'] }], checkpoint: 'Half is done.' },
   *   { turns: [{ text: 'All.', promptTokens: 100 }] },
   * ]
   * const runtime = new ScriptedRuntime({ windows, windowTokens: 1_000 })
   * const run = batonpass.run({ runtime, agent: 'claude-code', prompt: 'Fix the flaky test', policy: 'auto' })
   * for await (const item of run.everything()) {
   *   if (item.type === 'message') console.log(item.message.text)
   *   if (item.type === 'context:handoff:complete') console.log(item.oldSessionId !== item.newSessionId)
   * }
   * // => Half.
   * // => ok
   * // => true
   * // => All.
   * ```
   */
  everything(): AsyncIterable<RunItem<Message>> {
    const sessionId = (): AgentSessionId => {
      if (this.#sessionId === undefined) throw new TypeError('The work of a run says in which session it is.')
      return this.#sessionId
    }
    const on = this.on.bind(this)
    return { [Symbol.asyncIterator]: () => inOrder({ messages: this.#iterated(), on, sessionId }) }
  }

  /** Iterates the run to its end, for a caller that does not need its messages. */
  async finish(): Promise<RunSummary> {
    if (!this.#isIterated) for await (const _ of this);
    return this.summary
  }

  /** Calls a listener with everything that happens. The answer is a function that removes it. */
  on(listener: (event: RunEvent) => unknown): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** The events from now on, as a stream that ends with the run. */
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

  /** Calls every listener. An error that a listener throws does not reach the run. */
  #tell(event: RunEvent): void {
    if (event.type === 'run:end') this.#summary = event.summary
    for (const listener of this.#listeners) {
      try {
        Promise.resolve(listener(event)).catch(() => undefined)
      } catch {}
    }
  }

  #iterated(): AsyncIterator<Message | typeof BEFORE_SUCCESSOR, void> {
    if (this.#isIterated) throw new TypeError('A run can be iterated once. Start another one.')
    this.#isIterated = true
    return {
      next: () => this.#step(() => this.#work.next()),
      return: () => {
        // A generator that is at work would return only after its next message, which may never come: the signal ends
        // the wait.
        if (this.#awaited > 0) this.#left.abort()
        return this.#step(() => this.#work.return())
      },
    }
  }

  async #step<Step>(next: () => Promise<IteratorResult<Step, void>>): Promise<IteratorResult<Step, void>> {
    this.#awaited += 1
    try {
      const result = await next()
      if (result.done === true) this.#end(new Error('The run was left before it had begun.'))
      return result
    } catch (error) {
      this.#end(error)
      throw error
    } finally {
      this.#awaited -= 1
    }
  }

  /** Settles the summary. A run that ended without a `run:end` event is broken, and the summary rejects. */
  #end(error: unknown): void {
    this.#isOver = true
    if (this.#summary === undefined) this.#settle.reject(error)
    else this.#settle.resolve(this.#summary)
    for (const close of this.#closers) close()
  }
}
