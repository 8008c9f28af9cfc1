import { defined } from '../../domain/kernel/defined.ts'
import { everyPage, type ListOrder, type Page, type Paged } from '../../ports/page.ts'
import type { HandoffHistory } from '../../services/handoff-history.ts'
import type { Invocation, Output } from './command.ts'
import { pageSize, parsedFlag, textFlag } from './history-args.ts'
import { UsageError } from './problems.ts'
import { type Column, Table } from './render-table.ts'
import { toJson } from './render-text.ts'
import { withHistory } from './with-history.ts'

const DEFAULT_LIMIT = 20

/** One list: what it lists, how a row looks, and where the rows come from. */
export interface Listing<Item> {
  /** What the items are called, for the sentence that says there are none. */
  readonly things: string
  readonly columns: readonly Column<Item>[]
  readonly read: (history: HandoffHistory, page: Page) => Promise<Paged<Item>>
}

/** The order a list's flags ask for. */
export const orderOf = ({ values }: Invocation): ListOrder => (values.newest === true ? 'newest_first' : 'oldest_first')

/** Prints a list: a table, or one JSON document with the items and the cursor of the next page. */
export const printList = async <Item>(
  invocation: Invocation,
  { things, columns, read }: Listing<Item>,
): Promise<void> => {
  const { values, out } = invocation
  const isAll = values.all === true
  const limit = parsedFlag(invocation, 'limit', pageSize) ?? (isAll ? undefined : DEFAULT_LIMIT)
  const page: Page = defined({ limit, after: textFlag(invocation, 'after') })
  await withHistory(invocation, async (history) => {
    const from = (next: Page): Promise<Paged<Item>> => read(history, next)
    if (values.json === true && isAll) return printDocument(everyPage(from, page), out)
    const first = await from(page)
    if (values.json === true) return out.line(toJson(first))
    if (first.items.length === 0) return out.line(`No ${things} ${page.after === undefined ? 'fit' : 'follow'}.`)
    const table = new Table(columns, first.items)
    for (const line of [table.header(), ...first.items.map((item) => table.row(item))]) out.line(line)
    if (first.next === undefined) return
    if (!isAll) return out.line(`\nThere are more. Go on with:\n  --after ${first.next}`)
    for await (const item of everyPage(from, { ...page, after: first.next })) out.line(table.row(item))
  })
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
