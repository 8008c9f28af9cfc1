import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The counters of one answer, as the Messages API reports them. */
export interface AnswerUsage {
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
  readonly output_tokens: number
}

/** What the stand-in says next in the main thread. */
export interface Answer {
  readonly usage: AnswerUsage
  readonly text?: string
  readonly tool?: { readonly name: string; readonly input: unknown }
}

/** A request as it came in. */
export interface Request {
  readonly kind: 'turn' | 'summary' | 'auxiliary'
  readonly model: string
}

/** A Messages API on the loopback that gives the answers it was told to, in order, and remembers what it was asked. */
export interface MessagesApi extends AsyncDisposable {
  readonly url: string
  readonly requests: readonly Request[]
}

const SMALL: AnswerUsage = {
  input_tokens: 7,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 3,
}

/** Starts one. After the last answer it repeats that one. */
export const startMessagesApi = async (
  answers: readonly Answer[],
  summary: AnswerUsage = SMALL,
): Promise<MessagesApi> => {
  const requests: Request[] = []
  const answer = (body: Body): Answer => {
    const kind = kindOf(body)
    const turn = requests.filter((request) => request.kind === 'turn').length
    requests.push({ kind, model: body.model })
    if (kind === 'summary') return { text: '<summary>What was done so far.</summary>', usage: summary }
    return (kind === 'turn' ? (answers[turn] ?? answers.at(-1)) : undefined) ?? { text: 'Title', usage: SMALL }
  }
  const server = createServer((request, response) => {
    void respond(request, response, answer).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface Body {
  readonly model: string
  readonly stream?: boolean
  readonly tools?: readonly unknown[]
  readonly messages: readonly { readonly content: unknown }[]
}

const kindOf = ({ tools = [], messages }: Body): Request['kind'] => {
  if (JSON.stringify(messages.at(-1)?.content).includes('detailed summary')) return 'summary'
  return tools.length > 0 ? 'turn' : 'auxiliary'
}

const respond = async (request: IncomingMessage, response: ServerResponse, answer: (body: Body) => Answer) => {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  if (process.env.DEBUG_API) console.error(request.method, request.url, text.length)
  if (request.method !== 'POST' || (!request.url?.startsWith('/v1/messages?') && request.url !== '/v1/messages')) {
    response
      .writeHead(404, { 'content-type': 'application/json' })
      .end('{"type":"error","error":{"type":"not_found_error","message":"No"}}')
    return
  }
  const body = JSON.parse(text) as Body
  const message = messageOf(body.model, answer(body))
  if (process.env.DEBUG_API)
    console.error(
      kindOf(body),
      body.model,
      body.stream,
      body.tools?.length,
      JSON.stringify(body.messages.at(-1)).slice(0, 300),
    )
  if (body.stream !== true) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of eventsOf(message)) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  response.end()
}

let served = 0

const messageOf = (model: string, { text, tool, usage }: Answer) => {
  served += 1
  const content =
    tool === undefined
      ? [{ type: 'text', text: text ?? 'Done.' }]
      : [{ type: 'tool_use', id: `toolu_${served}`, ...tool }]
  const stop_reason = tool === undefined ? 'end_turn' : 'tool_use'
  return {
    id: `msg_${served}`,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason,
    stop_sequence: null,
    usage,
  }
}

/** As the API streams it: the input side first with an output of 1, the final output at the end. */
const eventsOf = (message: ReturnType<typeof messageOf>) => [
  {
    type: 'message_start',
    message: { ...message, content: [], stop_reason: null, usage: { ...message.usage, output_tokens: 1 } },
  },
  ...message.content.flatMap((block, index) => [
    {
      type: 'content_block_start',
      index,
      content_block: 'text' in block ? { type: 'text', text: '' } : { ...block, input: {} },
    },
    {
      type: 'content_block_delta',
      index,
      delta:
        'text' in block
          ? { type: 'text_delta', text: block.text }
          : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
    },
    { type: 'content_block_stop', index },
  ]),
  { type: 'message_delta', delta: { stop_reason: message.stop_reason, stop_sequence: null }, usage: message.usage },
  { type: 'message_stop' },
]
