import type { Context } from 'hono'
import { type SSEStreamingApi, streamSSE } from 'hono/streaming'
import { RefusedError } from '../../domain/unwrap.ts'
import type { Changes } from '../../ports/store/audit-log.ts'
import type { AuditService, FollowRequest } from '../../services/audit/audit-service.ts'
import { HttpProblem } from './http-problem.ts'
import { liveEvents } from './live-events.ts'

/** How the stream behaves. */
export interface EventStreamOptions {
  /** How often to look for something new. */
  readonly pollMs?: number
  /** How often to say that the stream still lives. */
  readonly heartbeatMs?: number
  readonly mostClients?: number
}

/**
 * Streams what happens in the store, by this process or another one. Each client reads the log at its own pace, so a slow
 * one costs no memory; `Last-Event-ID` continues where a client was.
 */
export class EventStreams {
  readonly #audit: AuditService
  readonly #options: Required<EventStreamOptions>
  readonly #ends = new Set<AbortController>()

  constructor(audit: AuditService, { pollMs = 500, heartbeatMs = 15_000, mostClients = 32 }: EventStreamOptions = {}) {
    this.#audit = audit
    this.#options = { pollMs, heartbeatMs, mostClients }
  }

  get clients(): number {
    return this.#ends.size
  }

  /** Ends every stream. */
  close(): void {
    for (const end of this.#ends) end.abort()
  }

  open(context: Context): Response {
    if (this.clients >= this.#options.mostClients)
      throw new HttpProblem(503, 'events.busy', 'Too many clients follow the events. Close one of them first.')
    const end = new AbortController()
    const after = context.req.header('last-event-id')
    this.#ends.add(end)
    return streamSSE(
      context,
      async (stream) => {
        stream.onAbort(() => end.abort())
        const heartbeat = setInterval(
          () => void stream.write(': still here\n\n').catch(() => {}),
          this.#options.heartbeatMs,
        )
        try {
          await this.#follow(stream, after, end.signal)
        } finally {
          clearInterval(heartbeat)
          this.#ends.delete(end)
        }
      },
      // A cursor that is none, or a store that broke: the client comes again.
      async () => {},
    )
  }

  async #follow(stream: SSEStreamingApi, after: string | undefined, signal: AbortSignal): Promise<void> {
    const { pollMs } = this.#options
    // What came before is history, and not live.
    const from = after ?? (await this.#audit.endOfChanges())
    // What the client gets first also shows that it is connected.
    await stream.write(': connected\n\n')
    for await (const { entries, next } of this.#changes(from, { signal, pollMs })) {
      for (const { event, data } of liveEvents(entries)) {
        if (stream.aborted || signal.aborted) return
        await stream.writeSSE({ event, data, id: next })
      }
    }
  }

  /** A browser cannot take another cursor from a refusal, so the stream does. */
  async *#changes(after: string, how: FollowRequest): AsyncGenerator<Changes, void> {
    try {
      yield* this.#audit.follow({ ...how, after })
    } catch (error) {
      if (!(error instanceof RefusedError) || error.refusal.code !== 'feed.moved') throw error
      yield* this.#changes(error.refusal.continueFrom, how)
    }
  }
}
