import { canonicalJson } from '../kernel/canonical-json.ts'
import { type Json, MAX_METADATA_LENGTH, type Metadata } from '../kernel/metadata.ts'
import { absent, type Check, type InputProblem, isPlainObject, noteProblem } from './check.ts'

/** Deeper than a note of any use. */
const MAX_DEPTH = 16

/** Names that no store takes, or that mean something else to JavaScript. */
const isBadName = (name: string): boolean => name === '__proto__' || name.includes('\u0000') || HALF_A_PAIR.test(name)

const HALF_A_PAIR = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

/** A note: a plain object of JSON, not too deep and not too long. */
export const metadata: Check<Metadata> = (value, field, problems) => {
  const before = problems.length
  if (!isPlainObject(value)) return noteProblem(absent(value, 'an object'), field, problems)
  const read = json(value, field, problems, MAX_DEPTH) as Metadata
  if (problems.length > before) return read
  const { length } = canonicalJson(read)
  return length <= MAX_METADATA_LENGTH
    ? read
    : noteProblem(`it has ${length} characters as JSON, and ${MAX_METADATA_LENGTH} is the most`, field, problems)
}

const json = (value: unknown, field: string, problems: InputProblem[], depth: number): Json => {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (typeof value !== 'object') return noteProblem('it is not JSON', field, problems)
  if (depth === 0) return noteProblem(`it is nested deeper than ${MAX_DEPTH} levels`, field, problems)
  try {
    if (!Array.isArray(value) && !isPlainObject(value)) return noteProblem('it is not JSON', field, problems)
    return Array.isArray(value)
      ? value.slice(0, MAX_METADATA_LENGTH).map((item, index) => json(item, `${field}[${index}]`, problems, depth - 1))
      : properties(value, field, problems, depth - 1)
  } catch {
    return noteProblem('reading it failed', field, problems)
  }
}

const properties = (value: object, field: string, problems: InputProblem[], depth: number): Json => {
  const read: Record<string, Json> = {}
  for (const [name, part] of Object.entries(value).slice(0, MAX_METADATA_LENGTH)) {
    if (isBadName(name)) noteProblem(`a property cannot be called ${JSON.stringify(name)}`, field, problems)
    else if (part !== undefined) read[name] = json(part, `${field}.${name}`, problems, depth)
  }
  return read
}
