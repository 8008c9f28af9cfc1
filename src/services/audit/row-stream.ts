import { defined } from '../../domain/kernel/defined.ts'
import type { Cursor, Page, Paged } from '../../ports/store/page.ts'

const PAGE = 200

/** A list that may still grow, row by row. After the last row, the next question looks for newer ones. */
export class RowStream<Row> {
  readonly #read: (page: Page) => Promise<Paged<Row>>
  #page: Paged<Row> = { items: [] }
  #after: Cursor | undefined
  #used = 0

  constructor(read: (page: Page) => Promise<Paged<Row>>) {
    this.#read = read
  }

  /** The next row; `undefined` when there is none now. */
  async next(): Promise<Row | undefined> {
    const row = await this.peek()
    if (row === undefined) return undefined
    this.#used += 1
    // Many streams may wait at their ends: none of them holds on to rows.
    if (this.#used === this.#page.items.length) this.#page = { ...this.#page, items: [] }
    return row
  }

  /** The row that `next` will give. */
  async peek(): Promise<Row | undefined> {
    return this.#page.items[this.#used] ?? (await this.#more())
  }

  /** The last page is read again, since rows may have been added to it; a full one is followed by the next. */
  async #more(): Promise<Row | undefined> {
    do {
      if (this.#page.next !== undefined) {
        this.#after = this.#page.next
        this.#used = 0
      }
      this.#page = await this.#read(defined({ after: this.#after, limit: PAGE }))
    } while (this.#page.items.length === this.#used && this.#page.next !== undefined)
    return this.#page.items[this.#used]
  }
}

/** Every row of a list, page by page. */
export async function* everyRow<Row>(read: (page: Page) => Promise<Paged<Row>>): AsyncGenerator<Row> {
  let page: Paged<Row> = await read({ limit: PAGE })
  for (;;) {
    yield* page.items
    if (page.next === undefined) return
    page = await read({ after: page.next, limit: PAGE })
  }
}
