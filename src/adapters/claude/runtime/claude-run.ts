import { describeThrown } from '../../../domain/kernel/describe-thrown.ts'
import type { WindowEvent } from '../../../domain/window/window-event.ts'
import type { RunningAgent, RuntimeEnd, RuntimeStep } from '../../../ports/agent/agent-runtime.ts'
import { RuntimeFailure } from '../../../ports/agent/runtime-failure.ts'
import { CutLine } from '../../../processes/text-lines.ts'
import { endOf, resultIn } from '../readers/claude-result.ts'
import { ClaudeUsage } from '../readers/claude-usage.ts'
import type { AgentSource } from './agent-source.ts'
import { ClaudePermissions } from './claude-permissions.ts'
import { modelIn, stepOf } from './claude-step.ts'
import { Inbox } from './inbox.ts'

type Heard<Message> =
  | { readonly type: 'message'; readonly message: Message | CutLine }
  | { readonly type: 'window'; readonly events: readonly WindowEvent[] }
  | { readonly type: 'over'; readonly error?: unknown }
  | { readonly type: 'stop' }

/** How a run is begun. */
export interface RunOptions<Message> {
  readonly open: () => Promise<AgentSource<Message>>
  readonly isResumed: boolean
  readonly signal: AbortSignal
  /** Facts about its window that are known before it says anything. */
  readonly known?: readonly WindowEvent[]
  /** Whether parts of answers are passed on. They are read in any case: only they have an answer's final count. */
  readonly passesPartials?: boolean
}

/** Once asked to stop, a runtime that does not is ended. */
const INTERRUPT_MS = 5_000
/** The window is asked for once, and once more when another model took over. */
const MOST_QUESTIONS = 2

/** Runs an agent from its first message to its rest. Nothing is started before its steps are read. */
export class ClaudeRun<Message> implements RunningAgent<Message> {
  readonly worksAhead = true
  readonly #options: RunOptions<Message>
  readonly #inbox = new Inbox<Heard<Message>>()
  readonly #usage: ClaudeUsage
  readonly #permissions = new ClaudePermissions()
  readonly #models = new Set<string>()
  #source: AgentSource<Message> | undefined
  #known: readonly WindowEvent[]
  #wasInterrupted = false
  #stopTimer: NodeJS.Timeout | undefined

  readonly steps: AsyncIterable<RuntimeStep<Message>>

  constructor(options: RunOptions<Message>) {
    this.#options = options
    this.#usage = new ClaudeUsage(options)
    this.#known = options.known ?? []
    this.steps = this.#run()
  }

  /** @throws when it is not at work, or takes no input while it is */
  async tell(text: string): Promise<void> {
    if (this.#source?.tell === undefined) throw new Error('The agent cannot be told anything now.')
    this.#source.tell(text)
  }

  async interrupt(): Promise<void> {
    this.#wasInterrupted = true
    if (this.#source === undefined) return
    this.#stopTimer ??= setTimeout(this.#stop, INTERRUPT_MS)
    try {
      await this.#source.interrupt()
    } catch {
      // It may have ended by itself; if it has not, it is ended when its time is up.
    }
  }

  async *#run(): AsyncGenerator<RuntimeStep<Message>, void> {
    const { signal } = this.#options
    signal.addEventListener('abort', this.#stop, { once: true })
    let hasFinished = false
    try {
      const opened = this.#isUnwanted() ? { type: 'interrupted' as const } : await this.#open()
      if (opened !== undefined) return yield only(opened)
      for await (const step of this.#follow()) {
        hasFinished = step.message !== undefined && step.end !== undefined
        yield step
      }
    } finally {
      signal.removeEventListener('abort', this.#stop)
      clearTimeout(this.#stopTimer)
      const source = this.#source
      this.#source = undefined
      await source?.close(hasFinished && !signal.aborted)
    }
  }

  /** Ends it now, even while nobody reads its steps. */
  readonly #stop = (): void => {
    this.#inbox.put({ type: 'stop' })
    this.#source?.close(false).catch(() => {}) // it is closed once more, and that one is waited for
  }

  #isUnwanted(): boolean {
    return this.#wasInterrupted || this.#options.signal.aborted
  }

  /** @returns how it ended before it began, if it did */
  async #open(): Promise<RuntimeEnd | undefined> {
    try {
      this.#source = await this.#options.open()
    } catch (error) {
      if (error instanceof RuntimeFailure) throw error
      return { type: 'failed', message: describeThrown(error) }
    }
    return this.#isUnwanted() ? { type: 'interrupted' } : undefined
  }

  async *#follow(): AsyncGenerator<RuntimeStep<Message>, void> {
    for (this.#listen(); ; ) {
      const heard = await this.#inbox.take()
      if (heard.type === 'stop') return yield only({ type: 'interrupted' })
      if (heard.type === 'over') return yield only(this.#endWithoutResult(heard.error))
      if (heard.type === 'window') {
        if (heard.events.length > 0) yield { events: heard.events, texts: [] }
        continue
      }
      if (heard.message instanceof CutLine) {
        yield { events: [], texts: [{ role: 'assistant', text: heard.message.words }], beginsTurn: true }
        this.#listen()
        continue
      }
      const step = this.#read(heard.message)
      if (step.message !== undefined || step.events.length > 0) yield step
      if (step.end !== undefined) return
      this.#listen()
    }
  }

  /** Asks for one message only: the agent need not be faster than its reader. */
  #listen(): void {
    this.#source?.messages.next().then(
      ({ done, value }) => this.#inbox.put(done ? { type: 'over' } : { type: 'message', message: value }),
      (error: unknown) => this.#inbox.put({ type: 'over', error }),
    )
  }

  #read(message: Message): RuntimeStep<Message> {
    const read = stepOf(message)
    const { message: _, ...unseen } = read
    const isHidden = this.#options.passesPartials !== true && isPartial(message)
    const events = [...this.#known, ...read.events]
    const step = {
      ...(isHidden ? unseen : read),
      events,
      ...this.#usage.take(message),
      ...this.#permissions.take(message),
    }
    this.#known = []
    const result = resultIn(message)
    if (result === undefined) {
      this.#askWindow(modelIn(message))
      return step
    }
    this.#source?.finish()
    return { ...step, end: endOf(result, this.#wasInterrupted) }
  }

  #askWindow(model: string | undefined): void {
    const source = this.#source
    if (model === undefined || this.#models.has(model) || this.#models.size >= MOST_QUESTIONS || !source?.window) return
    this.#models.add(model)
    // Beside the work, which does not wait for it: an answer that is late is still one, and none is none.
    source.window().then(
      (events) => this.#inbox.put({ type: 'window', events }),
      () => {},
    )
  }

  #endWithoutResult(error: unknown): RuntimeEnd {
    if (this.#isUnwanted()) return { type: 'interrupted' }
    const why = [error === undefined ? '' : describeThrown(error), this.#source?.complaint() ?? '']
      .filter(Boolean)
      .join(': ')
    return { type: 'failed', message: `The runtime ended without a result${why === '' ? '.' : ` (${why}).`}` }
  }
}

const isPartial = (message: unknown): boolean => (message as { type?: unknown } | null)?.type === 'stream_event'

const only = (end: RuntimeEnd): RuntimeStep<never> => ({ events: [], texts: [], end })
