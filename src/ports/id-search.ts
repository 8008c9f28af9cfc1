import type { IdRange } from '../domain/kernel/id-range.ts'

/** The kinds of things that people ask for by id. */
export const ID_KINDS = ['conversation', 'session', 'handoff', 'turn'] as const

/** A kind of thing that people ask for by id. */
export type IdKind = (typeof ID_KINDS)[number]

/** Finds ids by their beginning. */
export interface IdSearch {
  /** The ids of one kind within a range, lowest first, this many at most. A database answers from an index on the id. */
  within(kind: IdKind, range: IdRange, most: number): Promise<readonly string[]>
}
