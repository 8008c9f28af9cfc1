/** The kinds of things that people ask for by id. */
export const ID_KINDS = ['conversation', 'session', 'handoff', 'turn'] as const

/** A kind of thing that people ask for by id. */
export type IdKind = (typeof ID_KINDS)[number]

/** Among so many of the newest ids of a kind one is looked for by its end. Older ones are found by their whole id. */
export const NEWEST_IDS = 10_000

/** Finds ids by their end: the part of a time-ordered id that tells it from the others. */
export interface IdSearch {
  /**
   * The ids of one kind that end with a text, newest first, this many at most. A whole id is found however old it is; a part
   * of one among the newest {@link NEWEST_IDS}, so that no question reads all there is.
   */
  ending(kind: IdKind, ending: string, most: number): Promise<readonly string[]>
}
