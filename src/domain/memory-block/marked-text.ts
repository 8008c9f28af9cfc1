import { err, ok, type Result } from '../kernel/result.ts'
import { markerProblem } from './block-markers.ts'
import type { BlockProblem, BlockRefusal } from './block-refusal.ts'
import type { BlockMarkers } from './memory-block.ts'

/** A text with one block in it: joined again, it is the text that was read. */
export interface MarkedText {
  /** Everything up to the end of the first marker. */
  readonly before: string
  /** The text between the markers. */
  readonly inside: string
  /** Everything from the second marker on. */
  readonly after: string
  /** The line of the first marker. */
  readonly line: number
}

interface Mark {
  readonly kind: 'begin' | 'end'
  readonly from: number
  readonly to: number
}

const MOST_LINES = 10

/**
 * Finds the block of a text. Every marker counts wherever it stands, in a sentence or in a code fence too: a rule that told
 * real markers from quoted ones could be wrong, and then it would write into a person's text.
 *
 * @returns undefined when there are no markers
 */
export const findBlock = (text: string, markers: BlockMarkers): Result<MarkedText | undefined, BlockRefusal> => {
  const problem = markerProblem(markers)
  if (problem !== undefined) throw new TypeError(`These are no markers of a memory block: ${problem}.`)
  const marks = marksIn(text, markers)
  const [begin, end] = marks
  if (begin === undefined) return ok(undefined)
  if (marks.length !== 2 || end === undefined || begin.kind !== 'begin' || end.kind !== 'end') {
    const lines = marks.slice(0, MOST_LINES).map(({ from }) => lineAt(text, from))
    const isCut = marks.length > MOST_LINES
    return err({ code: 'memory_block.malformed', problem: problemOf(marks), lines, ...(isCut && { isCut }) })
  }
  return ok({
    before: text.slice(0, begin.to),
    inside: text.slice(begin.to, end.from),
    after: text.slice(end.from),
    line: lineAt(text, begin.from),
  })
}

/** All markers in their order. They begin with their only `<`, so none overlaps another. */
const marksIn = (text: string, markers: BlockMarkers): readonly Mark[] => {
  const marks: Mark[] = []
  for (const kind of ['begin', 'end'] as const) {
    const marker = markers[kind]
    for (let from = text.indexOf(marker); from >= 0; from = text.indexOf(marker, from + marker.length))
      marks.push({ kind, from, to: from + marker.length })
  }
  return marks.sort((one, other) => one.from - other.from)
}

const problemOf = (marks: readonly Mark[]): BlockProblem => {
  const kinds = marks.map(({ kind }) => kind)
  if (!kinds.includes('end')) return kinds.length > 1 ? 'nested' : 'orphan_begin'
  if (!kinds.includes('begin')) return 'orphan_end'
  const [first, second] = kinds
  if (first === 'end') return kinds.length === 2 ? 'reversed' : 'orphan_end'
  if (second === 'begin') return 'nested'
  // The first two are a pair, and there is more.
  return kinds[2] === 'end' ? 'orphan_end' : kinds[3] === 'end' ? 'two_blocks' : 'orphan_begin'
}

const lineAt = (text: string, position: number): number => text.slice(0, position).split(/\r\n|\n|\r/).length
