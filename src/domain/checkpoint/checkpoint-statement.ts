import { defined } from '../kernel/defined.ts'
import { citedIn } from './checkpoint-citation.ts'
import { type CheckpointSection, headingIn } from './checkpoint-section.ts'
import { isRule } from './heading.ts'

/**
 * How a statement stands against the record: `cited` names only calls that were made, `miscited` names one that was not,
 * `uncited` is about work done and names none, `exempt` names none and needs none: a plan, a decision, the name of a file.
 * A call that was made does not prove the statement; it says where to look.
 */
export type StatementStanding = 'cited' | 'miscited' | 'uncited' | 'exempt'

/** Sections that say what is planned, decided or open. What stands in them is no claim about work done. */
const NOT_ABOUT_WORK: readonly (CheckpointSection | undefined)[] = [
  'Goal',
  'Remaining tasks',
  'Key decisions',
  'Open issues',
  'Files changed',
]

/** Something a checkpoint says: a list item, or a sentence with a citation. */
export interface CheckpointStatement {
  readonly text: string
  /** The line of the checkpoint it begins on, from 1. */
  readonly line: number
  /** The section it stands in; absent before the first, and in one that was not asked for. */
  readonly section?: CheckpointSection
  /** The call ids it cites, each once. */
  readonly callIds: readonly string[]
  readonly standing: StatementStanding
}

/** The outline of a checkpoint. */
export interface CheckpointOutline {
  readonly sections: ReadonlySet<CheckpointSection>
  readonly statements: readonly CheckpointStatement[]
}

/** Lines that belong together: one list item, or one paragraph. */
interface Block {
  readonly isItem: boolean
  readonly section: CheckpointSection | undefined
  readonly line: number
  readonly lines: string[]
}

const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?(?=\S)/
/** Words that agents write under a heading when they have nothing to say there. */
const NOTHING = /^(?:none|nothing|n\/a)[.\s]*$/i
const FENCE = /^\s*(?:```|~~~)/

/** The space between sentences, kept when splitting. A citation after the full stop belongs to the one before. */
const SENTENCE_END = /(?<=[.!?](?:\s*\[call:[^\][]*\]){0,5})(\s+)(?=\S)(?!\[call:)/i

/** Reads the sections and statements of a checkpoint, and holds what they cite against the calls on record. */
export const outlineOf = (text: string, knownCalls: ReadonlySet<string>): CheckpointOutline => {
  const sections = new Set<CheckpointSection>()
  const blocks = blocksOf(text.split(/\r?\n/), sections)
  return { sections, statements: blocks.flatMap((block) => statementsIn(block, knownCalls)) }
}

/** The blocks of a text, in order. Sections that are met on the way are added to `met`. */
const blocksOf = (lines: readonly string[], met: Set<CheckpointSection>): readonly Block[] => {
  const blocks: Block[] = []
  let section: CheckpointSection | undefined
  let open: Block | undefined
  const begin = (isItem: boolean, line: number, first: string): void => {
    open = { isItem, section, line, lines: [first] }
    blocks.push(open)
  }
  for (const { line, next, number } of proseOf(lines)) {
    const heading = headingIn(line, next)
    if (heading !== undefined) {
      section = heading.section
      if (section !== undefined) met.add(section)
      open = undefined
      if (heading.rest !== '') begin(false, number, heading.rest)
    } else if (line.trim() === '' || isRule(line)) open = undefined
    else if (ITEM.test(line)) begin(true, number, line.replace(ITEM, ''))
    else if (open === undefined) begin(false, number, line)
    else open.lines.push(line)
  }
  return blocks
}

/**
 * The lines outside code. Code is quoted: a comment in it is no heading, and a minus sign no statement. A fence that is
 * never closed quotes nothing, or one line would hide the rest of a checkpoint from review.
 */
function* proseOf(lines: readonly string[]) {
  const fences = lines.filter((line) => FENCE.test(line)).length
  const paired = fences - (fences % 2)
  let seen = 0
  for (const [index, line] of lines.entries()) {
    if (FENCE.test(line)) seen += 1
    else if (seen % 2 === 0 || seen > paired) yield { line, next: lines[index + 1] ?? '', number: index + 1 }
  }
}

const statementsIn = (block: Block, knownCalls: ReadonlySet<string>): readonly CheckpointStatement[] => {
  const text = block.lines.join('\n')
  if (block.isItem) return NOTHING.test(text) ? [] : [statementOf(block, text, knownCalls)]
  let line = block.line
  return text.split(SENTENCE_END).flatMap((sentence) => {
    const begun = { ...block, line }
    line += sentence.split('\n').length - 1
    return citedIn(sentence).length === 0 ? [] : [statementOf(begun, sentence, knownCalls)]
  })
}

const statementOf = (
  { line, section }: Pick<Block, 'line' | 'section'>,
  text: string,
  knownCalls: ReadonlySet<string>,
): CheckpointStatement => {
  const callIds = citedIn(text)
  return defined({ text: text.trim(), line, section, callIds, standing: standingOf(callIds, section, knownCalls) })
}

const standingOf = (
  callIds: readonly string[],
  section: CheckpointSection | undefined,
  knownCalls: ReadonlySet<string>,
): StatementStanding => {
  if (callIds.length === 0) return NOT_ABOUT_WORK.includes(section) ? 'exempt' : 'uncited'
  return callIds.every((id) => knownCalls.has(id)) ? 'cited' : 'miscited'
}
