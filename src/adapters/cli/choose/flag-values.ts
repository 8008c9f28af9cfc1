import { type Instant, instant } from '../../../domain/kernel/instant.ts'
import { RefusedError } from '../../../domain/unwrap.ts'
import type { ListOrder } from '../../../ports/store/page.ts'
import { UsageError } from '../invocation/command-problems.ts'
import type { Invocation } from '../invocation/invocation.ts'
import { localMoment, zoneIn } from '../render/times.ts'

/** The text of a flag, if it was given. Blank is not a text. */
export const textFlag = ({ values }: Invocation, name: string): string | undefined => {
  const value = values[name]
  if (typeof value !== 'string') return undefined
  if (value.trim() === '') throw new UsageError(`--${name} needs a value.`)
  return value
}

/** A flag read by a parser; what the parser refuses is a mistake in the command line. */
export const parsedFlag = <T>(invocation: Invocation, name: string, parse: (text: string) => T): T | undefined => {
  const text = textFlag(invocation, name)
  return text === undefined ? undefined : parsedAs(`--${name}`, text, parse)
}

/** A text as a parser reads it. */
export const parsedAs = <T>(what: string, text: string, parse: (text: string) => T): T => {
  try {
    return parse(text)
  } catch (cause) {
    throw new UsageError(`${what} cannot be "${text}": ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    })
  }
}

/** One of a list of words. */
export const wordFlag =
  <Word extends string>(words: readonly Word[]) =>
  (text: string): Word => {
    const found = words.find((word) => word === text)
    if (found === undefined) throw new TypeError(`it must be one of ${words.join(', ')}.`)
    return found
  }

const DATE = /^\d{4}-\d{2}-\d{2}$/
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?$/

/** A moment as ISO-8601 text; without a zone it is one of the person's own. */
export const momentFlag = (text: string, zone = zoneIn({ environment: process.env })): Instant => {
  const [, , , ending] = DATE_TIME.exec(text) ?? [undefined, '', '', 'none']
  if (!DATE.test(text) && ending === 'none')
    throw new TypeError('it must be a date such as 2026-11-16 or 2026-11-16T03:45Z.')
  return DATE.test(text) || ending === undefined ? localMoment(text, zone) : instant(text)
}

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** A length of time such as `90s`, `10m`, `2h` or `3d`, in milliseconds. */
export const durationFlag = (text: string): number => {
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

/** The thing asked for does not exist: a rule said no, and the command ends with status 3. */
export const notFound = (field: string, problem: string): RefusedError =>
  new RefusedError({ code: 'input.invalid', fields: [{ field, problem }] })

/** Refuses flags that exclude each other. */
export const notTogether = (invocation: Invocation, ...names: readonly string[]): void => {
  const given = names.filter((name) => invocation.values[name] !== undefined)
  if (given.length > 1) throw new UsageError(`${given.map((name) => `--${name}`).join(' and ')} exclude each other.`)
}

/** The order a list's flags ask for. */
export const orderOf = (invocation: Invocation): ListOrder => {
  notTogether(invocation, 'newest', 'oldest')
  return invocation.values.oldest === true ? 'oldest_first' : 'newest_first'
}
