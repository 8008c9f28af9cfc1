/** How secrets are hidden, as a configuration says it. */
export type RedactionSettings =
  | { readonly state: 'off' }
  | {
      readonly state: 'on'
      /** Patterns of one's own, as a regular expression each; whatever one matches is hidden. */
      readonly patterns: readonly string[]
      /** A program that gets a text on its standard input and writes it without its secrets. */
      readonly command?: string | readonly string[]
      /** How long the patterns, or the program, may take for one text. */
      readonly timeoutMs: number
    }

/** How long the rules of a person may take for one text, unless they say otherwise. */
export const DEFAULT_REDACTION_MS = 2_000

/** On, with nothing added: what holds where nothing is configured. */
export const BUILT_IN_REDACTION: RedactionSettings = { state: 'on', patterns: [], timeoutMs: DEFAULT_REDACTION_MS }

const LONGEST_PATTERN = 1_000

/** Why a text cannot be used as a pattern, if it cannot. */
export const patternProblem = (pattern: string): string | undefined => {
  if (pattern.length > LONGEST_PATTERN) return `it has ${pattern.length} characters, and ${LONGEST_PATTERN} is the most`
  try {
    return new RegExp(pattern, 'g').test('') ? 'it matches the empty text, and would hide everything' : undefined
  } catch {
    return 'it is not a regular expression'
  }
}

/** The account of a redactor so far. */
export interface RedactionCounts {
  /** How many secrets were hidden. */
  readonly hidden: number
  /** How many whole texts were withheld, because they could not be looked through. */
  readonly withheld: number
}
