/** All ids from one to another, both included. Ids sort as their text does. */
export interface IdRange {
  readonly from: string
  readonly to: string
}

const LOWEST = '00000000-0000-0000-0000-000000000000'
const HIGHEST = LOWEST.replaceAll('0', 'f')
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Fewer characters would fit nearly every id: ids begin with the time they were made. */
export const SHORTEST_ID = 4

/**
 * The range of all ids that begin with a text, so that a store can look them up in an index; a whole id is a range of
 * one. `undefined` when no id begins so, or the text is too short to mean one.
 */
export const idRange = (beginning: string): IdRange | undefined => {
  const text = beginning.toLowerCase()
  const from = text + LOWEST.slice(text.length)
  if (text.length < SHORTEST_ID || !ID.test(from)) return undefined
  return { from, to: text + HIGHEST.slice(text.length) }
}
