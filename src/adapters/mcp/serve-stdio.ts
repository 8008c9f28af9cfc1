import type { McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio as serve } from '@modelcontextprotocol/server/stdio'

/**
 * Serves over standard input and output, until the client closes them or the signal aborts. Nothing but messages of the
 * protocol may be written to standard output meanwhile.
 */
export const serveStdio = (make: () => McpServer, signal: AbortSignal, tell: (problem: Error) => void): Promise<void> =>
  new Promise((resolve) => {
    const transport = new StdioServerTransport()
    const serving = serve(make, { transport, onerror: tell })
    const close = transport.onclose
    transport.onclose = () => {
      close?.()
      resolve()
    }
    const stop = (): void => void serving.close().finally(resolve)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
  })
