import { titleOf } from '../../domain/conversation/title.ts'
import type { FoundInHistory } from '../../domain/history/look-back.ts'
import { LOOK_BACK_BOUNDS, type LookBackBounds, needlesOf, understood } from '../../domain/history/look-back-search.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { type Page, type Paged, pageLimit, strangeCursor } from '../../ports/store/page.ts'
import type { Store } from '../../ports/store/store.ts'

/** So many looks into conversations make one page, whether they find something or not. */
const MOST_LOOKS = 100

/** How much one look reads. Together with {@link MOST_LOOKS} it bounds the cost of a page, whatever is on record. */
const BOUNDS: LookBackBounds = {
  ...LOOK_BACK_BOUNDS,
  ...{ searched: 500, searchedBytes: 2_000_000, excerpt: 320, characters: 320 },
}

/** Separates, in a cursor, the place among the conversations from the message of the next one to continue before. */
const CURSOR_SEPARATOR = '~'

/**
 * Messages of all conversations in which all these words occur: the conversation that was opened last comes first, and in each
 * the newest message. A page may have fewer items than it could, or none, and a next one: so far was searched.
 */
export const searchConversations = async (
  { conversations, lookBacks }: Pick<Store, 'conversations' | 'lookBacks'>,
  words: string,
  page: Page,
): Promise<Paged<FoundInHistory>> => {
  const question = understood({ by: 'words', words })
  const needles = needlesOf(question)
  const limit = pageLimit(page)
  const items: FoundInHistory[] = []
  let { after, below } = placeIn(page.after)
  for (let looks = 0; looks < MOST_LOOKS && items.length < limit; looks += 1) {
    const listed = await conversations.list({ order: 'newest_first' }, defined({ after, limit: 1 }))
    const [conversation] = listed.items
    if (conversation === undefined) return { items }
    const bounds = { ...BOUNDS, messages: limit - items.length }
    const from = below === undefined ? undefined : { sequenceNumber: below, offset: 0 }
    const scope = { conversationId: conversation.id }
    const read = await lookBacks.read(defined({ scope, question, needles, from, bounds }))
    const about = { ...scope, title: titleOf(conversation) }
    items.push(...(read?.found ?? []).map((hit) => ({ ...about, ...hit })))
    below = read?.searchedBackTo?.sequenceNumber
    if (below !== undefined) continue
    if (listed.next === undefined) return { items }
    after = listed.next
  }
  return { items, next: `${after ?? ''}${CURSOR_SEPARATOR}${below ?? ''}` }
}

const placeIn = (cursor: string | undefined): { after: string | undefined; below: number | undefined } => {
  if (cursor === undefined) return { after: undefined, below: undefined }
  const [, after = '', below = ''] = /^([^~]*)~(\d{0,15})$/.exec(cursor) ?? []
  if (after === '' && below === '') throw strangeCursor()
  return { after: after || undefined, below: below === '' ? undefined : Number(below) }
}
