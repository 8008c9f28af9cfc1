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

/** Emits the events of a run to its listeners and to the log. */
export class RunReporter {
  readonly #origin: Omit<RunOrigin, 'agentName' | 'providerSessionId'>
  readonly #agent: () => string
  readonly #session: ReporterParts['session']
  /** The ids that the runtime gave to sessions of the run, as far as it has reported them. */
  readonly #providerIds = new Map<string, string>()
  readonly #log: RunLog
  readonly #emit: (event: RunEvent) => void
  readonly #emittedOnce = new Set<RunNews['type']>()

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

  /**
   * Events about a session come after its handoff too, when the run holds the successor: so earlier ids are stored
   * here.
   */
  #providerSessionOf(news: RunNews): string | null {
    const held = this.#session()
    if (held?.providerSessionId !== undefined) this.#providerIds.set(held.id, held.providerSessionId)
    const about = 'sessionId' in news ? news.sessionId : held?.id
    return this.#providerIds.get(about ?? '') ?? null
  }

  /** Emits an event that a run has at most once. */
  emitOnce(news: RunNews): void {
    if (this.#emittedOnce.has(news.type)) return
    this.#emittedOnce.add(news.type)
    this.emit(news)
  }
}
