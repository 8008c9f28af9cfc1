import { isRecord } from './record.ts'
/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }

/** A note of the caller's own, kept beside a conversation, a session or a handoff. Batonpass never reads it. */
export type Metadata = object

/** The shapes of a caller's notes, for `createBatonpass<Notes>()`. */
export interface MetadataTypes {
  readonly conversation: Metadata
  readonly session: Metadata
  readonly handoff: Metadata
}

/** The longest a note may be, written as JSON. Larger things belong into a store of their own. */
export const MAX_METADATA_LENGTH = 16_384

/** A note that takes the place of the one before; an empty one takes it away. */
export interface SetMetadata {
  readonly metadata: Metadata
}

/** The note to keep: an empty one is none. */
export const noteOf = (metadata: Metadata | undefined): { readonly metadata?: Metadata } =>
  metadata === undefined || Object.keys(metadata).length === 0 ? {} : { metadata }

/**
 * Whether a note contains another, as Postgres answers it with `@>`: every property asked for is there, and every entry
 * of a list asked for is in the list, wherever.
 */
export const containsJson = (note: unknown, wanted: unknown): boolean => {
  if (Array.isArray(wanted))
    return Array.isArray(note) && wanted.every((part) => note.some((entry) => containsJson(entry, part)))
  if (isRecord(wanted)) {
    return (
      isRecord(note) &&
      Object.keys(wanted).every((name) => Object.hasOwn(note, name) && containsJson(note[name], wanted[name]))
    )
  }
  return note === wanted
}
