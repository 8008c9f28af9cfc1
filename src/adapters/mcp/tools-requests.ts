import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as NodeStream } from 'node:stream/web'

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()

const isSame = (one: string, other: string): boolean => timingSafeEqual(digestOf(one), digestOf(other))

/**
 * The status that refuses a request; nothing when it may be answered. A page in a browser sends an origin, or the name
 * of another host: no page has any business here, whatever it knows.
 */
export const refusedStatus = (
  { headers, method, url, socket }: IncomingMessage,
  wanted: { readonly path: string; readonly token: string | undefined },
): number | undefined => {
  if (headers.host !== `127.0.0.1:${socket.localPort}`) return 421
  if (headers.origin !== undefined) return 403
  const [, token] = /^Bearer (\S+)$/i.exec(headers.authorization ?? '') ?? []
  if (token === undefined || wanted.token === undefined || !isSame(token, wanted.token)) return 401
  if (url !== wanted.path) return 404
  return method === 'POST' ? undefined : 405
}

/** A request in the form that the package takes. */
export const requestFrom = (request: IncomingMessage): Request => {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) if (value !== undefined) headers.set(name, String(value))
  const { host = '', url = '' } = { ...request.headers, url: request.url }
  const body = Readable.toWeb(request) as ReadableStream
  return new Request(`http://${host}${url}`, { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
}

/** Sends a response of the package. */
export const respondWith = async (response: ServerResponse, { status, headers, body }: Response): Promise<void> => {
  // The rest of a body that is not wanted is not read.
  const last = status >= 400 ? { connection: 'close' } : {}
  response.writeHead(status, { ...Object.fromEntries(headers), ...last })
  if (body === null) response.end()
  else await pipeline(Readable.fromWeb(body as NodeStream), response)
}
