import { type LoopbackServer, type Said, startServer } from './loopback-server.ts'

/** The counters of one answer, as the Messages API reports them. */
export interface Usage {
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
  readonly output_tokens: number
}

/** Something to say: a text, or a tool to call. */
export interface Answer {
  readonly usage: Usage
  readonly text?: string
  readonly tool?: { readonly name: string; readonly input: unknown }
  /** Said in place of an answer. */
  readonly error?: { readonly status: number; readonly type: string; readonly message: string }
  /** It is said after this; the signal aborts when nobody waits for it any more. */
  readonly after?: (gone: AbortSignal) => Promise<unknown>
}

/** Who asks: the main thread, a subagent, the compaction, or a helper of the command such as the one that finds titles. */
export type Asker = 'turn' | 'subagent' | 'summary' | 'question' | 'auxiliary'

/** What to say to whom. The main thread's answers go in order, and the last one is repeated. */
export interface Script {
  readonly turns?: readonly Answer[]
  /** In their place: what is said goes by what the main thread sends. */
  readonly play?: (body: Body) => Answer
  /** The same for several sessions, in the order they first ask; each has answers of its own. */
  readonly windows?: readonly (readonly Answer[])[]
  readonly summary?: Answer
  /** A subagent is known by what it was asked to do. */
  readonly subagent?: Answer & { readonly prompt: string }
  /** A question that offers no tools is known by its words; otherwise it would look like a helper's. */
  readonly question?: Answer & { readonly prompt: string }
  /** Its answers and calls are numbered after this, so that those of several stand-ins can be told apart. */
  readonly numberedAfter?: number
}

/** A stand-in for the Messages API, on the loopback. */
export interface MessagesApi extends LoopbackServer {
  /** Who asked so far, in order. */
  readonly asked: readonly Asker[]
  /** What they sent, in the same order. */
  readonly requests: readonly Body[]
}

/** What is looked at of a request. */
export interface Body {
  readonly model: string
  readonly tools?: readonly unknown[]
  readonly messages: readonly { readonly content: unknown }[]
  /** Holds the name of the session that asks. */
  readonly metadata?: { readonly user_id?: string }
}

const SMALL: Usage = {
  input_tokens: 7,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 3,
}

/** Starts a stand-in that follows a script. */
export const startMessagesApi = async (script: Script): Promise<MessagesApi> => {
  const asked: Asker[] = []
  const requests: Body[] = []
  const played = new Map<string, number>()
  const nextTurn = (body: Body): Answer | undefined => {
    if (script.play !== undefined) return script.play(body)
    const { metadata } = body
    const session = script.windows === undefined ? '' : (metadata?.user_id ?? '')
    const turn = played.get(session) ?? 0
    played.set(session, turn + 1)
    const window = script.windows?.[[...played.keys()].indexOf(session)] ?? script.turns ?? []
    return window[turn] ?? window.at(-1)
  }
  const server = await startServer('/v1/messages', (body: Body, gone): Promise<Said> => {
    const asker = askerOf(body, script)
    asked.push(asker)
    requests.push(body)
    const said = {
      turn: asker === 'turn' ? nextTurn(body) : undefined,
      subagent: script.subagent,
      summary: script.summary,
      question: script.question,
      auxiliary: undefined,
    }[asker]
    const number = (script.numberedAfter ?? 0) + asked.length
    return sayingOf(number, body.model, said ?? { text: 'Yes.', usage: SMALL }, gone)
  })
  return { ...server, asked, requests }
}

const sayingOf = async (number: number, model: string, answer: Answer, gone: AbortSignal): Promise<Said> => {
  const { error, after } = answer
  await after?.(gone)
  if (error === undefined) return eventsOf(messageOf(number, model, answer))
  const { status, type, message } = error
  return { status, body: { type: 'error', error: { type, message }, request_id: `req_${number}` } }
}

const askerOf = ({ tools = [], messages }: Body, { subagent, question }: Script): Asker => {
  if (question && JSON.stringify(messages.at(-1)?.content).includes(question.prompt)) return 'question'
  if (JSON.stringify(messages.at(-1)?.content).includes('detailed summary')) return 'summary'
  if (subagent && JSON.stringify(messages[0]?.content).includes(subagent.prompt)) return 'subagent'
  return tools.length > 0 ? 'turn' : 'auxiliary'
}

const messageOf = (number: number, model: string, { text = 'Done.', tool, usage }: Answer) => ({
  id: `msg_${number}`,
  type: 'message',
  role: 'assistant',
  model,
  content: [tool === undefined ? { type: 'text', text } : { type: 'tool_use', id: `toolu_${number}`, ...tool }],
  stop_reason: tool === undefined ? 'end_turn' : 'tool_use',
  stop_sequence: null,
  usage,
})

/** As the API streams it: the true input side with an output of 1 first, the whole output at the end. */
const eventsOf = ({ content, stop_reason, usage, ...message }: ReturnType<typeof messageOf>) => [
  {
    type: 'message_start',
    message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
  },
  ...content.flatMap((block, index) => [
    {
      type: 'content_block_start',
      index,
      content_block: 'text' in block ? { ...block, text: '' } : { ...block, input: {} },
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
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
  { type: 'message_stop' },
]
