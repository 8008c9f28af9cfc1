import type { Sha256 } from '../../domain/kernel/digest.ts'
import type { BlockMarkers } from '../../domain/memory-block/memory-block.ts'
import type { Summarizer } from '../../ports/agent/summarizer.ts'
import type { AgentMemoryFiles } from '../../ports/agent/vendor.ts'
import type { Store } from '../../ports/store/store.ts'
import type { ThreadSummaries } from '../../ports/store/thread-summaries.ts'
import type { Logger } from '../../ports/system/logger.ts'
import type { Clock, IdGenerator } from '../../ports/system/system.ts'
import type { MemoryFiles } from '../../ports/terminal/memory-file.ts'
import type { HandoffService } from '../handoff-service.ts'

/** How long a summary may wait for its thread, unless said otherwise. */
export const DEFAULT_BLOCK_MS = 86_400_000

/** Settings of thread handoffs; everything has a default. */
export interface ThreadSettings {
  /** Writes the summaries; from the record and without a model unless given. */
  readonly summarizer?: Summarizer
  /** Whether the record is quoted when a model fails; it is unless false, and the summary says so. */
  readonly fallback?: boolean
  /** The memory file in the workspace; `CLAUDE.md`, or `AGENTS.md` for Codex, unless given. */
  readonly file?: string
  /** The lines around the block; those of `<current_thread_summary>` unless given. */
  readonly markers?: BlockMarkers
  /** The most tokens of a summary; 300 unless given. */
  readonly budgetTokens?: number
  /** How long a summary may wait for its thread; a day unless given. */
  readonly expiresMs?: number
  /** The milestone at which a person is told of thread handoffs; never unless given. */
  readonly offerAt?: string
}

/** The dependencies of thread handoffs. */
export interface ThreadDeps {
  readonly store: Store
  readonly handoffs: HandoffService
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly sha256: Sha256
  readonly logger: Logger
  readonly files: MemoryFiles
  /** The folders whose memory files an agent reads that works in this one, or in the folder of this process. */
  readonly placesOf: (folder: string | undefined) => readonly string[]
  /** The memory files of the agent that a backend is of. */
  readonly memoryFilesOf: (backend: string) => AgentMemoryFiles
  /** The names under which agents read a memory file; the first is the usual one. */
  readonly memoryFiles: readonly string[]
  /** Keeps accepted summaries for later questions. */
  readonly mirror?: ThreadSummaries
  readonly redact: (text: string) => string
  /** Writes summaries where neither a request nor the settings name somebody: it needs no model. */
  readonly summarizer: Summarizer
  readonly settings: ThreadSettings
}
