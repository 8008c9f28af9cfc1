import { headingsNamed, isRule } from '../checkpoint/heading.ts'
import { beginningOf } from '../kernel/cut-text.ts'
import { withoutUnseen } from '../kernel/safe-text.ts'
import { withoutEnd } from '../kernel/without-end.ts'
import { SUMMARY_PARTS, type SummaryPart } from './thread-summary.ts'

/** A part of a summary with its lines. Without a title it is a text that has no parts. */
export interface SummarySection {
  readonly title?: SummaryPart
  readonly lines: readonly string[]
}

/** Stands below a heading with nothing to say: a heading is never empty. */
export const NOT_STATED = 'Not stated.'

/** Says in a summary that some of it was cut. It is no line of a part. */
export const SHORTENED = '(Shortened to fit.)'

/** The longest a line of a summary may be. */
const LONGEST_LINE = 400

const HEADING = /^ {0,3}#{1,6}[ \t](.*)$/
const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])\s+/
const LINK = /!?\[([^\][]{0,500})\]\([^()\s]{0,2000}\)/g

const headingIn = headingsNamed(SUMMARY_PARTS)

/**
 * The parts of a summary, by their headings, as far as it has them. Text before the first heading is left out: a model
 * introduces its answer there. A heading that was not asked for is text of the part it stands in.
 */
export const partsOf = (text: string): ReadonlyMap<SummaryPart, readonly string[]> => {
  const parts = new Map<SummaryPart, string[]>()
  let open: string[] | undefined
  const lines = text.split(/\r\n|[\n\r\u2028\u2029]/).map(safeLine)
  for (const [index, line] of lines.entries()) {
    const heading = headingIn(line, lines[index + 1] ?? '')
    if (heading?.section === undefined) {
      if (isProse(line)) open?.push(unmarked(line))
      continue
    }
    open = parts.get(heading.section) ?? []
    parts.set(heading.section, open)
    if (heading.rest !== '') open.push(heading.rest)
  }
  return parts
}

/** The sections of a summary in their order, none of them empty; of a text without parts, its lines. */
export const sectionsOf = (text: string): readonly SummarySection[] => {
  const parts = partsOf(text)
  if (parts.size === 0) return [{ lines: orNotStated(text.split(/\r?\n/).map(safeLine).filter(isProse)) }]
  return SUMMARY_PARTS.map((title) => ({ title, lines: orNotStated(parts.get(title) ?? []) }))
}

/** Sections as markdown. */
export const markdownOf = (sections: readonly SummarySection[]): string =>
  sections
    .map(({ title, lines }) => [...(title === undefined ? [] : [`## ${title}`]), ...lines].join('\n'))
    .join('\n\n')

/** A text in markdown without its markup, for lists and searches: a heading and what stands below it are one line. */
export const plainText = (markdown: string): string => {
  const plain: string[][] = []
  let below: string[] | undefined
  for (const line of markdown.split(/\r?\n/)) {
    const heading = HEADING.exec(line)
    const text = withoutMarkup(
      heading === null ? line.replace(ITEM, '') : withoutEnd(heading[1] ?? '', /[ \t#]/),
    ).trim()
    if (heading !== null) {
      below = [`${text}:`]
      plain.push(below)
    } else if (text === '') continue
    else if (below === undefined) plain.push([text])
    else below.push(text)
  }
  return plain.map((line) => line.join(' ')).join('\n')
}

const orNotStated = (lines: readonly string[]): readonly string[] => (lines.length === 0 ? [NOT_STATED] : lines)

/** A line without what does not show, of a length that a person reads. */
const safeLine = (line: string): string => {
  const safe = withoutUnseen(line.replaceAll('\t', ' ')).trimEnd()
  return safe.length <= LONGEST_LINE ? safe : `${beginningOf(safe, LONGEST_LINE - 1)}…`
}

/** Empty lines, rules and the edges of code say nothing, and half of a pair would swallow what follows. */
const isProse = (line: string): boolean =>
  line.trim() !== '' && line !== SHORTENED && !isRule(line) && !/^\s*(?:`{3,}|~{3,})/.test(line)

const unmarked = (line: string): string => line.replace(/^ {0,3}#{1,6}[ \t]+/, '')

const withoutMarkup = (text: string): string => text.replaceAll(LINK, '$1').replaceAll(/\*\*|__|`/g, '')
