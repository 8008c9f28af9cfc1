import type { MessageOrigin } from '../domain/turn/message.ts'
import type { UsageTotals } from '../domain/window/usage-reading.ts'
import type { WindowEvent } from '../domain/window/window-event.ts'

/** Something that was said on the main thread. */
export interface RecordedText {
  readonly role: 'user' | 'assistant' | 'tool'
  readonly text: string
  /** Where it comes from; by its role unless given, so that a user's words are a person's. */
  readonly origin?: MessageOrigin
  /** The runtime's own name for the message, or for the call that a tool's result answers. */
  readonly id?: string
}

/** The words in a record. */
export interface RecordedWords {
  /** The runtime's own name for the session. */
  readonly session?: string
  readonly texts: readonly RecordedText[]
}

/** The usage of a launch so far, and the model of the newest request, if the record names one. */
export interface CountedUsage {
  readonly totals: UsageTotals
  readonly usedModel?: string
}

/** Counts what one launch uses. It never throws, and a record that says nothing new of it gives nothing. */
export interface UsageCounter {
  take(record: unknown): CountedUsage | undefined
}

/**
 * Reads what one runtime sends. Every implementation keeps these promises:
 * - it never throws: a record it does not know, or one that is damaged, says nothing;
 * - it says nothing about the main window from a subagent's record, a local message or a sum over requests;
 * - it keeps no state between records, so that any of them may come twice or be left out.
 */
export interface WindowReader {
  /** Names the format, such as `claude-code`. */
  readonly format: string
  /** Whether a record looks like one of this runtime's. */
  recognises(record: unknown): boolean
  read(record: unknown): readonly WindowEvent[]
  /** The words of a record, for a caller that keeps the conversation and not only its figures. Not every runtime writes them down. */
  words?(record: unknown): RecordedWords
  /** Begins to count what one launch uses. Not every runtime says it. */
  usage?(): UsageCounter
}
