/**
 * The sections a checkpoint is asked for, in this order.
 *
 * @example
 * ```ts
 * console.log(CHECKPOINT_SECTIONS.length, CHECKPOINT_SECTIONS[4]) // => 8 Do not redo
 * ```
 */
export const CHECKPOINT_SECTIONS = [
  'Goal',
  'Completed work',
  'Current state',
  'Remaining tasks',
  'Do not redo',
  'Key decisions',
  'Open issues',
  'Files changed',
] as const

/** One of the sections a checkpoint is asked for. */
export type CheckpointSection = (typeof CHECKPOINT_SECTIONS)[number]

/** A line that begins a section: one of ours, or one the agent thought of. */
export interface Heading {
  readonly section: CheckpointSection | undefined
  /** The rest of the same line, as in `**Goal:** fix the test`. */
  readonly rest: string
}

/** No heading is longer; what is longer is not looked at, so that odd lines cost nothing. */
const MAX_HEADING_LENGTH = 200

const HASHES = /^ {0,3}#{1,6}[ \t]+(.+)$/
const RULE = /^ {0,3}(?:=+|-+)[ \t]*$/
const BOLD = /^\s*(?:[-*+]\s+|\d+[.)]\s+)?(\*\*|__)(.+?)\1(\s*:)?(.*)$/

const BY_TITLE: ReadonlyMap<string, CheckpointSection> = new Map(
  CHECKPOINT_SECTIONS.map((section) => [section.toLowerCase(), section]),
)

/** The heading a line is, if it is one: with hashes, underlined, in bold, or the bare name of a section and a colon. */
export const headingIn = (line: string, next: string): Heading | undefined => {
  if (line.trim() === '' || line.length > MAX_HEADING_LENGTH) return undefined
  const hashes = HASHES.exec(line)
  if (hashes !== null) return { section: sectionNamed(hashes[1]), rest: '' }
  return boldHeading(line) ?? plainHeading(line, next)
}

/** Whether a line only separates or underlines. */
export const isRule = (line: string): boolean => RULE.test(line)

const boldHeading = (line: string): Heading | undefined => {
  const [, , title = '', colon, rest = ''] = BOLD.exec(line) ?? []
  const section = sectionNamed(title)
  const isSetOff = rest.trim() === '' || colon !== undefined || title.trimEnd().endsWith(':')
  return section !== undefined && isSetOff ? { section, rest: rest.trim() } : undefined
}

/** A rule below a line may be meant as a separator, so without other signs only the names we asked for are headings. */
const plainHeading = (line: string, next: string): Heading | undefined => {
  const section = line.trimEnd().endsWith(':') || isRule(next) ? sectionNamed(line) : undefined
  return section && { section, rest: '' }
}

/** Agents number their headings, decorate them, and end them in colons. */
const sectionNamed = (title = ''): CheckpointSection | undefined =>
  BY_TITLE.get(
    title
      .replace(/^[\s*_]*(?:\d+[.)]\s*)?[\s*_]*/, '')
      .replace(/[\s*_:#]+$/, '')
      .replaceAll(/\s+/g, ' ')
      .toLowerCase(),
  )
