import { setTimeout as pause } from 'node:timers/promises'
import { defined } from '../../../domain/kernel/defined.ts'
import type { OnProcess } from '../../../ports/agent/agent-runtime.ts'
import { readContextUsage } from '../readers/context-usage.ts'
import type { AgentSource } from './agent-source.ts'
import { ClaudeProcess, type ClaudeStart } from './claude-process.ts'
import { Inbox } from './inbox.ts'
import { type AgentSdk, asideOf, type SdkMessage, type SdkOwnOptions, type SdkPrompt } from './sdk-module.ts'

/**
 * One prompt, once the process it goes to is on record, and then what is said beside the work until it is closed: an input
 * that ends would take interrupt and questions with it.
 */
class OpenInput {
  readonly #isReady: () => Promise<unknown>
  readonly #inbox = new Inbox<SdkPrompt | 'closed'>()

  constructor(prompt: SdkPrompt, isReady: () => Promise<unknown>) {
    this.#inbox.put(prompt)
    this.#isReady = isReady
  }

  say(prompt: SdkPrompt): void {
    this.#inbox.put(prompt)
  }

  close(): void {
    this.#inbox.put('closed')
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SdkPrompt, void> {
    await this.#isReady()
    for (;;) {
      const next = await this.#inbox.take()
      if (next === 'closed') return
      yield next
    }
  }
}

/** After its result a query has only to end; its transcript may still be written meanwhile. */
const DRAIN_MS = 5_000

/** A query of the SDK, with a process of ours: the SDK's own is ended seconds after a query is closed, or later. */
export const openQuery = <Message extends SdkMessage>(
  sdk: AgentSdk<Message>,
  prompt: SdkPrompt,
  {
    onProcess,
    ...options
  }: SdkOwnOptions & { readonly stderr?: (text: string) => void; readonly onProcess?: OnProcess },
): AgentSource<Message> => {
  const started: ClaudeProcess[] = []
  const spawnClaudeCodeProcess = spawnInto(started, defined({ stderr: options.stderr, onProcess }))
  const input = new OpenInput(prompt, () => Promise.all(started.map(({ recorded }) => recorded)))
  const query = sdk.query({ prompt: input, options: { spawnClaudeCodeProcess, ...options } })
  const messages = query[Symbol.asyncIterator]()
  return {
    messages,
    tell: (text) => input.say(asideOf(text)),
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
  (
    started: ClaudeProcess[],
    more: Pick<ClaudeStart, 'stderr' | 'onProcess'>,
  ): NonNullable<SdkOwnOptions['spawnClaudeCodeProcess']> =>
  (start) => {
    const agent = new ClaudeProcess({ ...start, ...more })
    started.push(agent)
    return agent.child.process
  }

/** Messages after a result are not part of the answer; an error result is thrown once more at the end. */
const drain = async (messages: AsyncIterator<unknown>): Promise<void> => {
  try {
    while (!(await messages.next()).done);
  } catch {}
}
