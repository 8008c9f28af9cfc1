import { RuntimeFailure } from '../../../ports/agent/runtime-failure.ts'
import type { CodexUsage } from '../readers/rollout-totals.ts'

/** A value of Codex's configuration, as `--config` takes it. */
export type CodexConfigValue = string | number | boolean | CodexConfigValue[] | { [key: string]: CodexConfigValue }

/** The options of `new Codex(…)`. `test/agents` holds it against the SDK's own type. */
export interface CodexOptions {
  readonly codexPathOverride?: string
  readonly baseUrl?: string
  readonly apiKey?: string
  readonly config?: { [key: string]: CodexConfigValue }
  readonly configOverrides?: string[]
  /** All that the agent finds in its environment; nothing else is inherited. */
  readonly env?: Record<string, string>
}

/** The options of a thread. `test/agents` holds it against the SDK's own type. */
export interface CodexThreadOptions {
  readonly model?: string
  readonly threadSource?: string
  readonly sandboxMode?: 'read-only' | 'workspace-write' | 'danger-full-access'
  readonly workingDirectory?: string
  readonly skipGitRepoCheck?: boolean
  readonly modelReasoningEffort?: 'minimal' | 'low' | 'medium' | 'high' | 'xhigh'
  readonly networkAccessEnabled?: boolean
  readonly webSearchMode?: 'disabled' | 'cached' | 'live'
  readonly approvalPolicy?: 'never' | 'on-request' | 'on-failure' | 'untrusted'
  readonly additionalDirectories?: string[]
}

/** The parts of an item that we read. */
export interface CodexItem {
  readonly id: string
  readonly type: string
}

/** The parts of the SDK's `ThreadEvent` that we read. */
export type CodexEvent =
  | { readonly type: 'thread.started'; readonly thread_id: string }
  | { readonly type: 'turn.started' }
  | { readonly type: 'turn.completed'; readonly usage: CodexUsage }
  | { readonly type: 'turn.failed'; readonly error: { readonly message: string } }
  | { readonly type: 'item.started' | 'item.updated' | 'item.completed'; readonly item: CodexItem }
  | { readonly type: 'error'; readonly message: string }

/** The parts of the SDK's `Thread` that we use. */
export interface CodexThread<Event extends CodexEvent = CodexEvent> {
  runStreamed(
    input: string,
    options?: { readonly signal?: AbortSignal },
  ): Promise<{ readonly events: AsyncGenerator<Event> }>
}

/** The parts of the SDK's `Codex` that we use. */
export interface CodexClient<Event extends CodexEvent = CodexEvent> {
  startThread(options?: CodexThreadOptions): CodexThread<Event>
  resumeThread(id: string, options?: CodexThreadOptions): CodexThread<Event>
}

/** The parts of `@openai/codex-sdk` that we use; the package itself matches. */
export interface CodexSdk<Event extends CodexEvent = CodexEvent> {
  readonly Codex: new (options?: CodexOptions) => CodexClient<Event>
}

const PACKAGE = '@openai/codex-sdk'

const missing = (cause: unknown): RuntimeFailure => {
  const hint = `It is optional, and only needed to run Codex: npm install ${PACKAGE}`
  return new RuntimeFailure('runtime.missing', `The package ${PACKAGE} could not be loaded. ${hint}`, { cause })
}

/** Loads the SDK when it is first needed. @throws RuntimeFailure `runtime.missing` */
export const loadCodexSdk = async (name: string = PACKAGE): Promise<CodexSdk> => {
  try {
    // By a variable: a literal would have to be installed for this file to compile.
    return (await import(name)) as CodexSdk
  } catch (error) {
    throw missing(error)
  }
}
