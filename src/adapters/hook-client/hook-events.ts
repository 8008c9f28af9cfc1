/** The hooks that `baton hook` answers, by the word on its command line. */
export const HOOK_EVENTS = [
  'statusline',
  'session-start',
  'user-prompt-submit',
  'post-tool-use',
  'pre-compact',
  'post-compact',
  'stop',
  'session-end',
] as const

/** One of the hooks. */
export type HookEvent = (typeof HOOK_EVENTS)[number]

/** Whether a word names a hook. */
export const isHookEvent = (word: string | undefined): word is HookEvent =>
  (HOOK_EVENTS as readonly (string | undefined)[]).includes(word)

/** Whether an event is spooled before it is sent: a sample comes again with the next request, the others never. */
export const isKept = (event: HookEvent | 'ack'): boolean => event !== 'statusline' && event !== 'post-tool-use'

/** The body of `POST /hooks/events`, and of a file in the spool. */
export interface HookPost {
  readonly v: 1
  readonly commandId: string
  readonly at: string
  readonly event: HookEvent | 'ack'
  /** The name of the terminal agent. */
  readonly runtime: string
  readonly payload: Readonly<Record<string, unknown>>
  /** How long the service may wait for the transcript before it answers. */
  readonly waitMs?: number
}
