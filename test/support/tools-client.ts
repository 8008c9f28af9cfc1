import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { ToolsEndpoint } from '../../src/ports/agent/run-tools.ts'

/** What a tool said to an agent. */
export interface ToolSaid {
  readonly isError: boolean
  readonly text: string
}

/** An agent that was offered tools, as far as they see it: the real client, with the token of its launch. */
export const connected = async ({ url, token }: ToolsEndpoint): Promise<Client & AsyncDisposable> => {
  const client = new Client({ name: 'an-agent', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() })
}

/** Calls `look_back` once. */
export const lookBack = async (endpoint: ToolsEndpoint, asked: Record<string, unknown>): Promise<ToolSaid> => {
  await using client = await connected(endpoint)
  const { content, isError = false } = await client.callTool({ name: 'look_back', arguments: asked })
  const texts = (content as readonly { readonly type: string; readonly text?: string }[]).map(({ text = '' }) => text)
  return { isError: isError === true, text: texts.join('\n') }
}
