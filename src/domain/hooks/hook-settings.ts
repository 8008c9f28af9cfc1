/** When a hook is called. */
export const HOOK_MOMENTS = [
  'after_run',
  'on_error',
  'on_context_threshold',
  'on_session_start',
  'after_handoff',
] as const

/** When a hook is called. */
export type HookMoment = (typeof HOOK_MOMENTS)[number]

/** The events a hook may wait for; without a list it waits for all of them. */
export const HOOK_EVENTS = [
  'completed',
  'failed',
  'timeout',
  'cancelled',
  'context_threshold',
  'session_start',
  'handoff_completed',
] as const

/** An event a hook may wait for. */
export type HookEvent = (typeof HOOK_EVENTS)[number]

/** The types of hooks. */
export const HOOK_TYPES = [
  'shell',
  'webhook',
  'slack',
  'discord',
  'function',
] as const satisfies readonly HookSettings['type'][]

/** The HTTP methods of a webhook. */
export const HOOK_METHODS = ['POST', 'PUT', 'PATCH'] as const

interface HookCommon {
  readonly moment: HookMoment
  readonly name?: string
  readonly onEvents?: readonly HookEvent[]
  /** A dot path into the payload; the hook is called when what it leads to is truthy. */
  readonly when?: string
  /** Whether the hooks after this one are called when it fails. */
  readonly shouldContinueOnError: boolean
  readonly timeoutMs: number
}

/** The second argument of a function hook, beside the payload. */
export interface HookCall {
  /** Aborts when the time is up, or when the caller no longer wants the answer. */
  readonly signal: AbortSignal
}

/** A hook in the process itself. What it returns is its output: a text as it is, anything else as JSON. */
export type HookFunction = (payload: unknown, call: HookCall) => unknown

/** The variable that usually holds the token of a Slack bot. */
export const DEFAULT_SLACK_TOKEN = 'SLACK_BOT_TOKEN'

/** A channel that a bot writes to. */
export interface SlackChannel {
  readonly channelId: string
  /** The name of the variable that holds the bot's token. */
  readonly botTokenEnv: string
}

/** A hook as it was configured. */
export type HookSettings = HookCommon &
  (
    | { readonly type: 'shell'; readonly command: string | readonly string[] }
    | {
        readonly type: 'webhook'
        readonly url: string
        readonly method: (typeof HOOK_METHODS)[number]
        readonly headers: Readonly<Record<string, string>>
        /** The secret that signs requests; `${NAME}` stands for a variable. Absent means unsigned. */
        readonly secret?: string
      }
    | { readonly type: 'slack' | 'discord'; readonly url: string }
    | ({ readonly type: 'slack' } & SlackChannel)
    | { readonly type: 'function'; readonly run: HookFunction }
  )
