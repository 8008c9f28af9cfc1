import { type LoopbackServer, startServer } from './loopback-server.ts'

/** Something to say: a text, or commands to run. */
export interface CodexAnswer {
  /** Everything sent, and how much of it was cached. */
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly text?: string
  readonly command?: string
  /** Several at once. Each is called `call_` and the number of the request, then `_` and its own from the second on. */
  readonly commands?: readonly string[]
  /** A tool of an MCP server. */
  readonly tool?: { readonly server: string; readonly name: string; readonly input: unknown }
  /** Instead of an answer, a refusal with this code. */
  readonly error?: string
}

/** A stand-in for the Responses API, on the loopback. */
export interface ResponsesApi extends LoopbackServer {
  /** Who asked so far, in order. */
  readonly asked: readonly ('turn' | 'summary')[]
  /** The tools each of them brought. */
  readonly tools: readonly (readonly string[])[]
}

interface Body {
  readonly input: readonly unknown[]
  readonly tools?: readonly { readonly type: string; readonly name?: string }[]
}

/** What to say to a request, going by all it sends; the signal aborts when nobody waits for it any more. */
export type Answers = (sent: string, gone: AbortSignal) => Promise<CodexAnswer> | CodexAnswer

/** Starts a stand-in that gives these answers in order, or what it makes of a request, and `summary` to a compaction. */
export const startResponsesApi = async (
  turns: readonly CodexAnswer[] | Answers,
  summary?: CodexAnswer,
): Promise<ResponsesApi> => {
  const asked: ('turn' | 'summary')[] = []
  const brought: (readonly string[])[] = []
  const server = await startServer('/v1/responses', async ({ input, tools = [] }: Body, gone) => {
    brought.push(tools.map(({ type, name = type }) => name))
    const isSummary = JSON.stringify(input.at(-1)).includes('CONTEXT CHECKPOINT COMPACTION')
    const turn = asked.filter((who) => who === 'turn').length
    asked.push(isSummary ? 'summary' : 'turn')
    const sent = JSON.stringify(input)
    const said = isSummary ? summary : typeof turns === 'function' ? await turns(sent, gone) : turns[turn]
    if (said === undefined) throw new Error(`Nothing to say to request ${asked.length}`)
    return eventsOf(`${asked.length}`, said)
  })
  return { ...server, asked, tools: brought }
}

const eventsOf = (id: string, answer: CodexAnswer) => [
  { type: 'response.created', response: { id: `resp_${id}` } },
  ...(answer.error === undefined ? answered(id, answer) : [refused(id, answer.error)]),
]

const refused = (id: string, code: string) => ({
  type: 'response.failed',
  response: { id: `resp_${id}`, status: 'failed', error: { code, message: `Refused: ${code}` } },
})

const answered = (id: string, answer: CodexAnswer) => [
  ...itemsOf(id, answer).map((item, index) => ({ type: 'response.output_item.done', output_index: index, item })),
  { type: 'response.completed', response: { id: `resp_${id}`, usage: usageOf(answer) } },
]

const itemsOf = (
  id: string,
  { text = 'Done.', command, commands = command === undefined ? [] : [command], tool }: CodexAnswer,
) => {
  if (tool !== undefined) return [{ ...functionCall(id, tool.name, tool.input), namespace: `mcp__${tool.server}` }]
  return commands.length === 0
    ? [{ type: 'message', id: `msg_${id}`, role: 'assistant', content: [{ type: 'output_text', text }] }]
    : commands.map((cmd, index) => functionCall(index === 0 ? id : `${id}_${index + 1}`, 'exec_command', { cmd }))
}

const functionCall = (id: string, name: string, input: unknown) => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: `call_${id}`,
  name,
  arguments: JSON.stringify(input),
})

const usageOf = ({ input, cached, output }: CodexAnswer) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: input + output,
})
