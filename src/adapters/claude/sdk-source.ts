import { setTimeout as pause } from 'node:timers/promises'
import { AgentProcess } from './agent-process.ts'
import type { AgentSource } from './agent-source.ts'
import { readContextUsage } from './context-usage.ts'
import type { AgentSdk, SdkMessage, SdkOwnOptions, SdkPrompt } from './sdk-module.ts'

/** One prompt, and then nothing until it is closed: an input that ends would take interrupt and questions with it. */
class OpenInput {
  readonly #prompt: SdkPrompt
  readonly #closed: Promise<void>
  close: () => void = () => {}

  constructor(prompt: SdkPrompt) {
    this.#prompt = prompt
    this.#closed = new Promise((resolve) => {
      this.close = resolve
    })
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SdkPrompt, void> {
    yield this.#prompt
    await this.#closed
  }
}

/** After its result a query has only to end; its transcript may still be written meanwhile. */
const DRAIN_MS = 5_000

/** A query of the SDK, with a process of ours: the SDK's own is ended seconds after a query is closed, or later. */
export const openQuery = <Message extends SdkMessage>(
  sdk: AgentSdk<Message>,
  prompt: SdkPrompt,
  options: SdkOwnOptions & { readonly stderr?: (text: string) => void },
): AgentSource<Message> => {
  const started: AgentProcess[] = []
  const spawnClaudeCodeProcess = spawnInto(started, options.stderr)
  const input = new OpenInput(prompt)
  const query = sdk.query({ prompt: input, options: { spawnClaudeCodeProcess, ...options } })
  const messages = query[Symbol.asyncIterator]()
  return {
    messages,
    interrupt: () => query.interrupt(),
    window: async () => readContextUsage(await query.getContextUsage?.({ detail: 'summary' })),
    finish: () => input.close(),
    complaint: () => started.map((agent) => agent.complaint()).join('\n'),
    close: async (hasFinished) => {
      input.close()
      if (hasFinished) await Promise.race([drain(messages), pause(DRAIN_MS, undefined, { ref: false })])
      query.close()
      await Promise.all(started.map((agent) => agent.end(hasFinished)))
    },
  }
}

const spawnInto =
  (started: AgentProcess[], stderr?: (text: string) => void): NonNullable<SdkOwnOptions['spawnClaudeCodeProcess']> =>
  (start) => {
    const agent = new AgentProcess({ ...start, ...(stderr && { stderr }) })
    started.push(agent)
    return agent.child
  }

/** What comes after a result is not part of the answer; an error result is thrown once more at the end. */
const drain = async (messages: AsyncIterator<unknown>): Promise<void> => {
  try {
    while (!(await messages.next()).done);
  } catch {}
}
