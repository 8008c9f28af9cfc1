import type { RunningAgent, RuntimeStep } from '../../src/ports/agent/agent-runtime.ts'

/** Any message, as the runtime would send it. */
export type Sent = { readonly type: string } & Readonly<Record<string, unknown>>

const SESSION = { session_id: 'session-1', parent_tool_use_id: null }

/** An answer of the agent. */
export const answer = (id: string, text: string, more: Readonly<Record<string, unknown>> = {}): Sent => ({
  type: 'assistant',
  ...SESSION,
  message: {
    id,
    model: 'claude-sonnet-4-5',
    content: [{ type: 'text', text }],
    usage: { input_tokens: 5, cache_creation_input_tokens: 20, cache_read_input_tokens: 300, output_tokens: 7 },
    ...more,
  },
})

/** A result, a good one unless said otherwise. */
export const result = (more: Readonly<Record<string, unknown>> = {}): Sent => ({
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: 'Done.',
  session_id: 'session-1',
  terminal_reason: 'completed',
  ...more,
})

/** All steps of an agent. */
export const collect = async <Message>({
  steps,
}: Pick<RunningAgent<Message>, 'steps'>): Promise<readonly RuntimeStep<Message>[]> => {
  const all: RuntimeStep<Message>[] = []
  for await (const step of steps) all.push(step)
  return all
}

/** How an agent came to rest. */
export const endOfRun = async (agent: RunningAgent<unknown>) => (await collect(agent)).at(-1)?.end

/** Waits until something is so, and fails when it never is. */
export const until = async (isSo: () => boolean, ms = 5_000): Promise<void> => {
  for (const end = performance.now() + ms; !isSo(); await new Promise((resolve) => setTimeout(resolve, 10))) {
    if (performance.now() > end) throw new Error('It never was so')
  }
}
