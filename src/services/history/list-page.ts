import type { Conversation } from '../../domain/conversation/conversation.ts'
import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import type { Id } from '../../domain/kernel/ids.ts'
import type { MetadataTypes } from '../../domain/kernel/metadata.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import { type Page, type Paged, strangeCursor } from '../../ports/store/page.ts'
import { askedId, askedPage } from './questions.ts'

/** A page of conversations. */
export type Conversations<Notes extends MetadataTypes> = Promise<Paged<ConversationWith<Notes>>>
/** A page of sessions. */
export type Sessions<Notes extends MetadataTypes> = Promise<Paged<SessionWith<Notes>>>
/** A page of handoffs. */
export type Handoffs<Notes extends MetadataTypes> = Promise<Paged<HandoffWith<Notes>>>

/** The name of a list, and everything that says which one it is: what it is of, its filter, its order. */
export type ListIdentity = readonly [name: string, ...about: unknown[]]

/**
 * Reads one page of a list. A cursor carries the mark of its list, so that one of another list is refused: stores find
 * their place by a number or a time, and would answer with a page that means nothing.
 *
 * @throws RefusedError when the page is wrong, or its cursor belongs to another list
 */
export const pageOf = async <Found extends Paged<unknown>>(
  list: ListIdentity,
  page: Page,
  read: (page: Page) => Promise<Found>,
): Promise<Found> => {
  const { after, ...rest } = askedPage(page)
  const mark = `${list[0]}-${shortDigest(JSON.stringify(list))}.`
  const found = await read(after === undefined ? rest : { ...rest, after: withoutMark(after, mark) })
  return found.next === undefined ? found : { ...found, next: `${mark}${found.next}` }
}

/** Reads one page of a list that belongs to one conversation or session. @throws RefusedError as above, or for a bad id */
export const pageOfOne = async <Of extends Id<string>, Found extends Paged<unknown>>(
  name: string,
  of: Of,
  page: Page,
  read: (id: Of, page: Page) => Promise<Found>,
): Promise<Found> => {
  const id = askedId(of)
  return pageOf([name, id], page, (at) => read(id, at))
}

const withoutMark = (after: string, mark: string): string => {
  const place = after.startsWith(mark) ? after.slice(mark.length) : ''
  if (place === '') throw strangeCursor()
  return place
}

/** Tells lists apart, and is no secret: FNV-1a, 32 bits. */
const shortDigest = (text: string): string => {
  let digest = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) digest = Math.imul(digest ^ byte, 0x01000193) >>> 0
  return digest.toString(36)
}

/** A conversation with the notes of the caller. */
export type ConversationWith<Notes extends MetadataTypes> = Conversation<Notes['conversation']>
/** A session with the notes of the caller. */
export type SessionWith<Notes extends MetadataTypes> = AgentSession<Notes['session']>
/** A handoff with the notes of the caller. */
export type HandoffWith<Notes extends MetadataTypes> = HandoffMetadata<Notes['handoff']>

/** Something that may not be there. */
export type Found<Item> = Promise<Item | undefined>
