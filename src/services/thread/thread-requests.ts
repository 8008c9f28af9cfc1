import type { ConversationId, HolderToken } from '../../domain/kernel/ids.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import type { OpenThread, ThreadOpened } from '../../domain/thread/open-thread.ts'
import type { ThreadSettings } from './thread-deps.ts'

/** A request for a draft. */
export interface PreviewRequest extends Pick<ThreadSettings, 'summarizer' | 'file' | 'budgetTokens'> {
  /** The conversation that is summarised. */
  readonly conversation: ConversationId
  /** The folder of the memory file; the conversation's own place unless given. */
  readonly workspace?: string
  /** A summary that a person or a program wrote, instead of asking for one. */
  readonly summary?: string
  readonly signal?: AbortSignal
}

/** How a thread is opened; everything has a default. */
export interface AcceptOptions {
  /** The external key of the thread; one of its own unless given. */
  readonly key?: string
  /** The task of the thread; that of the parent unless given. */
  readonly task?: string
  /** The agent of the thread; the same as before unless given. */
  readonly agent?: string
  readonly backend?: string
  readonly model?: string
  readonly reason?: string
  readonly child?: Pick<NonNullable<OpenThread['child']>, 'subject' | 'workspace' | 'metadata'>
}

/** A thread that was opened, and its summary in the file. */
export interface ThreadAccepted extends Omit<ThreadOpened, 'holder'> {
  /** The token of the thread's first session. A draft that is accepted again has none: take the session over. */
  readonly holder?: HolderToken
  readonly threadKey: string
  /** The file that the summary is in. */
  readonly path: string
  readonly expiresAt: Instant
  /** Everything that went wrong beside it, in sentences. */
  readonly warnings: readonly string[]
}

/** The block of one memory file, for people. */
export interface BlockStatus {
  readonly path: string
  readonly state: 'free' | 'held' | 'foreign' | 'broken'
  readonly threadKey?: string
  readonly sourceThreadId?: string
  readonly expiresAt?: Instant
  /** Whether its thread still waits for its first exchange. */
  readonly isPending?: boolean
  /** Whether its thread was opened in another store, so that nothing is known of it here. */
  readonly isOfOtherStore?: boolean
  readonly problem?: string
}
