import { z } from 'zod'
import { nearestWord } from '../../domain/kernel/nearest-word.ts'
import { retentionProblem } from '../../domain/kernel/retention-time.ts'

/** A problem with a value: a first line that says what, and a second that says what to do. */
export const problemText = (problem: string, advice: string): string => `${problem}\n${advice}`

class Wrong {
  readonly text: string
  constructor(problem: string, advice: string) {
    this.text = problemText(problem, advice)
  }
}

/** The form of a value as a JSON Schema says it, for editors. */
type Form = Readonly<Record<string, unknown>>

const A_TEXT: Form = { type: 'string', minLength: 1 }

/** A value as a reader of our own takes it, so that what is wrong is problemText in our own words. */
const value = <T>(form: Form, read: (raw: unknown) => T | Wrong) =>
  z
    .unknown()
    .transform((raw, context): T => {
      const result = read(raw)
      if (!(result instanceof Wrong)) return result
      context.addIssue({ code: 'custom', message: result.text })
      return z.NEVER
    })
    .meta(form)

/** A value for a sentence: short, and on one line. */
const shown = (raw: unknown): string => {
  if (raw === null || raw === undefined) return 'nothing'
  if (typeof raw === 'number') return String(raw)
  if (typeof raw === 'object') return Array.isArray(raw) ? 'a list' : 'a section'
  const text = JSON.stringify(raw) ?? `a ${typeof raw}`
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}

/** Removes the error of binary fractions: 1 - 0.9 is 0.1 to a person. */
export const rounded = (number: number): number => Number(number.toPrecision(12))

const isBetween = (raw: unknown, above: number, upTo: number): raw is number =>
  typeof raw === 'number' && raw > above && raw <= upTo

/** A fraction of the usable window. */
export const fraction = value({ type: 'number', exclusiveMinimum: 0, maximum: 1 }, (raw) => {
  if (isBetween(raw, 0, 1)) return raw
  if (isBetween(raw, 1, 100)) return new Wrong(`${raw} is not a fraction`, `Write ${raw / 100} for ${raw} %.`)
  return new Wrong(`${shown(raw)} is not a fraction above 0 and up to 1`, 'Write a number such as 0.85.')
})

/** The part of the window that must remain, read as the point at which that little is left. */
export const remaining = value({ type: 'number', minimum: 0, exclusiveMaximum: 1 }, (raw) => {
  if (typeof raw === 'number' && raw >= 0 && raw < 1) return rounded(1 - raw)
  if (isBetween(raw, 1, 99)) return new Wrong(`${raw} is not a fraction`, `Write ${raw / 100} for ${raw} % remaining.`)
  const advice = 'Write what must remain: 0.1 restarts when a tenth of the window is left.'
  return new Wrong(`${shown(raw)} is not a fraction from 0 up to, but not, 1`, advice)
})

/** The part of the window that may be used; more than 1 means never, read as null. */
export const usedOrNever = value({ type: 'number', exclusiveMinimum: 0 }, (raw): number | null | Wrong => {
  if (isBetween(raw, 0, 1)) return raw
  if (typeof raw === 'number' && raw > 1) return null
  const advice = 'Write what may be used: 0.9 restarts at nine tenths of the window, and above 1 means never.'
  return new Wrong(`${shown(raw)} is not a fraction above 0`, advice)
})

/** A percentage of the usable window, read as a fraction. */
export const percentage = value({ type: 'number', exclusiveMinimum: 1, maximum: 100 }, (raw) => {
  if (isBetween(raw, 1, 100)) return rounded(raw / 100)
  if (isBetween(raw, 0, 1)) {
    const percent = rounded(raw * 100)
    return new Wrong(`${raw} looks like a fraction`, `This key takes a percentage: write ${percent} for ${percent} %.`)
  }
  const advice = 'Write a number such as 50. To switch a milestone off, use null under milestones.'
  return new Wrong(`${shown(raw)} is not a percentage above 1 and up to 100`, advice)
})

const MOST_DOLLARS = 1_000_000_000

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** A day is as long as a step may take; a timer of a month would go off at once. */
export const LONGEST_STEP_MS = UNITS.d
/** A year is as long as a piece of work may take. */
export const LONGEST_WORK_MS = 365 * UNITS.d

const A_DURATION: Form = {
  anyOf: [
    { type: 'string', pattern: '^\\s*\\d{1,9} ?(ms|s|m|h|d)\\s*$' },
    { type: 'integer', minimum: 1_000 },
  ],
}

/** A length of time such as `120s`, `10m` or `2h`, or a number of milliseconds; read as milliseconds. */
export const duration = (mostMs: number) =>
  value(A_DURATION, (raw) => {
    const ms = typeof raw === 'string' ? millisecondsIn(raw) : raw
    if (isBetween(raw, 0, 999)) {
      return new Wrong(`${raw} is a number of milliseconds, less than a second`, `Write "${raw}s" for ${raw} seconds.`)
    }
    if (typeof ms !== 'number' || !Number.isSafeInteger(ms) || ms <= 0) {
      return new Wrong(`${shown(raw)} is not a length of time`, 'Write one such as 120s, 10m or 2h, or milliseconds.')
    }
    return ms > mostMs ? new Wrong(`${shown(raw)} is too long`, `Write at most ${mostMs / UNITS.d}d.`) : ms
  })

/** How long commands are remembered: a length of time, or for ever, read as false. */
export const retention = value({ anyOf: [A_DURATION, { const: 'forever' }] }, (raw): number | false | Wrong => {
  if (raw === 'forever') return false
  const ms = typeof raw === 'string' ? millisecondsIn(raw) : raw
  const advice = 'Write one such as 7d, at least 1h and at most 365d, or forever.'
  if (typeof ms !== 'number' || ms > LONGEST_WORK_MS) return new Wrong(`${shown(raw)} cannot be used`, advice)
  return retentionProblem(ms) === undefined ? ms : new Wrong(`${shown(raw)} is too short`, advice)
})

const millisecondsIn = (text: string): number | undefined => {
  const [, count, unit] = /^(\d{1,9}) ?(ms|s|m|h|d)$/.exec(text.trim()) ?? []
  return count === undefined ? undefined : Number(count) * UNITS[unit as keyof typeof UNITS]
}

/** A whole number, from `least` up. */
export const count = (least: number, what: string) =>
  value({ type: 'integer', minimum: least }, (raw) =>
    typeof raw === 'number' && Number.isSafeInteger(raw) && raw >= least
      ? raw
      : new Wrong(`${shown(raw)} is not a number of ${what}`, `Write a whole number, ${least} or more.`),
  )

/** A number of dollars, above nothing. */
export const dollarAmount = value({ type: 'number', exclusiveMinimum: 0, maximum: MOST_DOLLARS }, (raw) =>
  typeof raw === 'number' && Number.isFinite(raw) && raw > 0 && raw <= MOST_DOLLARS
    ? raw
    : new Wrong(`${shown(raw)} is not a number of dollars`, 'Write one such as 5 or 2.50, without a sign.'),
)

/** A text that says something. */
export const textValue = value(A_TEXT, (raw) =>
  typeof raw === 'string' && raw.trim() !== ''
    ? raw
    : new Wrong(
        `${shown(raw)} is not a text`,
        'Write some text, in quotes if it looks like a number, or leave it out.',
      ),
)

/** A text that says something, or false for none. */
export const textOrOff = value({ anyOf: [A_TEXT, { const: false }] }, (raw): string | false | Wrong =>
  raw === false || (typeof raw === 'string' && raw.trim() !== '')
    ? raw
    : new Wrong(`${shown(raw)} is neither a text nor false`, 'Write some text, or false to switch it off.'),
)

const isText = (raw: unknown): raw is string => typeof raw === 'string' && raw.trim() !== ''

/** A command line for a shell, or a program and its arguments without one. */
export const commandLine = value(
  { anyOf: [A_TEXT, { type: 'array', items: { type: 'string' }, minItems: 1 }] },
  (raw): string | readonly string[] | Wrong => {
    if (isText(raw)) return raw
    if (Array.isArray(raw) && isText(raw[0]) && raw.every((part) => typeof part === 'string')) return raw
    return new Wrong('it is neither a command line nor a list of words', 'Write one such as "npm test" or [npm, test].')
  },
)

/** A text of a certain form. The text itself is not shown: it may be a secret. */
export const textLike = (form: (text: string) => boolean, what: string, advice: string) =>
  value(A_TEXT, (raw) => (typeof raw === 'string' && form(raw) ? raw : new Wrong(`it is not ${what}`, advice)))

/** A text that the domain has looked at. */
export const checkedText = (
  problemOf: (text: string) => { readonly problem: string; readonly advice: string } | undefined,
  advice: string,
) =>
  value(A_TEXT, (raw) => {
    if (typeof raw !== 'string') return new Wrong(`${shown(raw)} is not a text`, advice)
    const found = problemOf(raw)
    return found === undefined ? raw : new Wrong(found.problem, found.advice)
  })

/** The key under which a schema names the forms that it takes; `scripts/configuration-schema.ts` puts them in its place. */
export const FORMS = 'forms'

/** One of two forms. Problems are about the form that was used. */
export const formOf = <First extends z.ZodType, Second extends z.ZodType>(
  isFirst: (raw: unknown) => boolean,
  first: First,
  second: Second,
) =>
  z
    .unknown()
    .transform((raw, context): z.output<First> | z.output<Second> => {
      const read = (isFirst(raw) ? first : second).safeParse(raw)
      if (read.success) return read.data as z.output<First> | z.output<Second>
      for (const issue of read.error.issues)
        context.issues.push({ ...issue, path: [...issue.path], input: raw } as z.core.$ZodRawIssue)
      return z.NEVER
    })
    .meta({ [FORMS]: [first, second] })

/** Yes or no. */
export const flag = value({ type: 'boolean' }, (raw) =>
  typeof raw === 'boolean' ? raw : new Wrong(`${shown(raw)} is neither true nor false`, 'Write true or false.'),
)

/** One of a few words. */
export const word = <Word extends string>(words: readonly Word[], otherNames: Readonly<Record<string, Word>> = {}) =>
  value({ enum: words }, (raw) => {
    const other = typeof raw === 'string' && Object.hasOwn(otherNames, raw) ? otherNames[raw] : raw
    return words.find((one) => one === raw) ?? new Wrong(`${shown(raw)} is not known`, meant(other, words))
  })

/** Advice about an unknown word. */
export const meant = (raw: unknown, words: readonly string[]): string => {
  const nearest = typeof raw === 'string' ? nearestWord(raw, words) : undefined
  return nearest === undefined ? `Use one of: ${words.join(', ')}.` : `Did you mean "${nearest}"?`
}

/** Values one after the other, at least one. */
export const list = <Item extends z.ZodType>(item: Item, example: string) =>
  z
    .array(item, {
      error: ({ input }) => problemText(`${shown(input)} is not a list`, `Write a list such as ${example}.`),
    })
    .min(1, { error: problemText('the list is empty', `Write a list such as ${example}, or leave it out.`) })

/** Keys and values. A key it does not know is refused, with the nearest one it knows, one line for each. */
export const section = <Shape extends z.ZodRawShape>(shape: Shape) => {
  const keys = Object.keys(shape)
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? (issue.keys as readonly string[]).map((key) => meant(key, keys)).join('\n')
        : problemText(`${shown(issue.input)} stands where keys are expected`, `Known keys: ${keys.join(', ')}.`),
  })
}
