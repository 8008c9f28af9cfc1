import type { Conversation } from '../../../domain/conversation/conversation.ts'
import type { RunEvent, RunNews, RunOrigin } from '../../../domain/run/run-event.ts'
import type { AgentSession } from '../../../domain/session/agent-session.ts'
import type { RunLog } from './run-log.ts'

/** The parts of a run that its events are made from. */
interface ReporterParts {
  readonly agent: () => string
  /** The session that the run holds now, if it has one. */
  readonly session: () => Pick<AgentSession, 'id' | 'providerSessionId'> | undefined
  readonly log: RunLog
  readonly emit: (event: RunEvent) => void
}

/** Tells whoever watches a run what happens in it, and the log as well. */
export class RunReporter {
  readonly #origin: Omit<RunOrigin, 'agentName' | 'providerSessionId'>
  readonly #agent: () => string
  readonly #session: ReporterParts['session']
  /** The names that the runtime gave to sessions of the run, as far as it has said so. */
  readonly #provided = new Map<string, string>()
  readonly #log: RunLog
  readonly #emit: (event: RunEvent) => void
  readonly #toldOnce = new Set<RunNews['type']>()

  constructor({ id: conversationId, externalKey }: Conversation, { agent, session, log, emit }: ReporterParts) {
    this.#origin = { version: 1, conversationId, jobId: externalKey ?? null }
    this.#agent = agent
    this.#session = session
    this.#log = log
    this.#emit = emit
  }

  emit(news: RunNews): void {
    const providerSessionId = this.#providerSessionOf(news)
    const event = { ...news, ...this.#origin, agentName: this.#agent(), providerSessionId }
    this.#log.take(event)
    this.#emit(event)
  }

  /** A session that was handed on is told of while its successor is held already, so what was known of it is kept. */
  #providerSessionOf(news: RunNews): string | null {
    const held = this.#session()
    if (held?.providerSessionId !== undefined) this.#provided.set(held.id, held.providerSessionId)
    const about = 'sessionId' in news ? news.sessionId : held?.id
    return this.#provided.get(about ?? '') ?? null
  }

  /** Tells something that is told once in a run. */
  emitOnce(news: RunNews): void {
    if (this.#toldOnce.has(news.type)) return
    this.#toldOnce.add(news.type)
    this.emit(news)
  }
}
