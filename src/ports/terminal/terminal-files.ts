import type { AgentSessionId, HolderToken } from '../../domain/kernel/ids.ts'
import type { KnownPrompt } from '../../domain/turn/known-prompts.ts'
import type { SessionCard } from './wire.ts'

/** The name of an agent whose terminal sessions can be followed through hooks; which there are is registered elsewhere. */
export type TerminalRuntime = string

/** A runtime's name for its session, as far as it may become the name of a file. */
export const PROVIDER_SESSION = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/

/** The facts about a terminal session that the service alone needs: over restarts it finds them here. */
export interface KeptSession {
  readonly v: 1
  readonly runtime: TerminalRuntime
  readonly sessionId: AgentSessionId
  /** Absent when somebody else works the session, such as a runner: the service then only reads it. */
  readonly holder?: HolderToken
  /** Where its runtime writes its transcript, as the last hook said. */
  readonly transcriptPath?: string
  /** Turns and compactions of the transcript that are on record. */
  readonly turns: number
  readonly boundaries: number
  /** The compaction that is under way or was last, and who has told of it. */
  readonly compaction: { readonly number: number; readonly toldBy: readonly string[] }
  /** The events that were taken last, by their command ids. */
  readonly events: readonly string[]
  readonly costUsd?: number
  readonly restarts?: number
  /** Who is told of its window; both unless one is named. */
  readonly notify?: 'self' | 'parent'
  readonly lastHandoffPath?: string
  /** The folder that it was started in. */
  readonly cwd?: string
  /** The document that it left for the next session of its workspace, as long as that waits. */
  readonly pending?: { readonly id: string; readonly workspace: string }
  /** Whether its terminal has ended while its document waited. */
  readonly hasEnded?: boolean
  /** Whether its hooks note the process of its agent: once that is gone, the session is over. */
  readonly isNoted?: boolean
  /** Whether the summary of its thread is still in a memory file. */
  readonly hasSummary?: boolean
  /** The variables that say where its runtime compacts by itself, as its last start had them. */
  readonly variables?: WindowVariables
  /** A sentence for the person, until the next prompt. */
  readonly notice?: string
  /** The prompts that hooks have seen, as digests, until the transcript has them: those are a person's. */
  readonly prompts?: readonly KnownPrompt[]
}

/** Variables of a runtime, by name. */
export type WindowVariables = Readonly<Record<string, string>>

/**
 * Keeps what a service knows of terminal sessions beside the store, by provider session id. A file is replaced whole or
 * not at all, and is for its owner only.
 */
export interface TerminalFiles {
  readKept(providerSessionId: string): Promise<KeptSession | undefined>
  writeKept(providerSessionId: string, session: KeptSession): Promise<void>
  writeCard(providerSessionId: string, card: SessionCard): Promise<void>
  /**
   * The prompts of a session that hooks have put aside and nobody has taken yet, by the names of their events. The
   * transcript may be ahead of them.
   */
  waitingPrompts(providerSessionId: string): Promise<readonly { readonly by: string; readonly text: string }[]>
  /** Keeps a document for a successor as a file of its own, under an id, and answers with its path. */
  writeDocument(id: string, text: string): Promise<string>
}

/** The records of a transcript. Each call gives those that were not given before. */
export interface TranscriptTail {
  records(): AsyncIterable<unknown>
}

/** A session that a transcript may be a fork of. */
export interface TranscriptFork {
  /** The runtime's name for that session. */
  readonly source: string
  /** How many of the first records are copies of its own. */
  readonly copied: number
}

/** Reads the transcripts that runtimes keep themselves. */
export interface TranscriptFiles {
  /** Undefined when the path is not one that the runtime keeps a transcript at: nothing else is ever read. */
  follow(runtime: TerminalRuntime, path: string): Promise<TranscriptTail | undefined>
  /** The sessions that a transcript may be a fork of, the likeliest first; none where it cannot be read. */
  forkOf(runtime: TerminalRuntime, path: string): Promise<readonly TranscriptFork[]>
}
