import { withoutEnd } from '../kernel/without-end.ts'
/** A line that begins a section: one of ours, or one the agent thought of. */
export interface Heading<Title extends string> {
  readonly section: Title | undefined
  /** The rest of the same line, as in `**Goal:** fix the test`. */
  readonly rest: string
}

/** No heading is longer; what is longer is not looked at, so that odd lines cost nothing. */
const MAX_HEADING_LENGTH = 200

const HASHES = /^ {0,3}#{1,6}[ \t](.+)$/
const RULE = /^ {0,3}(?:=+|-+)[ \t]*$/
const BOLD = /^\s*(?:[-*+]\s+|\d+[.)]\s+)?(\*\*|__)(.+?)\1(\s*:)?(.*)$/s

/** Finds the title that a heading names. */
type Named<Title extends string> = (title?: string) => Title | undefined

/** Reads headings of these titles: with hashes, underlined, in bold, or the bare title and a colon. */
export const headingsNamed = <Title extends string>(
  titles: readonly Title[],
): ((line: string, next: string) => Heading<Title> | undefined) => {
  const byTitle: ReadonlyMap<string, Title> = new Map(titles.map((title) => [title.toLowerCase(), title]))
  const named: Named<Title> = (title = '') => byTitle.get(bareTitle(title))
  return (line, next) => {
    if (line.trim() === '' || line.length > MAX_HEADING_LENGTH) return undefined
    const hashes = HASHES.exec(line)
    if (hashes !== null) return { section: named(hashes[1]), rest: '' }
    return boldHeading(line, named) ?? plainHeading(line, next, named)
  }
}

/** Whether a line only separates or underlines. */
export const isRule = (line: string): boolean => RULE.test(line)

const boldHeading = <Title extends string>(line: string, named: Named<Title>): Heading<Title> | undefined => {
  const [, , title = '', colon, rest = ''] = BOLD.exec(line) ?? []
  const section = named(title)
  const isSetOff = rest.trim() === '' || colon !== undefined || title.trimEnd().endsWith(':')
  return section !== undefined && isSetOff ? { section, rest: rest.trim() } : undefined
}

/** A rule below a line may be meant as a separator, so without other signs only the names we asked for are headings. */
const plainHeading = <Title extends string>(
  line: string,
  next: string,
  named: Named<Title>,
): Heading<Title> | undefined => {
  const section = line.trimEnd().endsWith(':') || isRule(next) ? named(line) : undefined
  return section && { section, rest: '' }
}

/** Agents number their headings, decorate them, and end them in colons. */
const bareTitle = (title: string): string =>
  withoutEnd(title.replace(/^[\s*_]*(?:\d+[.)]\s*)?[\s*_]*/, ''), /[\s*_:#]/)
    .replaceAll(/\s+/g, ' ')
    .toLowerCase()
