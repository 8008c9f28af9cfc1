/** The least that counts as a secret: shorter values are words, numbers and ports, and hiding them would ruin the text. */
export const SHORTEST_SECRET = 8

/** The kinds of secrets that are told apart. Each is a word of the mark that stands where one was. */
const SECRET_KINDS = [
  'private-key',
  'variable',
  'key',
  'json-web-token',
  'header',
  'url-password',
  'value',
  'pattern',
] as const

/** A kind of secret, as its mark names it. */
export type SecretKind = (typeof SECRET_KINDS)[number]

/** How many secrets of each kind were hidden. */
export type HiddenCounts = Readonly<Partial<Record<SecretKind, number>>>

/** Stands where a secret was. It says what kind it was and nothing else of it. */
export const markOf = (kind: SecretKind): string => `[hidden:${kind}]`

/** Every mark, and nothing that only looks like one: a secret cannot hide in it. */
export const MARK: RegExp = new RegExp(`\\[hidden:(?:${SECRET_KINDS.join('|')})\\]`, 'g')

/** Stands in place of a whole text whose secrets could not be looked for. */
export const TEXT_NOT_LOOKED_AT = '[withheld: it could not be looked through for secrets]'

/** Hides one secret, and counts it. */
export type Hide = (kind: SecretKind) => string

/** The sum over all kinds. */
export const hiddenInAll = (counts: HiddenCounts): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0)
