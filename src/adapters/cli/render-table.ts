import { COLUMNS, cut, fitted, plain, widthOf } from './render-text.ts'

/** One column: its title, what it shows of an item, and the most it takes. */
export interface Column<Item> {
  readonly title: string
  readonly of: (item: Item) => string
  /** Left out, the column takes what the others leave. */
  readonly most?: number
}

const GAP = '  '

/** A table for a terminal: made to fit its first items, and later ones fit into it. Nothing is ever wrapped. */
export class Table<Item> {
  readonly #columns: readonly Column<Item>[]
  readonly #widths: readonly number[]

  constructor(columns: readonly Column<Item>[], first: readonly Item[]) {
    this.#columns = columns
    const natural = columns.map(({ title, of, most = COLUMNS }) =>
      Math.min(most, Math.max(widthOf(title), ...first.map((item) => widthOf(plain(of(item)))))),
    )
    const fixed = columns.reduce((sum, { most }, at) => sum + (most === undefined ? 0 : (natural[at] ?? 0)), 0)
    const flexible = columns.filter(({ most }) => most === undefined).length
    const left = COLUMNS - fixed - GAP.length * (columns.length - 1)
    const share = Math.max(1, Math.floor(left / Math.max(1, flexible)))
    this.#widths = columns.map(({ most }, at) => (most === undefined ? share : (natural[at] ?? 0)))
  }

  header(): string {
    return this.#line(this.#columns.map(({ title }) => title))
  }

  row(item: Item): string {
    return this.#line(this.#columns.map(({ of }) => plain(of(item))))
  }

  #line(cells: readonly string[]): string {
    const filled = cells.map((cell, at) => fitted(cell, this.#widths[at] ?? 0))
    return cut(filled.join(GAP).trimEnd(), COLUMNS)
  }
}
