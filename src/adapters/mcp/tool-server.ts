import { type CallToolResult, McpServer, type ServerContext } from '@modelcontextprotocol/server'
import { describeRefusal } from '../../domain/refusal.ts'
import { RefusedError } from '../../domain/unwrap.ts'
import { StoreFailure } from '../../ports/store/store-failure.ts'
import { type Logger, silentLogger } from '../../ports/system/logger.ts'
import { safeFacts, safeText, shortAnswer } from './safe-answer.ts'
import type { Tool, ToolAnswer, ToolRefusal, ToolReply } from './tool.ts'

/** The parts of a server. */
export interface McpParts {
  /** The version of this program. */
  readonly version: string
  readonly tools: readonly Tool[]
  /** How the tools belong together, for the agent. */
  readonly instructions?: string
  readonly logger?: Logger
}

/** A server with these tools, for any transport. A tool that fails says so to the agent; nothing ends the server. */
export const mcpServer = ({ version, tools, instructions, logger = silentLogger }: McpParts): McpServer => {
  const server = new McpServer(
    { name: 'batonpass', title: 'Batonpass', version },
    // The tools stay as they are: a client that is told so keeps no stream open to hear of changes.
    { capabilities: { tools: { listChanged: false } }, ...(instructions !== undefined && { instructions }) },
  )
  for (const tool of tools) {
    const { name, title, description, input: inputSchema, isReadOnly: readOnlyHint } = tool
    const annotations = { title, readOnlyHint, destructiveHint: false, openWorldHint: false }
    const settings = { title, description, inputSchema, annotations }
    const call = (input: Record<string, unknown>, { mcpReq }: ServerContext): Promise<CallToolResult> =>
      answered(tool, () => tool.call(input, { meta: mcpReq._meta ?? {} }), logger)
    server.registerTool(name, settings, call)
  }
  return server
}

const answered = async ({ name }: Tool, call: () => ToolReply, logger: Logger): Promise<CallToolResult> => {
  try {
    const reply = await call()
    return reply.ok ? resultOf(reply.value) : refused(reply.error)
  } catch (error) {
    if (error instanceof RefusedError)
      return refused({ code: error.refusal.code, message: describeRefusal(error.refusal) })
    const problem = error instanceof Error ? error.message : 'unknown'
    logger.error({ tool: name, problem }, 'a tool failed')
    return refused({ code: error instanceof StoreFailure ? error.code : 'tool.failed', message: FAILED })
  }
}

const FAILED =
  'Batonpass could not answer. Work on without it, or ask once more later; the person can run "baton doctor".'

const resultOf = ({ text, facts }: ToolAnswer): CallToolResult => ({
  content: [{ type: 'text', text: shortAnswer(safeText(text)) }],
  ...(facts !== undefined && { structuredContent: safeFacts(facts) as Record<string, unknown> }),
})

const refused = ({ code, message }: ToolRefusal): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: shortAnswer(safeText(`${code}: ${message}`)) }],
})
