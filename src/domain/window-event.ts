import type { Instant } from './instant.ts'

/** What caused a compaction, as far as the runtime says. */
export type CompactionTrigger = 'auto' | 'manual' | 'unknown'

/**
 * What a runtime's record says about the window, in one vocabulary for all runtimes.
 *
 * A `request` is one request of the main thread: the only thing a reading is made of. Sums over requests are accounting
 * and have no place here.
 */
export type WindowEvent = { readonly at?: Instant } & (
  | {
      readonly type: 'request'
      /** The runtime's name for the request. Reported in parts or again, it is still one. */
      readonly key: string
      readonly model?: string
      /** Everything the request sent, cached parts included. */
      readonly promptTokens: number
      /** What the answer added; the next request sends it again. */
      readonly outputTokens: number
    }
  /** The runtime's own guess of what the window holds, between requests. */
  | { readonly type: 'estimate'; readonly tokens: number }
  /** Some runtimes do not name every call. */
  | { readonly type: 'tool_call'; readonly callId?: string; readonly toolName: string }
  /** Text that came after the last request and no usage counts yet. */
  | { readonly type: 'appended'; readonly characters: number }
  | { readonly type: 'compacting' }
  | { readonly type: 'compaction'; readonly trigger: CompactionTrigger; readonly preTokens?: number }
  /** The window was emptied on purpose. */
  | { readonly type: 'cleared' }
  /** How large the runtime says the window is; of these models when it names any. */
  | { readonly type: 'window'; readonly tokens: number; readonly models?: readonly string[] }
  | { readonly type: 'model'; readonly model: string }
  | { readonly type: 'subagent_request'; readonly key: string }
  /** An answer without usage: the reading stays what it was, or unknown. */
  | { readonly type: 'unmetered' }
)
