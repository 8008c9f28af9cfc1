import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server on the loopback, for as long as it is not disposed of. */
export interface LoopbackServer extends AsyncDisposable {
  readonly url: string
}

/** What is said to a request: a stream of events, or no. */
export type Said = readonly { readonly type: string }[] | { readonly status: number; readonly body: unknown }

/** Answers what is posted to a path with a stream of events; the signal aborts when nobody waits for it any more. Anything else is not found. */
export const startServer = async <Body>(
  path: string,
  answer: (body: Body, gone: AbortSignal) => Said | Promise<Said>,
): Promise<LoopbackServer> => {
  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    if (request.method !== 'POST' || request.url?.split('?')[0] !== path) return response.writeHead(404).end('{}')
    const gone = new AbortController()
    response.once('close', () => gone.abort(new Error('Whoever asked has gone')))
    const said = await answer(JSON.parse(text) as Body, gone.signal)
    if ('status' in said) {
      return response.writeHead(said.status, { 'content-type': 'application/json' }).end(JSON.stringify(said.body))
    }
    const lines = said.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(lines.join(''))
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Sends whatever is not for the loopback to a port where nobody is, so that a run cannot reach out. */
export const NO_WAY_OUT = { HTTPS_PROXY: 'http://127.0.0.1:9', HTTP_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1' }
