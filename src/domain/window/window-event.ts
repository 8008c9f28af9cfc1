import type { Instant } from '../kernel/instant.ts'

/** The possible causes of a compaction. */
export const COMPACTION_TRIGGERS = ['auto', 'manual', 'unknown'] as const

/** The cause of a compaction, where the runtime names it. */
export type CompactionTrigger = (typeof COMPACTION_TRIGGERS)[number]

/** Details that any record may have beside the event. */
interface WindowEventOrigin {
  /** By the runtime's clock. */
  readonly at?: Instant
  /** The runtime's name for what it reports. Reported in parts or again, it is still one. */
  readonly key?: string
  /** The thread it happened in, where a runtime sends several through one stream. */
  readonly thread?: string
}

/**
 * A runtime's statement about the window, in one vocabulary for all runtimes.
 *
 * A `request` is one request of the main thread: the only thing a reading is made of. Sums over requests are accounting
 * and have no place here.
 */
export type WindowEvent = WindowEventOrigin &
  (
    | {
        readonly type: 'request'
        readonly key: string
        readonly model?: string
        /** Everything the request sent, cached parts included. */
        readonly promptTokens: number
        /** Tokens of the answer; the next request sends them again. */
        readonly outputTokens: number
        /** Reported after what its answer led to: what came since the last request is not in it. */
        readonly isLate?: boolean
        /** Whether the answer was complete when it was counted. */
        readonly isComplete?: boolean
      }
    /** The usage of one response. A runtime may report the same as a `request`; it counts only when no `request` comes. */
    | {
        readonly type: 'response_usage'
        readonly key: string
        readonly promptTokens: number
        readonly outputTokens: number
      }
    /** The final counters of the answer that is being streamed. They do not name their request: it is the current one. */
    | { readonly type: 'answered'; readonly outputTokens: number; readonly promptTokens?: number }
    /** How full the window is, from a runtime that counts nothing: a percentage of the model's whole window. */
    | { readonly type: 'percentage'; readonly usedPercent: number }
    /** Text of the answer to a request: while it streams, its count may know nothing of it yet. */
    | { readonly type: 'answer_text'; readonly request: string; readonly characters: number }
    /** The runtime's own guess of what the window holds, after a compaction and before the next request. */
    | { readonly type: 'estimate'; readonly tokens: number }
    /** Some runtimes do not name every call. */
    | {
        readonly type: 'tool_call'
        readonly callId?: string
        readonly toolName: string
        /** The argument that tells it from other uses of the tool, where the runtime says. */
        readonly argument?: string
      }
    /** Text that came after the last request and no usage counts yet. */
    | { readonly type: 'appended'; readonly characters: number }
    | { readonly type: 'compacting' }
    | { readonly type: 'compaction'; readonly trigger: CompactionTrigger; readonly preTokens?: number }
    /** The window was emptied on purpose. */
    | { readonly type: 'cleared' }
    /** The runtime itself cannot say what the window holds now. It is no compaction, and re-arms nothing. */
    | { readonly type: 'unknown' }
    /** How large the runtime says the window is; of these models when it names any. */
    | { readonly type: 'window'; readonly tokens: number; readonly models?: readonly string[] }
    /** Where the runtime says it will compact by itself. */
    | { readonly type: 'auto_compact_at'; readonly tokens: number }
    /** How far before the end of its window the runtime is known to compact, where it does not say at which point. */
    | {
        readonly type: 'auto_compact_reserve'
        readonly tokens: number
        /** The part of what is left before it at which it compacts; all of it unless given. */
        readonly share?: number
      }
    | { readonly type: 'model'; readonly model: string }
    /** Which thread speaks. The first one named is the one that is followed; one with a parent is a subagent's. */
    | { readonly type: 'thread'; readonly thread: string; readonly parent?: string }
    | { readonly type: 'subagent_request'; readonly key: string }
    /** An answer without usage: the reading stays what it was, or unknown. It is a turn too. */
    | { readonly type: 'unmetered'; readonly model?: string }
  )
