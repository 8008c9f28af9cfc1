import type { MessageOrigin } from '../../domain/turn/message.ts'
import type { UsageTotals } from '../../domain/window/usage-reading.ts'
import type { WindowEvent } from '../../domain/window/window-event.ts'
import type { RuntimeEnd } from './agent-runtime.ts'

/** A text of the main thread. */
export interface RecordedText {
  readonly role: 'user' | 'assistant' | 'tool'
  readonly text: string
  /**
   * The origin that the record itself shows: `runtime` or `hook` for their wrappers and marks, `person` where the runtime
   * marks the text as typed. It is a claim: the channel decides whether it is believed, and a user's text that claims
   * nothing is of unknown origin.
   */
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

/** Counts the usage of one launch. It never throws, and answers with nothing for a record without new usage. */
export interface UsageCounter {
  take(record: unknown): CountedUsage | undefined
}

/** How an agent's work came to its end, as a record says it. */
export interface ReportedEnd {
  readonly end: RuntimeEnd
  /** Whether it is the result. An error that is not may be followed by another try. */
  readonly isFinal: boolean
}

/**
 * Reads what one runtime sends. Every implementation keeps these promises:
 * - it never throws: an unknown or damaged record gives no events;
 * - it gives no event about the main window for a subagent's record, a local message or a sum over requests;
 * - it keeps no state between records, so that any of them may come twice or be left out.
 */
export interface WindowReader {
  /** Names the format, such as `claude-code`. */
  readonly format: string
  /** Whether a record looks like one of this runtime's. */
  recognises(record: unknown): boolean
  read(record: unknown): readonly WindowEvent[]
  /**
   * Facts about the window that no record states, such as where the runtime compacts by itself, by the variables that it
   * was started with. They are taken before the first record.
   */
  known?(variables: Readonly<Record<string, string | undefined>>): readonly WindowEvent[]
  /**
   * The texts of a record, for a caller that stores the conversation and not only its figures. Not every runtime
   * records them.
   */
  words?(record: unknown): RecordedWords
  /**
   * Whether a prompt that a hook was called with is the runtime's own, such as a notice in tags, and no word of a person.
   * Without this, every prompt is taken for a person's.
   */
  isOwnPrompt?(text: string): boolean
  /** How the work came to its end, where the record says so. Not every runtime does. */
  ending?(record: unknown): ReportedEnd | undefined
  /** Begins to count the usage of one launch. Not every runtime reports it. */
  usage?(): UsageCounter
}
