/** One thing that is wrong with what a caller sent, and where. */
export interface InputProblem {
  /** The path of the value, such as `turns[0].messages[1].text`. */
  readonly field: string
  /** A sentence about it, such as `it is not text`. */
  readonly problem: string
}

/**
 * Reads one value that a caller sent, which may be anything at all. Answers with a plain copy of what it found, or notes
 * a problem; what it answers with then is of no use.
 */
export type Check<T> = (value: unknown, field: string, problems: InputProblem[]) => T

/** A check of a value that may be left out. */
export interface OptionalCheck<T> extends Check<T | undefined> {
  readonly isOptional: true
}

/** The check that each property of an object type needs: all of them, and optional ones for those that may be absent. */
export type ChecksOf<T> = {
  readonly [K in keyof T]-?: Record<never, never> extends Pick<T, K>
    ? OptionalCheck<Exclude<T[K], undefined>>
    : Check<T[K]>
}

/** Notes a problem. It has the type of any answer, because none is used after it. */
export const noteProblem = (problem: string, field: string, problems: InputProblem[]): never => {
  problems.push({ field, problem })
  return undefined as never
}

/** A value that may be left out. */
export const optional = <T>(check: Check<T>): OptionalCheck<T> => {
  const read: Check<T | undefined> = (value, field, problems) =>
    value === undefined ? undefined : check(value, field, problems)
  return Object.assign(read, { isOptional: true as const })
}

/** An object with these properties. Others are ignored: a caller may pass more than is asked for. */
export const objectOf = <T extends object>(checks: ChecksOf<T>): Check<T> => {
  const parts = Object.entries(checks) as readonly (readonly [string, Check<unknown>])[]
  return (value, field, problems) => {
    if (!isPlainObject(value)) return noteProblem(absent(value, 'an object'), field, problems)
    const read: Record<string, unknown> = {}
    for (const [name, check] of parts) {
      const path = field === '' ? name : `${field}.${name}`
      const part = propertyOf(value, name, path, problems)
      const found = part === UNREADABLE ? undefined : check(part, path, problems)
      if (found !== undefined) read[name] = found
    }
    return read as T
  }
}

/**
 * Whether a value has properties by name. A list, a date, a map or a boxed text is an object too, and would pass where
 * every property may be left out.
 */
export const isPlainObject = (value: unknown): value is object => {
  try {
    return Object.prototype.toString.call(value) === '[object Object]'
  } catch {
    // A proxy may throw whatever is asked of it; each property that is read will say so.
    return true
  }
}

/** A list of such values, from `least` to `most` of them. */
export const listOf = <T>(check: Check<T>, { least = 0, most = 100_000 } = {}): Check<readonly T[]> => {
  return (value, field, problems) => {
    const length = lengthOf(value)
    if (length === undefined) return noteProblem(absent(value, 'a list'), field, problems)
    if (length < least) return noteProblem('it is empty', field, problems)
    if (length > most) return noteProblem(`it has ${length} entries, and ${most} is the most`, field, problems)
    const read: T[] = []
    for (let index = 0; index < length; index += 1) {
      const path = `${field}[${index}]`
      const part = propertyOf(value as object, index, path, problems)
      if (part !== UNREADABLE) read.push(check(part, path, problems))
      // The first hundred problems say enough.
      if (problems.length > MOST_PROBLEMS) break
    }
    return read
  }
}

const MOST_PROBLEMS = 100

/** The length of a list; a proxy may pass for a list and say anything, or throw. */
export const lengthOf = (value: unknown): number | undefined => {
  try {
    const length: unknown = Array.isArray(value) ? value.length : undefined
    return Number.isSafeInteger(length) && Number(length) >= 0 ? Number(length) : undefined
  } catch {
    return undefined
  }
}

/** One of these words. */
export const oneOf =
  <const T extends string>(...words: readonly T[]): Check<T> =>
  (value, field, problems) =>
    words.includes(value as T)
      ? (value as T)
      : noteProblem(absent(value, `one of ${words.join(', ')}`, quoted(value)), field, problems)

/** `true` or `false`. */
export const trueOrFalse: Check<boolean> = (value, field, problems) =>
  typeof value === 'boolean' ? value : noteProblem(absent(value, 'true or false'), field, problems)

/** A whole number between two limits, both included. */
export const wholeNumber =
  (least: number, most: number = Number.MAX_SAFE_INTEGER): Check<number> =>
  (value, field, problems) =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most
      ? value + 0 // no store keeps a zero with a sign
      : noteProblem(absent(value, `a whole number ${span(least, most)}`, shown(value)), field, problems)

/** A number between two limits, both included. */
export const amount =
  (least: number, most: number): Check<number> =>
  (value, field, problems) =>
    typeof value === 'number' && value >= least && value <= most
      ? value + 0
      : noteProblem(absent(value, `a number ${span(least, most)}`, shown(value)), field, problems)

const span = (least: number, most: number): string =>
  most === Number.MAX_SAFE_INTEGER ? `from ${least} up` : `from ${least} to ${most}`

/** Says that a value is missing, or is something else than it should be. */
export const absent = (value: unknown, wanted: string, found = ''): string => {
  if (value === undefined) return 'it is missing'
  return found === '' ? `it is not ${wanted}` : `${found} is not ${wanted}`
}

const quoted = (value: unknown): string => (typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : '')

const shown = (value: unknown): string => (typeof value === 'number' ? String(value) : '')

const UNREADABLE = Symbol('unreadable')

/** A property of what a caller sent. Reading it may run the caller's code, which may throw. */
const propertyOf = (value: object, name: PropertyKey, path: string, problems: InputProblem[]): unknown => {
  try {
    return (value as Record<PropertyKey, unknown>)[name]
  } catch {
    problems.push({ field: path, problem: 'reading it failed' })
    return UNREADABLE
  }
}
