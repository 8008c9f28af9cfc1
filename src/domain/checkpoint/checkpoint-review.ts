import { CHECKPOINT_SECTIONS, type CheckpointSection } from './checkpoint-section.ts'
import { type CheckpointStatement, outlineOf } from './checkpoint-statement.ts'

/** A checkpoint, and what was found when it was held against the record. Nothing in it is taken away but by the cap. */
export interface CheckpointReview {
  /** The text for the successor: all of it, or as much as the cap allows and a line that says so. */
  readonly text: string
  /** How many characters the agent wrote. */
  readonly characters: number
  readonly isCut: boolean
  /** The sections that are there, in the order they are asked for. */
  readonly sections: readonly CheckpointSection[]
  readonly missingSections: readonly CheckpointSection[]
  /** Statements in the order they stand, of the text that is passed on. */
  readonly statements: readonly CheckpointStatement[]
}

/** The record that a checkpoint is compared with. */
export interface ReviewOptions {
  /** The call ids on record in the conversation. */
  readonly knownCalls: ReadonlySet<string>
  /** The most that is passed on; 100,000 unless you say otherwise. */
  readonly maxCharacters?: number
}

/** Some 25,000 tokens: generous for a document, and small beside any window. */
const DEFAULT_MAX_CHARACTERS = 100_000

/**
 * Holds a checkpoint against the record: which sections it has, and which statements cite tool calls that were made.
 *
 * @throws TypeError when `maxCharacters` is not a whole number above 0
 * @example
 * ```ts
 * const text = '## Completed work\n- Fixed the clock [call:toolu_01]\n- All tests pass [call:toolu_99]\n- Asked Ann'
 * const { statements, missingSections } = reviewCheckpoint(text, { knownCalls: new Set(['toolu_01']) })
 * console.log(statements.map(({ standing }) => standing).join(', ')) // => cited, miscited, uncited
 * console.log(missingSections.length) // => 7
 * ```
 */
export const reviewCheckpoint = (
  written: string,
  { knownCalls, maxCharacters = DEFAULT_MAX_CHARACTERS }: ReviewOptions,
): CheckpointReview => {
  if (!Number.isSafeInteger(maxCharacters) || maxCharacters < 1) {
    throw new TypeError(`maxCharacters must be a whole number above 0, got ${maxCharacters}`)
  }
  const isCut = written.length > maxCharacters
  const text = isCut ? cutAt(written, maxCharacters) : written
  const { sections, statements } = outlineOf(text, knownCalls)
  return {
    text,
    characters: written.length,
    isCut,
    sections: CHECKPOINT_SECTIONS.filter((section) => sections.has(section)),
    missingSections: CHECKPOINT_SECTIONS.filter((section) => !sections.has(section)),
    statements,
  }
}

/** Half of a surrogate pair is no character, and some stores refuse it. */
const HALF_PAIR = /[\uD800-\uDBFF]$/

const cutAt = (text: string, most: number): string => {
  const beginning = text.slice(0, most).replace(HALF_PAIR, '')
  return `${beginning}\n\n[Cut here: the first ${beginning.length} of ${text.length} characters.]`
}
