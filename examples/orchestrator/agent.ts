import {
  type AgentRun,
  type AgentRuntime,
  functionRuntime,
  type RunEvent,
  type RunItem,
  type RunRequest,
  type RunSummary,
} from '../../src/entry/index.ts'

/** A message of the agent below. */
interface Said {
  readonly id: string
  readonly text: string
}

/** An agent that answers once. Put your own loop in its place. */
export const echo: AgentRuntime<Said> = functionRuntime({
  backend: 'echo',
  start: async function* ({ prompt }) {
    yield { id: 'answer-1', text: `Done: ${prompt}` }
  },
  read: ({ id, text }: Said) => ({
    events: [{ type: 'request', key: id, promptTokens: 40, outputTokens: 9 }],
    texts: [{ role: 'assistant', text }],
  }),
})

/** The request that every job of ours begins with. */
export const requestFor = (prompt: string): RunRequest<Said> => ({
  runtime: echo,
  agent: 'echo',
  prompt,
  policy: 'auto',
})

/** Follows a run: what was said, what happened beside it, and how it ended. */
export const follow = async (run: AgentRun<Said>): Promise<RunSummary> => {
  const events: RunEvent['type'][] = []
  for await (const item of run.everything()) {
    const one: RunItem<Said> = item
    if (one.type === 'message') console.log(one.message.text)
    else events.push(one.type)
  }
  console.log(`${events.length} events`)
  return run.summary
}
