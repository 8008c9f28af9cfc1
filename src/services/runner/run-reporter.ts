import type { Conversation } from '../../domain/conversation/conversation.ts'
import type { RunEvent, RunNews, RunOrigin } from '../../domain/run/run-event.ts'
import type { RunLog } from './run-log.ts'

/** Tells whoever watches a run what happens in it, and the log as well. */
export class RunReporter {
  readonly #origin: Omit<RunOrigin, 'agentName'>
  readonly #agent: () => string
  readonly #log: RunLog
  readonly #emit: (event: RunEvent) => void
  readonly #toldOnce = new Set<RunNews['type']>()

  constructor(
    { id: conversationId, externalKey }: Conversation,
    {
      agent,
      log,
      emit,
    }: { readonly agent: () => string; readonly log: RunLog; readonly emit: (event: RunEvent) => void },
  ) {
    this.#origin = { version: 1, conversationId, jobId: externalKey ?? null }
    this.#agent = agent
    this.#log = log
    this.#emit = emit
  }

  emit(news: RunNews): void {
    const event = { ...news, ...this.#origin, agentName: this.#agent() }
    this.#log.take(event)
    this.#emit(event)
  }

  /** Tells something that is told once in a run. */
  emitOnce(news: RunNews): void {
    if (this.#toldOnce.has(news.type)) return
    this.#toldOnce.add(news.type)
    this.emit(news)
  }
}
