import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'
import { RUN_SERVER } from '../../domain/kernel/tool-servers.ts'
import type { ServedTools, ToolsOffered } from '../../ports/agent/run-tools.ts'
import { type Logger, silentLogger } from '../../ports/system/logger.ts'
import { lookBackTool } from './look-back-tool.ts'
import type { Tool } from './tool.ts'
import { mcpServer } from './tool-server.ts'
import { refusedStatus, requestFrom, respondWith } from './tools-requests.ts'
import { delegateTool, handOverTool } from './work-tools.ts'

const PATH = '/mcp'

const INSTRUCTIONS =
  'Finds what was said and done in earlier windows of this conversation, as it was recorded, hands the work to other agents, and delegates pieces of it.'

/** An agent asks one thing at a time, and its subagents a few more. */
const MOST_CONNECTIONS = 64
/** A question is short; what clients say of themselves beside it is a few kilobytes. */
const LONGEST_BODY = 256 * 1024

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

/** The tools of one launch, for the agent that has its token. */
interface Offer {
  readonly token: string
  readonly handler: McpHttpHandler
}

/** Serves the tools of a run on a free port of 127.0.0.1, to the agent that has the token of its latest launch. */
export const serveTools = async (logger: Logger = silentLogger): Promise<ServedTools> => {
  let offer: Offer | undefined
  const server = createServer((request, response) => {
    answer(offer, request, response).catch((error: unknown) => {
      logger.warn({ problem: String(error) }, 'a request for a tool was not answered')
      if (!response.headersSent) response.writeHead(500)
      response.end()
    })
  })
  server.maxConnections = MOST_CONNECTIONS
  // A run that nobody reads to its end keeps no program alive.
  server.unref()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const withdraw = async (): Promise<void> => {
    const last = offer
    offer = undefined
    await last?.handler.close()
  }
  return {
    offer: (offered) => {
      withdraw().catch(() => undefined)
      const tools = toolsOf(offered)
      offer = { token: randomBytes(32).toString('base64url'), handler: handlerOf(tools, logger) }
      const names = tools.map(({ name }) => name)
      return { server: RUN_SERVER, url: `http://127.0.0.1:${port}${PATH}`, token: offer.token, tools: names }
    },
    [Symbol.asyncDispose]: async () => {
      await withdraw()
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

const toolsOf = ({ lookBack, handOver, delegate }: ToolsOffered): readonly Tool[] => [
  ...(lookBack === undefined ? [] : [lookBackTool((request) => lookBack(request)) as unknown as Tool]),
  ...(handOver === undefined ? [] : [handOverTool(handOver) as unknown as Tool]),
  ...(delegate === undefined ? [] : [delegateTool(delegate) as unknown as Tool]),
]

/** Answers each request by a server of its own, which remembers nothing. */
const handlerOf = (tools: readonly Tool[], logger: Logger): McpHttpHandler => {
  return createMcpHandler(() => mcpServer({ version, tools, instructions: INSTRUCTIONS, logger }), {
    maxRequestBodySize: LONGEST_BODY,
    onerror: (error) => logger.debug({ problem: error.message }, 'a request for a tool was refused'),
  })
}

const answer = async (offer: Offer | undefined, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const problem = refusedStatus(request, { path: PATH, token: offer?.token })
  if (offer === undefined || problem !== undefined) {
    response.writeHead(problem ?? 401, { connection: 'close' }).end()
    return
  }
  await respondWith(response, await offer.handler.fetch(requestFrom(request)))
}
