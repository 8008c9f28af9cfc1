import type { Hide } from './hidden-text.ts'
import { endOfRun, runOf } from './runs.ts'

const BEGIN = /-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}/g
const END = /-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}/g

/** The characters of the lines of a key, headers and escaped line breaks included. */
const BODY = runOf('[A-Za-z0-9+/=\\s\\\\:,.-]')
const OF_A_BODY = /[A-Za-z0-9+/=\s\\]/

interface Place {
  readonly from: number
  readonly to: number
}

const placesOf = (pattern: RegExp, text: string): readonly Place[] =>
  [...text.matchAll(pattern)].map(({ index, 0: found }) => ({ from: index, to: index + found.length }))

/**
 * The text with every private key hidden, from its first line to its last. One that is cut off at its end or at its
 * beginning is hidden as far as it looks like a key.
 */
export const hidePrivateKeys = (text: string, hide: Hide): string => {
  if (!text.includes('PRIVATE KEY')) return text
  const begins = placesOf(BEGIN, text)
  const ends = placesOf(END, text)
  const parts: string[] = []
  let at = 0
  let next = 0
  const take = (from: number, to: number): void => {
    parts.push(text.slice(at, from), hide('private-key'))
    at = to
  }
  /** The ends before this place, whose beginnings are not there. */
  const takeEndsBefore = (limit: number): void => {
    for (let end = ends[next]; end !== undefined && end.from < limit; end = ends[next]) {
      next += 1
      if (end.from < at) continue
      take(bodyBefore(text, end.from, at), end.to)
    }
  }
  for (const begin of begins) {
    if (begin.from < at) continue
    takeEndsBefore(begin.from)
    const end = ends[next]
    take(begin.from, end?.to ?? endOfRun(text, begin.to, BODY))
  }
  takeEndsBefore(text.length)
  return parts.length === 0 ? text : `${parts.join('')}${text.slice(at)}`
}

const bodyBefore = (text: string, to: number, least: number): number => {
  let from = to
  while (from > least && OF_A_BODY.test(text.charAt(from - 1))) from -= 1
  return from
}
