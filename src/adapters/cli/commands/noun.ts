import { defined } from '../../../domain/kernel/defined.ts'
import { everyPage, type Page, type Paged } from '../../../ports/store/page.ts'
import type { HandoffHistory } from '../../../services/history/handoff-history.ts'
import { pageSize, parsedFlag, textFlag } from '../choose/flag-values.ts'
import { openFor } from '../choose/opened-store.ts'
import { type NamedThing, type SubjectRule, subjectIn } from '../choose/subject.ts'
import type { Invocation, Run } from '../invocation/invocation.ts'
import type { Output } from '../invocation/output.ts'
import { continued } from '../render/printed-commands.ts'
import { toJson, widthOn } from '../render/text.ts'
import { type Column, TextTable } from '../render/text-table.ts'
import { zoneIn, zoneSentence } from '../render/times.ts'
import { writeSpans } from '../terminal/style.ts'

const DEFAULT_LIMIT = 20

/** One kind of thing on record. Its commands `list` and `show` are made of this, and of nothing else. */
export interface Noun<Item, Row> extends Listed<Item, Row>, Shown {}

/** How a kind of thing is listed. */
export interface Listed<Item, Row = Item> {
  /** The name of the items, for the sentence that says there are none. */
  readonly things: string
  /** Reads the flags: a mistake in them is found before a store is opened. */
  readonly list: (invocation: Invocation) => Listing<Item, Row>
}

/** One list: where its items come from, and how they are shown. */
export interface Listing<Item, Row = Item> {
  readonly read: (history: HandoffHistory, page: Page) => Promise<Paged<Item>>
  /** The rows that a person is shown of a page of items, where they hold more than the items. */
  readonly rows: (history: HandoffHistory, items: readonly Item[]) => Promise<readonly Row[]>
  readonly look: readonly Column<Row>[] | Lines<Row>
}

/** How one thing of a kind is found and shown. */
export interface Shown {
  /** The kinds of things by which it can be named. */
  readonly kinds: SubjectRule['kinds']
  /** Finds what is named. @throws RefusedError where there is none */
  readonly show: (history: HandoffHistory, thing: NamedThing, invocation: Invocation) => Promise<ShownThing>
}

/** One thing, as a document for machines and as lines of a width for people. */
export interface ShownThing {
  readonly document: object
  readonly lines: (columns: number) => readonly string[] | Promise<readonly string[]>
}

/** Several lines for each item. They have times in them. */
export type Lines<Row> = (row: Row, columns: number) => readonly string[]

/** The rows of a list whose items are shown as they are. */
export const asTheyAre = async <Item>(_: HandoffHistory, items: readonly Item[]): Promise<readonly Item[]> => items

/** The command that lists things of a kind. */
export const listCommand =
  <Item, Row>({ things, list }: Listed<Item, Row>): Run =>
  (invocation) =>
    printList(invocation, things, list(invocation))

/** The command that shows one thing of a kind: the one that is named, or that of the latest conversation here. */
export const showCommand =
  ({ kinds, show }: Shown): Run =>
  async (invocation) => {
    const subject = subjectIn(invocation, { kinds })
    await using opened = await openFor(invocation, { part: 'history', to: 'read' })
    const { history } = opened
    const { document, lines } = await show(history, await subject(history), invocation)
    const { out, values } = invocation
    out.line(values.json === true ? toJson(document) : (await lines(widthOn(out))).join('\n'))
  }

/** Prints a list: a table, or one JSON document with the items and the cursor of the next page. */
export const printList = async <Item, Row>(
  invocation: Invocation,
  things: string,
  { look, read, rows }: Listing<Item, Row>,
): Promise<void> => {
  const { values, out } = invocation
  const isAll = values.all === true
  const limit = parsedFlag(invocation, 'limit', pageSize) ?? (isAll ? undefined : DEFAULT_LIMIT)
  const page: Page = defined({ limit, after: textFlag(invocation, 'after') })
  await using opened = await openFor(invocation, { part: 'history', to: 'read' })
  const { history } = opened
  const from = (next: Page): Promise<Paged<Item>> => read(history, next)
  if (values.json === true && isAll) return await printDocument(everyPage(from, page), out)
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
  const table = new TextTable(look, first, out.columns)
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
