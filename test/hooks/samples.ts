import { readFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type AfterHandoffPayload,
  type AfterRunPayload,
  type ErrorPayload,
  type HookMoment,
  type HookPayloads,
  type HookSettings,
  hookContext,
  hookSession,
  type SessionStartPayload,
  type ThresholdPayload,
} from '../../src/entry/hooks.ts'

const session = hookSession({
  sessionId: 's-2',
  agentName: 'claude-code',
  jobId: 'job-7',
  workspace: { branch: 'fix' },
})
const original_prompt = 'Fix the flaky test'

export const threshold: ThresholdPayload = {
  hook_event_name: 'context_threshold',
  context: hookContext({ inputTokens: 170_000, contextWindow: 200_000, modelName: 'opus' }),
  session,
  original_prompt,
}

export const sessionStart: SessionStartPayload = {
  hook_event_name: 'session_start',
  session: { ...session, is_continuation: true, previous_session_id: 's-1', handoff_count: 1 },
  original_prompt,
  prompt: 'Go on from the checkpoint',
}

export const afterRun: AfterRunPayload = {
  hook_event_name: 'completed',
  run: { duration_ms: 61_000, handoff_count: 1, error: null },
  session,
  original_prompt,
}

export const onError: ErrorPayload = {
  hook_event_name: 'failed',
  error: { code: 'restart.exhausted', message: 'No restart is left' },
  session,
  original_prompt,
}

export const afterHandoff: AfterHandoffPayload = {
  hook_event_name: 'handoff_completed',
  handoff: {
    handoff_id: 'h-1',
    kind: 'context_restart',
    reason: 'The window is full',
    handoff_number: 1,
    previous_session_id: 's-1',
    new_session_id: 's-2',
  },
  session,
  original_prompt,
}

/** A payload for each moment. */
export const SAMPLES: HookPayloads = {
  after_run: afterRun,
  on_error: onError,
  on_context_threshold: threshold,
  on_session_start: sessionStart,
  after_handoff: afterHandoff,
}

type Common = Partial<Pick<HookSettings, 'name' | 'when' | 'onEvents' | 'shouldContinueOnError' | 'timeoutMs'>>

const common = (moment: HookMoment, more: Common) => ({
  moment,
  shouldContinueOnError: true,
  timeoutMs: 10_000,
  ...more,
})

export const shell = (
  command: string | readonly string[],
  more: Common & { readonly moment?: HookMoment } = {},
): HookSettings => ({ ...common(more.moment ?? 'on_context_threshold', more), type: 'shell', command })

/** A program for Node itself, without a shell. */
export const node = (program: string, more: Common = {}): HookSettings => shell([process.execPath, '-e', program], more)

export const webhook = (
  url: string,
  more: Common & Partial<Pick<Extract<HookSettings, { type: 'webhook' }>, 'headers' | 'secret' | 'method'>> = {},
): HookSettings => ({
  ...common('after_run', more),
  type: 'webhook',
  url,
  method: more.method ?? 'POST',
  headers: more.headers ?? {},
  ...(more.secret === undefined ? {} : { secret: more.secret }),
})

export const chat = (type: 'slack' | 'discord', url: string): HookSettings => ({
  ...common('after_run', {}),
  type,
  url,
})

export const inProcess = (
  run: Extract<HookSettings, { type: 'function' }>['run'],
  more: Common = {},
): HookSettings => ({
  ...common('on_context_threshold', more),
  type: 'function',
  run,
})

/** What a server was sent. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A server on this machine, and everything it was sent. */
export interface Server extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly received: readonly Received[]
}

/** Starts a server that answers as it is told, once it has read the whole request. */
export const serve = async (answer: RequestListener = (_, response) => response.end('ok')): Promise<Server> => {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = '', url: path = '', headers } = request
    received.push({ method, path, headers, body: Buffer.concat(chunks).toString() })
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    received,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Whether a process is there and has not ended. One that nobody has buried yet does not count. */
export const isRunning = async (pid: number): Promise<boolean> => {
  try {
    process.kill(pid, 0)
    const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    return !/\) Z /.test(state)
  } catch {
    return false
  }
}
