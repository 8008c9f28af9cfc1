declare const brand: unique symbol

/** The place of a message in its conversation: 1, 2, 3 … */
export type SequenceNumber = number & { readonly [brand]: 'SequenceNumber' }

/** Reads a sequence number. @throws RangeError unless it is a positive safe integer */
export const sequenceNumber = (raw: number): SequenceNumber => {
  if (!Number.isSafeInteger(raw) || raw < 1) throw new RangeError(`A sequence number counts from 1, got ${raw}`)
  return raw as SequenceNumber
}

/** The sequence number so many places on. */
export const advance = (from: SequenceNumber, places: number): SequenceNumber => sequenceNumber(from + places)

/** Consecutive messages of a conversation, both ends included. */
export interface SequenceRange {
  readonly start: SequenceNumber
  readonly end: SequenceNumber
}

/**
 * A range from its ends.
 *
 * @throws RangeError when the end lies before the start
 * @example
 * ```ts
 * const range = sequenceRange(3, 7)
 * console.log(range.start, range.end) // => 3 7
 * ```
 */
export const sequenceRange = (start: number, end: number): SequenceRange => {
  if (end < start) throw new RangeError(`A sequence range cannot end (${end}) before it starts (${start})`)
  return { start: sequenceNumber(start), end: sequenceNumber(end) }
}

/**
 * How many messages a range spans.
 *
 * @example
 * ```ts
 * console.log(rangeLength(sequenceRange(3, 7))) // => 5
 * ```
 */
export const rangeLength = (range: SequenceRange): number => range.end - range.start + 1

/**
 * Whether a place lies in a range.
 *
 * @example
 * ```ts
 * console.log(rangeContains(sequenceRange(3, 7), 7), rangeContains(sequenceRange(3, 7), 8)) // => true false
 * ```
 */
export const rangeContains = (range: SequenceRange, place: number): boolean =>
  place >= range.start && place <= range.end
