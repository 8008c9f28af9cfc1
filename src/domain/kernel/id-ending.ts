import { isUuid } from './ids.ts'

const LOWEST = '00000000-0000-0000-0000-000000000000'

/** The fewest characters of a short id. Fewer would soon fit another id as well. */
export const SHORTEST_ENDING = 6

/** The length of an id. */
export const ID_LENGTH = LOWEST.length

/**
 * A text as the end of an id, or as a whole one; `undefined` when no id ends so, or it is too short to mean one. Ids end in
 * what tells them apart, and begin with the time they were made: those of one minute begin alike.
 */
export const idEnding = (text: string): string | undefined => {
  const ending = text.toLowerCase()
  const whole = LOWEST.slice(0, Math.max(0, ID_LENGTH - ending.length)) + ending
  return ending.length >= SHORTEST_ENDING && isUuid(whole) ? ending : undefined
}

/** How many last characters it takes to tell these ids apart. */
export const shortestEnding = (ids: readonly string[]): number => {
  const count = new Set(ids).size
  for (let length = SHORTEST_ENDING; length < ID_LENGTH; length += 1)
    if (new Set(ids.map((id) => id.slice(-length))).size === count) return length
  return ID_LENGTH
}

/** The short form of one id, for a place where no others stand beside it. */
export const shortId = (id: string): string => id.slice(-SHORTEST_ENDING)
