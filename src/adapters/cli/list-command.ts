import { defined } from '../../domain/kernel/defined.ts'
import { everyPage, type ListOrder, type Page, type Paged } from '../../ports/page.ts'
import type { HandoffHistory } from '../../services/handoff-history.ts'
import type { Invocation, Output } from './command.ts'
import { pageSize, parsedFlag, textFlag } from './history-args.ts'
import { UsageError } from './problems.ts'
import { type Column, Table } from './render-table.ts'
import { toJson, widthOn } from './render-text.ts'
import { writeSpans } from './style.ts'
import { withHistory } from './with-history.ts'

const DEFAULT_LIMIT = 20

/** One list: the name of its items, how an item looks, and where the items come from. */
export interface Listing<Item> {
  /** The name of the items, for the sentence that says there are none. */
  readonly things: string
  /** A row of a table for each item, or several lines. */
  readonly look: readonly Column<Item>[] | ((item: Item, columns: number) => readonly string[])
  readonly read: (history: HandoffHistory, page: Page) => Promise<Paged<Item>>
}

/** The order a list's flags ask for. */
export const orderOf = ({ values }: Invocation): ListOrder => (values.newest === true ? 'newest_first' : 'oldest_first')

/** Prints a list: a table, or one JSON document with the items and the cursor of the next page. */
export const printList = async <Item>(invocation: Invocation, { things, look, read }: Listing<Item>): Promise<void> => {
  const { values, out } = invocation
  const isAll = values.all === true
  const limit = parsedFlag(invocation, 'limit', pageSize) ?? (isAll ? undefined : DEFAULT_LIMIT)
  const page: Page = defined({ limit, after: textFlag(invocation, 'after') })
  await withHistory(invocation, async (history) => {
    const from = (next: Page): Promise<Paged<Item>> => read(history, next)
    if (values.json === true && isAll) return printDocument(everyPage(from, page), out)
    const first = await from(page)
    if (values.json === true) return out.line(toJson(first))
    if (first.items.length === 0) return out.line(`No ${things} ${page.after === undefined ? 'match' : 'follow'}.`)
    const show = shownOn(out, look, first.items)
    for (const item of first.items) show(item)
    if (first.next === undefined) return
    if (!isAll) return out.line(`\nThere are more. Continue with:\n  --after ${first.next}`)
    for await (const item of everyPage(from, { ...page, after: first.next })) show(item)
  })
}

/** Writes the head of a list, and answers with how an item is written. */
const shownOn = <Item>(out: Output, look: Listing<Item>['look'], first: readonly Item[]): ((item: Item) => void) => {
  if (typeof look === 'function')
    return (item) => {
      for (const line of look(item, widthOn(out))) out.line(line)
    }
  const table = new Table(look, first, out.columns)
  writeSpans(out, table.header())
  return (item) => writeSpans(out, table.row(item))
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
