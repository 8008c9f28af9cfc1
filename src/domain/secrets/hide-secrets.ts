import { type HiddenCounts, type Hide, MARK, markOf, type SecretKind, TEXT_NOT_LOOKED_AT } from './hidden-text.ts'
import { hideCredentials, hideKeys } from './key-formats.ts'
import { hidePrivateKeys } from './private-keys.ts'
import { HIDE_NAMED_VALUES } from './secret-values.ts'

/** A text without its secrets, and how many of each kind there were. */
export interface HiddenText {
  readonly text: string
  readonly hidden: HiddenCounts
}

/** The secrets that only this machine knows of, beside those that can be told by their form. */
export interface KnownSecrets {
  /** Values that are secrets wherever they stand, longest first. */
  readonly values?: readonly string[]
  /** Hides what somebody's own rules find. */
  readonly more?: (text: string, hide: Hide) => string
}

/**
 * Text that is hidden may leave something behind that looks like a secret only now, once. A text that does not come to
 * rest is withheld.
 */
const MOST_ROUNDS = 8

/**
 * The text with its secrets hidden. The same text always gives the same result, and hiding in a result changes nothing:
 * it is looked through again until nothing more is found, and a mark is never looked into.
 */
export const hideSecrets = (text: string, secrets: KnownSecrets = {}): HiddenText => {
  const hidden: Partial<Record<SecretKind, number>> = {}
  const hide: Hide = (kind) => {
    hidden[kind] = (hidden[kind] ?? 0) + 1
    return markOf(kind)
  }
  let shown = text
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const looked = stagesOf(secrets).reduce(
      (before, stage) => aroundMarks(before, (piece) => stage(piece, hide)),
      shown,
    )
    if (looked === shown) return { text: shown, hidden }
    shown = looked
  }
  return { text: TEXT_NOT_LOOKED_AT, hidden }
}

type Stage = (text: string, hide: Hide) => string

/** Whole things come first: a value before the key that is a part of it. */
const stagesOf = ({ values = [], more }: KnownSecrets): readonly Stage[] => [
  hidePrivateKeys,
  ...values.map(
    (value): Stage =>
      (text, hide) =>
        text.includes(value) ? text.replaceAll(value, () => hide('variable')) : text,
  ),
  ...HIDE_NAMED_VALUES,
  hideCredentials,
  hideKeys,
  ...(more === undefined ? [] : [more]),
]

const aroundMarks = (text: string, change: (piece: string) => string): string => {
  if (!text.includes('[hidden:')) return text === '' ? text : change(text)
  const marks = text.match(MARK) ?? []
  return text
    .split(MARK)
    .map((piece, index) => `${piece === '' ? '' : change(piece)}${marks[index] ?? ''}`)
    .join('')
}
