import { setTimeout as wait } from 'node:timers/promises'
import { defined } from '../../../domain/kernel/defined.ts'
import { saysTooLong } from '../../../domain/run/agent-end.ts'
import type { Launch, RunningAgent, RuntimeEnd, RuntimeStep } from '../../../ports/agent/agent-runtime.ts'
import { RuntimeFailure } from '../../../ports/agent/runtime-failure.ts'
import type { CodexEvent, CodexThread } from './codex-sdk.ts'
import { CodexSteps } from './codex-steps.ts'
import type { RolloutFollower } from './rollout-follower.ts'

/** How long a rollout may take to appear after the turn. */
const PATIENCE_MS = 2_000
/** How long a process may take to go once it was told to. */
const FAREWELL_MS = 5_000

/** The preparation before anything runs: the thread, and the follower of its rollout. */
export interface PreparedThread<Event extends CodexEvent> {
  readonly thread: CodexThread<Event>
  readonly follower: RolloutFollower
}

/** One run of Codex: begins when its steps are asked for, and leaves no process behind when they end. */
export class CodexRun<Event extends CodexEvent> implements RunningAgent<Event> {
  readonly worksAhead = true
  readonly steps: AsyncIterable<RuntimeStep<Event>>
  readonly #prepare: () => Promise<PreparedThread<Event>>
  readonly #launch: Pick<Launch, 'prompt' | 'signal'>
  readonly #aborter = new AbortController()
  readonly #end = new EndFinder()
  #isInterrupted = false
  /** The SDK has let go of its process: an abort that it no longer expects would be an error that nobody handles. */
  #isOver = false

  constructor(launch: Pick<Launch, 'prompt' | 'signal'>, prepare: () => Promise<PreparedThread<Event>>) {
    this.#launch = launch
    this.#prepare = prepare
    this.steps = this.#run()
  }

  async interrupt(): Promise<void> {
    this.#interrupt()
  }

  #interrupt(): void {
    if (this.#isOver) return
    this.#isInterrupted = true
    this.#aborter.abort()
  }

  async *#run(): AsyncGenerator<RuntimeStep<Event>> {
    const { signal } = this.#launch
    const interrupt = (): void => this.#interrupt()
    signal.addEventListener('abort', interrupt)
    if (signal.aborted) interrupt()
    try {
      yield* this.#stepsToTheEnd()
    } finally {
      this.#isOver = true
      signal.removeEventListener('abort', interrupt)
    }
  }

  async *#stepsToTheEnd(): AsyncGenerator<RuntimeStep<Event>> {
    let steps: CodexSteps<Event> | undefined
    let thrown: unknown
    try {
      if (!this.#isInterrupted) {
        const { thread, follower } = await this.#prepare()
        steps = new CodexSteps<Event>(follower, this.#launch.prompt)
        yield* this.#following(thread, steps, follower)
      }
    } catch (error) {
      if (error instanceof RuntimeFailure) throw error
      thrown = error
    }
    // Nobody waits for a rollout of something that was stopped.
    if (steps !== undefined) yield* steps.rest(this.#isInterrupted ? 0 : PATIENCE_MS)
    yield { events: [], texts: [], end: this.#end.end(this.#isInterrupted, thrown) }
  }

  /** The next event or the next line of the rollout: a reading may be written long before the next event. */
  async *#following(
    thread: CodexThread<Event>,
    steps: CodexSteps<Event>,
    follower: RolloutFollower,
  ): AsyncGenerator<RuntimeStep<Event>> {
    const { events } = await thread.runStreamed(this.#launch.prompt, { signal: this.#aborter.signal })
    try {
      // By hand: leaving a `for await` would end the events before the process is known to have gone.
      for (let next = this.#next(events); ; ) {
        const event = await Promise.race([next, follower.grown().then(() => 'grown' as const)])
        if (event === 'grown') yield* steps.written()
        else if (event.done === true) break
        else {
          this.#end.take(event.value)
          yield* steps.of(event.value)
          next = this.#next(events)
        }
      }
    } finally {
      follower.close()
      if (!this.#isOver) await this.#stop(events)
    }
  }

  async #next(events: AsyncGenerator<Event>): Promise<IteratorResult<Event>> {
    try {
      const next = await events.next()
      this.#isOver = next.done === true
      return next
    } catch (error) {
      this.#isOver = true
      throw error
    }
  }

  /** Ends the process, and waits until the SDK has seen it end. */
  async #stop(events: AsyncGenerator<Event>): Promise<void> {
    this.#aborter.abort()
    await Promise.race([drained(events), wait(FAREWELL_MS, undefined, { ref: false })])
    this.#isOver = true
  }
}

const drained = async (events: AsyncGenerator<unknown>): Promise<void> => {
  try {
    while (!(await events.next()).done) {}
  } catch {
    // It was ended, and says so.
  }
}

/** The SDK reports the signal that ended the process in words only. */
const STOPPED = /exited with signal SIG(INT|TERM)\b/

/** Finds out how a run ended. An `error` may be followed by another try, so only the end of the events decides. */
class EndFinder {
  #isCompleted = false
  #error: string | undefined
  #failure: string | undefined

  take(event: CodexEvent): void {
    if (event.type === 'turn.completed') this.#isCompleted = true
    if (event.type === 'turn.failed') this.#failure = event.error.message
    if (event.type === 'error') this.#error = event.message
  }

  /** How it ended, once there are no more events; with what was thrown, if anything was. */
  end(isInterrupted: boolean, thrown?: unknown): RuntimeEnd {
    if (this.#isCompleted && this.#failure === undefined) return { type: 'idle' }
    if (isInterrupted) return { type: 'interrupted' }
    const message = this.#failure ?? this.#error ?? messageOf(thrown)
    if (STOPPED.test(message)) return { type: 'interrupted' }
    if (saysTooLong(message)) return { type: 'overflow', message }
    return defined({ type: 'failed' as const, message, code: codeOf(thrown) })
  }
}

const messageOf = (thrown: unknown): string => {
  if (thrown === undefined) return 'Codex ended without an answer'
  return thrown instanceof Error ? thrown.message : String(thrown)
}

const codeOf = (thrown: unknown): string | undefined =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined
