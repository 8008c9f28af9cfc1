import { SHORTEST_ENDING, shortestEnding } from '../../../domain/kernel/id-ending.ts'
import type { Span, Style } from '../invocation/output.ts'
import { cut, cutStart, fitted, plain, widthOf } from './text.ts'

/** One column: its title, the text it shows of an item, and the most it takes. */
export interface Column<Item> {
  readonly title: string
  readonly of: (item: Item) => string
  /** The most it takes where there is too little room for all. Left out, the column takes what the others leave. */
  readonly most?: number
  /** It shows ids. On a terminal it shows how they end, as far as it takes to tell them apart. */
  readonly isId?: true
  /** It shows times: the reader is told of which zone. */
  readonly isTime?: true
  /** Where there is too little room, columns are left out: the lowest number first. One without a number stays. */
  readonly importance?: number
  /** Where it must be cut, its beginning goes: of a folder, the end tells which it is. */
  readonly keepsEnd?: true
  readonly style?: (item: Item) => Style | undefined
}

const GAP = '  '

/** The least that a column without a limit of its own is of any use with. */
const LEAST = 12

/** A table: made to fit its first items and the width there is, and later ones fit into it. Nothing is ever wrapped. */
export class TextTable<Item> {
  readonly #columns: readonly Column<Item>[]
  readonly #width: number
  readonly #widths: readonly number[]

  /** Without a width nothing is cut. */
  constructor(columns: readonly Column<Item>[], first: readonly Item[], width = Number.POSITIVE_INFINITY) {
    this.#width = width
    const shortened =
      width === Number.POSITIVE_INFINITY ? columns : columns.map((column) => withShortIds(column, first))
    const all = shortened.map((column) => measured(column, first))
    const fitting = all.filter(
      (one) => leastIn(atLeastAsImportant(all, one)) <= width || one.column.importance === undefined,
    )
    this.#columns = fitting.map(({ column }) => column)
    const room = width - GAP.length * (fitting.length - 1)
    this.#widths = widthsOf(fitting, room)
  }

  header(): readonly Span[] {
    return this.#line(this.#columns.map(({ title }) => ({ text: title, style: 'title' })))
  }

  row(item: Item): readonly Span[] {
    return this.#line(this.#columns.map(({ of, style }) => ({ text: plain(of(item)), style: style?.(item) })))
  }

  #line(cells: readonly Span[]): readonly Span[] {
    const line: Span[] = []
    const end = cells.findLastIndex(({ text }) => text !== '')
    let left = this.#width
    for (const [at, cell] of cells.slice(0, end + 1).entries()) {
      const text = cut(this.#cell(cell.text, at), left)
      left -= widthOf(text) + GAP.length
      const isLast = at === end || left <= 0
      line.push({ ...cell, text: isLast ? text.trimEnd() : text })
      if (isLast) return line
      line.push({ text: GAP })
    }
    return line
  }

  #cell(text: string, at: number): string {
    const width = this.#widths[at] ?? 0
    if (this.#width === Number.POSITIVE_INFINITY) return text.padEnd(text.length + Math.max(0, width - widthOf(text)))
    return this.#columns[at]?.keepsEnd === true ? fitted(cutStart(text, width), width) : fitted(text, width)
  }
}

/** A column, how much it would take, and the least it is of use with. */
interface Measured<Item> {
  readonly column: Column<Item>
  readonly natural: number
  readonly least: number
}

const measured = <Item>(column: Column<Item>, first: readonly Item[]): Measured<Item> => {
  const { title, of, most, isId } = column
  const natural = Math.max(widthOf(title), ...first.map((item) => widthOf(plain(of(item)))))
  return { column, natural, least: isId === true ? natural : Math.min(natural, most ?? LEAST) }
}

/** The columns that are left out later than this one, and itself. */
const atLeastAsImportant = <Item>(all: readonly Measured<Item>[], { column }: Measured<Item>) =>
  all.filter(
    (other) =>
      other.column === column || (other.column.importance ?? Number.POSITIVE_INFINITY) > (column.importance ?? 0),
  )

const leastIn = <Item>(columns: readonly Measured<Item>[]): number =>
  columns.reduce((sum, { least }) => sum + least + GAP.length, -GAP.length)

/** The width of each column: all it needs, or else what it takes at most, and those without a limit share the rest. */
const widthsOf = <Item>(columns: readonly Measured<Item>[], room: number): readonly number[] => {
  if (columns.reduce((sum, { natural }) => sum + natural, 0) <= room) return columns.map(({ natural }) => natural)
  const isFlexible = ({ column }: Measured<Item>): boolean => column.most === undefined && column.isId !== true
  const taken = columns.reduce((sum, one) => sum + (isFlexible(one) ? 0 : one.least), 0)
  const shares = shared(
    columns.filter(isFlexible).map(({ natural }) => natural),
    room - taken,
  )
  return columns.map((one) => (isFlexible(one) ? (shares.shift() ?? LEAST) : one.least))
}

/** Room for texts that want so much: none gets more than it wants, and what it leaves goes to the others. */
const shared = (wanted: readonly number[], room: number): number[] => {
  let [left, count] = [room, wanted.length]
  const shares = new Map<number, number>()
  for (const [at, want] of [...wanted.entries()].sort(([, a], [, b]) => a - b)) {
    const share = Math.min(want, Math.max(LEAST, Math.floor(left / count)))
    shares.set(at, share)
    left -= share
    count -= 1
  }
  return wanted.map((_, at) => shares.get(at) ?? LEAST)
}

/** Ids by how they end: within a minute they all begin alike. */
const withShortIds = <Item>(column: Column<Item>, first: readonly Item[]): Column<Item> => {
  if (column.isId !== true) return column
  const ids = first.map(column.of)
  const length = ids.some((id) => id !== '') ? shortestEnding(ids) : SHORTEST_ENDING
  return { ...column, of: (item) => column.of(item).slice(-length) }
}
