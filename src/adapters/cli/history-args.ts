import { idRange, SHORTEST_ID } from '../../domain/kernel/id-range.ts'
import { type Instant, instant } from '../../domain/kernel/instant.ts'
import { RefusedError } from '../../domain/unwrap.ts'
import type { Invocation } from './command.ts'
import { UsageError } from './problems.ts'

/** The text of a flag, if it was given. Blank is not a text. */
export const textFlag = ({ values }: Invocation, name: string): string | undefined => {
  const value = values[name]
  if (typeof value !== 'string') return undefined
  if (value.trim() === '') throw new UsageError(`--${name} needs a value.`)
  return value
}

/** An id, or the beginning of one. @throws TypeError when it can be neither */
export const idText = (text: string): string => {
  if (idRange(text) !== undefined) return text.toLowerCase()
  const least = `or how one begins (${SHORTEST_ID} characters or more).`
  throw new TypeError(`it must be an id such as 0190a0a0-0000-7000-8000-000000000001, ${least}`)
}

/** A flag read by a parser; what the parser refuses is a mistake in the command line. */
export const parsedFlag = <T>(invocation: Invocation, name: string, parse: (text: string) => T): T | undefined => {
  const text = textFlag(invocation, name)
  return text === undefined ? undefined : understood(`--${name}`, text, parse)
}

/** A text as a parser reads it. */
export const understood = <T>(what: string, text: string, parse: (text: string) => T): T => {
  try {
    return parse(text)
  } catch (cause) {
    throw new UsageError(`${what} cannot be "${text}": ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    })
  }
}

/** One of a list of words. */
export const oneOf =
  <Word extends string>(words: readonly Word[]) =>
  (text: string): Word => {
    const found = words.find((word) => word === text)
    if (found === undefined) throw new TypeError(`it must be one of ${words.join(', ')}.`)
    return found
  }

const DATE = /^\d{4}-\d{2}-\d{2}$/
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?$/

/** A moment as ISO-8601 text; without a zone it means UTC. */
export const moment = (text: string): Instant => {
  if (DATE.test(text)) return instant(text)
  const [, , , zone] = DATE_TIME.exec(text) ?? [undefined, '', '', 'none']
  if (zone === 'none') throw new TypeError('it must be a date such as 2026-11-16 or 2026-11-16T03:45Z.')
  return instant(zone === undefined ? `${text}Z` : text)
}

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** A length of time such as `90s`, `10m`, `2h` or `3d`, in milliseconds. */
export const duration = (text: string): number => {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  if (count === undefined || unit === undefined) throw new TypeError('it must be a time such as 90s, 10m, 2h or 3d.')
  return Number(count) * UNITS[unit as keyof typeof UNITS]
}

/** How many items a page has. */
export const pageSize = (text: string): number => {
  const size = Number(text)
  if (!/^\d+$/.test(text) || size < 1 || size > 1_000) throw new TypeError('it must be a number from 1 to 1000.')
  return size
}

/** A thing that was named: by its id, by the beginning of its id, or by the key of its conversation. */
export type IdOrKey = { readonly id: string } | { readonly key: string }

/** The one id a command is about, or `--key` in its place. */
export const idOrKey = (invocation: Invocation, what: string): IdOrKey => {
  const [word] = invocation.positionals
  const key = textFlag(invocation, 'key')
  if ((word === undefined) === (key === undefined)) throw new UsageError(`Name the ${what} by its id, or by --key.`)
  return key === undefined ? { id: understood(`The ${what} id`, word ?? '', idText) } : { key }
}

/** The thing asked for does not exist: a rule said no, and the command ends with status 3. */
export const notFound = (field: string, problem: string): RefusedError =>
  new RefusedError({ code: 'input.invalid', fields: [{ field, problem }] })
