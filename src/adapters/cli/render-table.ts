import { cut, fitted, plain, widthOf } from './render-text.ts'
import type { Span, Style } from './style.ts'

/** One column: its title, the text it shows of an item, and the most it takes. */
export interface Column<Item> {
  readonly title: string
  readonly of: (item: Item) => string
  /** The most it takes where there is too little room for all. Left out, the column takes what the others leave. */
  readonly most?: number
  /** It shows ids. Where there is too little room it shows how they begin, as far as it takes to tell them apart. */
  readonly isId?: true
  readonly style?: (item: Item) => Style | undefined
}

const GAP = '  '

/** Where an id can end: after the time it was made at, and later. */
const ID_ENDS = [13, 18, 23, 36] as const

/** The least that the columns without a limit of their own take together. */
const LEAST = 8

/** A table: made to fit its first items and the width there is, and later ones fit into it. Nothing is ever wrapped. */
export class Table<Item> {
  readonly #columns: readonly Column<Item>[]
  readonly #width: number
  readonly #widths: readonly number[]

  /** Without a width nothing is cut. */
  constructor(columns: readonly Column<Item>[], first: readonly Item[], width = Number.POSITIVE_INFINITY) {
    this.#columns = columns
    this.#width = width
    const natural = columns.map(({ title, of }) =>
      Math.max(widthOf(title), ...first.map((item) => widthOf(plain(of(item))))),
    )
    const room = width - GAP.length * (columns.length - 1)
    const isRoomy = natural.reduce((sum, each) => sum + each, 0) <= room
    this.#widths = isRoomy ? natural : narrowed(columns, first, natural, room)
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
    return this.#columns[at]?.isId === true ? text.slice(0, width).padEnd(width) : fitted(text, width)
  }
}

/** The widths where not everything fits: ids are shortened, columns get what they take at most, others the rest. */
const narrowed = <Item>(
  columns: readonly Column<Item>[],
  first: readonly Item[],
  natural: readonly number[],
  room: number,
): readonly number[] => {
  const fixed = columns.map(({ title, of, most, isId }, at) => {
    if (isId === true) return Math.max(title.length, idLength(first.map(of)))
    return most === undefined ? undefined : Math.min(most, natural[at] ?? 0)
  })
  const taken = fixed.reduce<number>((sum, each) => sum + (each ?? 0), 0)
  const flexible = fixed.filter((each) => each === undefined).length
  const share = Math.max(LEAST, Math.floor((room - taken) / Math.max(1, flexible)))
  return fixed.map((each) => each ?? share)
}

/** The shortest beginning that tells these ids apart. */
const idLength = (ids: readonly string[]): number => {
  const count = new Set(ids).size
  return ID_ENDS.find((length) => new Set(ids.map((id) => id.slice(0, length))).size === count) ?? 36
}
