import { chmodSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import type { EventStreams } from './event-stream.ts'
import { type StrangerLimits, Strangers } from './strangers.ts'

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

/** The way that a request came in. */
export interface RequestDoor {
  /** The port, where it came over one; over the socket only this user comes. */
  readonly port?: number
  /** Says that the client has shown a token that opens something. */
  readonly trust: () => void
}

/** Answers requests, and has streams that must end with the server. */
export interface Answering {
  readonly fetch: (request: Request, door: RequestDoor) => Response | Promise<Response>
  readonly streams: Pick<EventStreams, 'close'>
}

/** A server that listens. */
export interface Listening {
  /** Takes no new requests, finishes those under way, and ends. */
  close(): Promise<void>
}

/** The address that is listened on, and no other. */
export const LOOPBACK = '127.0.0.1'

/** Listens on a port of the loopback address. Anybody on the machine may connect, so strangers are few and soon leave. */
export const listenOnPort = async (
  answering: Answering,
  asked: number,
  timeouts: HttpTimeouts = USUAL_TIMEOUTS,
  limits?: StrangerLimits,
): Promise<Listening & { readonly port: number }> => {
  const strangers = new Strangers(limits)
  let port = 0
  const server = serverFor(answering, timeouts, (request, response) => {
    strangers.asks({ request, response })
    return { port, trust: () => strangers.trust(request.socket) }
  })
  server.on('connection', (socket) => strangers.came(socket))
  await listening(server, { port: asked, host: LOOPBACK })
  port = (server.address() as AddressInfo).port
  const close = closing(server, answering)
  return {
    port,
    close: () => {
      const closed = close()
      strangers.end()
      return closed
    },
  }
}

/** Listens on a socket, which is in a folder that only this user can enter. @returns nothing where none can be made there */
export const listenOnSocket = async (
  answering: Answering,
  path: string,
  timeouts: HttpTimeouts = USUAL_TIMEOUTS,
): Promise<Listening | undefined> => {
  const server = serverFor(answering, timeouts, () => ({ trust: () => {} }))
  try {
    await listening(server, { path })
    chmodSync(path, 0o600)
  } catch {
    server.close()
    return undefined
  }
  return { close: closing(server, answering) }
}

const serverFor = (
  { fetch }: Answering,
  { headersMs, requestMs, idleMs }: HttpTimeouts,
  doorOf: (request: IncomingMessage, response: ServerResponse) => RequestDoor,
): Server => {
  const server = createAdaptorServer({
    fetch: (request, { incoming, outgoing }) =>
      fetch(request, doorOf(incoming as IncomingMessage, outgoing as ServerResponse)),
    hostname: LOOPBACK,
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
  return server
}

/** Exclusive: in a cluster it would otherwise belong to the primary, and outlive this process. */
const listening = (server: Server, at: { readonly path: string } | { readonly port: number; readonly host: string }) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ ...at, exclusive: true }, () => {
      server.off('error', reject)
      resolve()
    })
  })

const closing =
  (server: Server, { streams }: Answering) =>
  async (): Promise<void> => {
    streams.close()
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeIdleConnections()
    await closed
  }
