import { defined } from '../../../domain/kernel/defined.ts'
import { everyPage, type ListOrder, type Page, type Paged } from '../../../ports/store/page.ts'
import type { HandoffHistory } from '../../../services/history/handoff-history.ts'
import { pageSize, parsedFlag, textFlag } from '../choose/history-args.ts'
import { withHistory } from '../choose/with-history.ts'
import { type Column, Table } from '../render/render-table.ts'
import { toJson, widthOn } from '../render/render-text.ts'
import { zoneIn, zoneSentence } from '../render/render-time.ts'
import { continued } from '../terminal/continued.ts'
import { writeSpans } from '../terminal/style.ts'
import type { Invocation, Output } from './command.ts'
import { UsageError } from './problems.ts'

const DEFAULT_LIMIT = 20

/** One list: the name of its items, where they come from, and how they are shown. */
export interface Listing<Item, Row = Item> {
  /** The name of the items, for the sentence that says there are none. */
  readonly things: string
  readonly read: (history: HandoffHistory, page: Page) => Promise<Paged<Item>>
  /** The rows that a person is shown of a page of items, where they hold more than the items. */
  readonly rows: (history: HandoffHistory, items: readonly Item[]) => Promise<readonly Row[]>
  readonly look: readonly Column<Row>[] | Lines<Row>
}

/** Several lines for each item. They have times in them. */
export type Lines<Row> = (row: Row, columns: number) => readonly string[]

/** The rows of a list whose items are shown as they are. */
export const asTheyAre = async <Item>(_: HandoffHistory, items: readonly Item[]): Promise<readonly Item[]> => items

/** The order a list's flags ask for. */
export const orderOf = (invocation: Invocation): ListOrder => {
  notTogether(invocation, 'newest', 'oldest')
  return invocation.values.oldest === true ? 'oldest_first' : 'newest_first'
}

/** Prints a list: a table, or one JSON document with the items and the cursor of the next page. */
export const printList = async <Item, Row>(invocation: Invocation, listing: Listing<Item, Row>): Promise<void> => {
  const { things, look, read, rows } = listing
  const { values, out } = invocation
  const isAll = values.all === true
  const limit = parsedFlag(invocation, 'limit', pageSize) ?? (isAll ? undefined : DEFAULT_LIMIT)
  const page: Page = defined({ limit, after: textFlag(invocation, 'after') })
  await withHistory(invocation, async (history) => {
    const from = (next: Page): Promise<Paged<Item>> => read(history, next)
    if (values.json === true && isAll) return printDocument(everyPage(from, page), out)
    let found = await from(page)
    if (values.json === true) return out.line(toJson(found))
    if (found.items.length === 0 && found.next === undefined)
      return out.line(`No ${things} ${page.after === undefined ? 'match' : 'follow'}.`)
    const first = await rows(history, found.items)
    const show = shownOn(out, look, first)
    for (const row of first) show(row)
    while (isAll && found.next !== undefined) {
      found = await from({ ...page, after: found.next })
      for (const row of await rows(history, found.items)) show(row)
    }
    if (typeof look === 'function' || look.some(({ isTime }) => isTime === true))
      out.line(zoneSentence(zoneIn(invocation)))
    if (found.next !== undefined) out.line(`\nThere are more. Continue with:\n  ${continued(invocation, found.next)}`)
  })
}

/** Writes the head of a list, and answers with how a row is written. */
const shownOn = <Row>(
  out: Output,
  look: Listing<unknown, Row>['look'],
  first: readonly Row[],
): ((row: Row) => void) => {
  if (typeof look === 'function')
    return (row) => {
      for (const line of look(row, widthOn(out))) out.line(line)
    }
  const table = new Table(look, first, out.columns)
  writeSpans(out, table.header())
  return (row) => writeSpans(out, table.row(row))
}

/** One document, written as it is read: a long history need not fit into memory. */
const printDocument = async (items: AsyncIterable<unknown>, out: Output): Promise<void> => {
  out.line('{ "items": [')
  let last: string | undefined
  for await (const item of items) {
    if (last !== undefined) out.line(`${last},`)
    last = toJson(item)
  }
  out.line(`${last ?? ''}\n] }`)
}

/** Refuses flags that exclude each other. */
export const notTogether = (invocation: Invocation, ...names: readonly string[]): void => {
  const given = names.filter((name) => invocation.values[name] !== undefined)
  if (given.length > 1) throw new UsageError(`${given.map((name) => `--${name}`).join(' and ')} exclude each other.`)
}
