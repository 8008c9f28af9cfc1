import { MAX_NAME_LENGTH } from '../kernel/cut-text.ts'
import { type Id, isUuid } from '../kernel/ids.ts'
import { type Instant, instantIn } from '../kernel/instant.ts'
import { isNonce } from '../kernel/nonce-fence.ts'
import { absent, type Check, noteProblem } from './check.ts'

/** Far more than a window holds, and well below what a database takes. */
const MAX_TEXT_LENGTH = 16_777_216

const stringOf = (most: number, mayBeBlank: boolean): Check<string> => {
  return (value, field, problems) => {
    if (typeof value !== 'string') return noteProblem(absent(value, 'text'), field, problems)
    if (value.length > most)
      return noteProblem(`it has ${value.length} characters, and ${most} is the most`, field, problems)
    return mayBeBlank || !isBlank(value) ? value : noteProblem('it is blank', field, problems)
  }
}

/** Whether a text says nothing: it is empty, or white space of any alphabet. */
const isBlank = (text: string): boolean => text.trim() === ''

/** A name or a key: short, and not blank. */
export const name: Check<string> = stringOf(MAX_NAME_LENGTH, false)

/** A name as it is kept: without the white space around it. */
export const trimmedName: Check<string> = (value, field, problems) => name(value, field, problems)?.trim()

/** A nonce: one word that cannot be guessed. */
export const nonce: Check<string> = (value, field, problems) => {
  if (typeof value !== 'string') return noteProblem(absent(value, 'text'), field, problems)
  return isNonce(value) ? value : noteProblem('it is not at least 16 letters, digits and hyphens', field, problems)
}

/** A text that is not blank. */
export const text: Check<string> = stringOf(MAX_TEXT_LENGTH, false)

/** The text of a message. It may be empty: an answer may only call tools. */
export const messageText: Check<string> = stringOf(MAX_TEXT_LENGTH, true)

/** A line that is kept short later. A redactor may leave nothing of it, or make it longer. */
export const line: Check<string> = stringOf(20_000, true)

/** An id of ours; which one it names is a matter of types alone. */
export const id: Check<AnyId> = (value, field, problems) =>
  isUuid(value) ? (value.toLowerCase() as AnyId) : noteProblem(absent(value, 'an id, which is a UUID'), field, problems)

/** Stands for an id of every kind, as `never` does for a value of every type. */
type AnyId = Id<never>

const SHA256 = /^[0-9a-f]{64}$/

/** A SHA-256, as lower-case hexadecimal. */
export const sha256Hex: Check<string> = (value, field, problems) =>
  typeof value === 'string' && SHA256.test(value)
    ? value
    : noteProblem(absent(value, 'a SHA-256 in lower-case hexadecimal'), field, problems)

/** A moment, as we write it. */
export const moment: Check<Instant> = (value, field, problems) => {
  const read = instantIn(value)
  return read !== undefined && read === value
    ? read
    : noteProblem(absent(value, 'a moment such as 2026-11-16T03:45:34.123Z'), field, problems)
}
