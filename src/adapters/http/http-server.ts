import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import type { EventStreams } from './event-stream.ts'

/** How long clients may take. */
export interface HttpTimeouts {
  /** For the headers of a request. */
  readonly headersMs: number
  /** For a whole request, its body included. */
  readonly requestMs: number
  /** Between two requests of a connection. */
  readonly idleMs: number
}

/**
 * Far more than a client on the same machine needs. The embedded store works in the same thread: while it is busy, nobody
 * reads what clients have sent in time, and Node counts that as theirs.
 */
const USUAL_TIMEOUTS: HttpTimeouts = { headersMs: 30_000, requestMs: 60_000, idleMs: 10_000 }

const MOST_CONNECTIONS = 1_024
const MOST_HEADERS = 64

/** Answers requests, and has streams that must end with the server. */
export interface Answering {
  readonly fetch: (request: Request) => Response | Promise<Response>
  readonly streams: Pick<EventStreams, 'close'>
}

/** A server that listens. */
export interface Listening {
  readonly port: number
  /** Takes no new requests, finishes those under way, and ends. */
  close(): Promise<void>
}

/** Listens on the loopback address, and on no other. */
export const listen = async (
  { fetch, streams }: Answering,
  port: number,
  { headersMs, requestMs, idleMs }: HttpTimeouts = USUAL_TIMEOUTS,
): Promise<Listening> => {
  const server = createAdaptorServer({
    fetch,
    hostname: '127.0.0.1',
    overrideGlobalObjects: false,
    serverOptions: {
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      keepAliveTimeout: idleMs,
      connectionsCheckingInterval: Math.min(1_000, Math.ceil(headersMs / 4)),
      maxHeaderSize: 16 * 1024,
    },
  }) as Server
  server.maxConnections = MOST_CONNECTIONS
  server.maxHeadersCount = MOST_HEADERS
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve())
  })
  const close = async (): Promise<void> => {
    streams.close()
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeIdleConnections()
    await closed
  }
  return { port: (server.address() as AddressInfo).port, close }
}
