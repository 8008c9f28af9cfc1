import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { CodexEvent, CodexOptions, CodexSdk, CodexThreadOptions } from '../../src/entry/codex.ts'
import type { RunningAgent, RuntimeStep } from '../../src/ports/agent/agent-runtime.ts'

export const THREAD = '01a1e3d1-7c80-79e2-84f4-2f66d67dac24'

export type Step = RuntimeStep<CodexEvent>

/** What a fake SDK was asked for, and how its runs went. */
export interface FakeCodex {
  readonly sdk: CodexSdk
  readonly codex: CodexOptions[]
  readonly threads: { readonly id?: string; readonly options?: CodexThreadOptions | undefined }[]
  readonly runs: { readonly input: string; readonly signal?: AbortSignal | undefined; isGone: boolean }[]
}

/** Events, and what happens between them: a function is called when it is reached, and may wait or throw. */
export type Script = readonly (CodexEvent | ((signal?: AbortSignal) => unknown))[]

/** An SDK that says what it is told to, and ends like the real one does. */
export const fakeCodex = (script: Script): FakeCodex => {
  const fake: Omit<FakeCodex, 'sdk'> = { codex: [], threads: [], runs: [] }
  const thread = (id?: string, options?: CodexThreadOptions) => {
    fake.threads.push(id === undefined ? { options } : { id, options })
    return { runStreamed: async (input: string, { signal }: { signal?: AbortSignal } = {}) => run(input, signal) }
  }
  const run = (input: string, signal?: AbortSignal) => {
    const state = { input, signal, isGone: false }
    fake.runs.push(state)
    return { events: play(script, state) }
  }
  class Codex {
    constructor(options: CodexOptions = {}) {
      fake.codex.push(options)
    }
    startThread = (options?: CodexThreadOptions) => thread(undefined, options)
    resumeThread = (id: string, options?: CodexThreadOptions) => thread(id, options)
  }
  return { ...fake, sdk: { Codex } }
}

async function* play(
  script: Script,
  state: { readonly signal?: AbortSignal | undefined; isGone: boolean },
): AsyncGenerator<CodexEvent> {
  try {
    for (const part of script) {
      state.signal?.throwIfAborted()
      if (typeof part === 'function') await part(state.signal)
      else yield part
    }
    state.signal?.throwIfAborted()
  } finally {
    // A process takes a moment to go; whoever does not wait for it leaves it behind.
    await new Promise((resolve) => setTimeout(resolve, 20))
    state.isGone = true
  }
}

/** Never goes on, until it is aborted. */
export const hang = (signal?: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }))

export const started: CodexEvent = { type: 'thread.started', thread_id: THREAD }
export const completed = (input_tokens: number, output_tokens: number): CodexEvent => ({
  type: 'turn.completed',
  usage: { input_tokens, output_tokens },
})
export const item = (type: 'item.started' | 'item.completed', given: object): CodexEvent => ({
  type,
  item: { id: 'item_0', type: 'agent_message', ...given },
})

/** A folder that is gone after the test. */
export const temporaryHome = (): string => {
  const home = mkdtempSync(join(tmpdir(), 'batonpass-codex-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }))
  return home
}

export const rolloutPath = (home: string, thread = THREAD, day = '2026/11/16'): string =>
  join(home, 'sessions', day, `rollout-${day.replaceAll('/', '-')}T10-05-19-${thread}.jsonl`)

/** Writes lines to a rollout, as Codex does. */
export const write = (path: string, ...records: readonly object[]): void => {
  mkdirSync(dirname(path), { recursive: true })
  appendFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
}

export const message = (role: string, text: string): object => ({
  type: 'response_item',
  payload: { type: 'message', role, content: [{ type: 'output_text', text }] },
})
export const call = (call_id: string): object => ({
  type: 'response_item',
  payload: { type: 'function_call', call_id, name: 'exec_command' },
})
export const output = (call_id: string): object => ({
  type: 'response_item',
  payload: { type: 'function_call_output', call_id, output: 'done' },
})
/** A request of so many tokens, in a thread that has used so many. */
export const tokenCount = (input: number, output: number, [totalInput, totalOutput]: readonly [number, number]) => {
  const usage = (input_tokens: number, output_tokens: number) => ({
    ...{ input_tokens, output_tokens, total_tokens: input_tokens + output_tokens },
  })
  const info = { last_token_usage: usage(input, output), total_token_usage: usage(totalInput, totalOutput) }
  return { type: 'event_msg', payload: { type: 'token_count', info: { ...info, model_context_window: 258_400 } } }
}

export const all = async ({ steps }: RunningAgent<CodexEvent>): Promise<readonly Step[]> => {
  const said: Step[] = []
  for await (const step of steps) said.push(step)
  return said
}
