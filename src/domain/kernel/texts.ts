import { canonicalJson } from './canonical-json.ts'

/** The properties that hold texts of people and agents; all others hold names, counts or dates. */
const TEXTS: ReadonlySet<string> = new Set([
  'text',
  'argument',
  'originalTask',
  'prompt',
  'hookContext',
  'continuation',
  'reason',
  'endReason',
  'document',
  'extract',
  'metadata',
])

/**
 * Stands where a text was: the log names things and never holds texts, so that a text can be erased.
 *
 * @example
 * ```ts
 * console.log(withholdTexts({ reason: 'The window is nearly full' }).reason === TEXT_WITHHELD) // => true
 * ```
 */
export const TEXT_WITHHELD = '[withheld]'

/** Stands in a row in place of an erased text; the log says who had it erased, and why. */
export const TEXT_ERASED = '[erased]'

/**
 * The same data with every text replaced by a marker. Folding withheld events gives withheld state.
 *
 * @example
 * ```ts
 * console.log(withholdTexts({ role: 'user', text: 'My password is hunter2' })) // => { role: 'user', text: '[withheld]' }
 * ```
 */
export const withholdTexts = <T>(value: T): T => mapTexts(value, () => TEXT_WITHHELD)

/** Whether the property of this name holds what somebody wrote. */
export const isText = (name: string): boolean => TEXTS.has(name)

/** The same data with every text put through a function, at any depth. */
export const mapTexts = <T>(value: T, change: (text: string) => string): T =>
  walk(value, change, (note) => change(asText(note))) as T

/** The same data with every text, and every string of a note, put through a redactor. */
export const redactTexts = <T>(value: T, redact: (text: string) => string): T =>
  walk(value, redact, (note) => strings(note, redact)) as T

const strings = (value: unknown, change: (text: string) => string): unknown => {
  if (typeof value === 'string') return change(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => strings(item, change))
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, strings(part, change)]))
}

/** A note counts as one text: the JSON it is written as. */
const asText = (note: unknown): string => canonicalJson(note)

type Change = (text: string) => string

const walk = (value: unknown, change: Change, ofNote: (note: unknown) => unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => walk(item, change, ofNote))
  const changed: Record<string, unknown> = {}
  for (const name of Object.keys(value)) {
    const part = (value as Record<string, unknown>)[name]
    if (!isText(name)) changed[name] = walk(part, change, ofNote)
    else if (part !== undefined) changed[name] = typeof part === 'string' ? change(part) : ofNote(part)
  }
  return changed
}

/** A text, and where in its row it stands: `reason`, or `prepared.continuation`. */
export interface TextField {
  readonly field: string
  readonly text: string
}

/** The texts of a row, each with its place. */
export const textFields = (value: object, path = ''): readonly TextField[] =>
  Object.entries(value).flatMap(([name, part]: [string, unknown]) => {
    const field = `${path}${name}`
    if (isText(name) && part !== undefined) return [{ field, text: typeof part === 'string' ? part : asText(part) }]
    return typeof part === 'object' && part !== null ? textFields(part, `${field}.`) : []
  })
