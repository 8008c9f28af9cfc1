import { z } from 'zod'
import { RefusedError } from '../../../domain/unwrap.ts'
import { type Cursor, strangeCursor } from '../../../ports/store/page.ts'
import { fromCursor, toCursor } from './paging.ts'

/** A place in the feed: the last entry that was given, or a place before entries, which has position 0. */
export type FeedKey = readonly [transaction: string, conversation: string, position: number]

const NO_CONVERSATION = '00000000-0000-0000-0000-000000000000'

/** Before every transaction, conversation and position. */
export const BEGINNING: FeedKey = ['0', NO_CONVERSATION, 0]

/** A generation of the feed, by its number and a mark of the server that wrote it. */
export interface Generation {
  readonly number: number
  readonly mark: string
}

/** A cursor taken apart. Cursors of before there were generations have no mark. */
export interface FeedCursor {
  readonly generation: { readonly number: number; readonly mark?: string }
  readonly key: FeedKey
}

/** The feed as it is now, and what a cursor of a generation needs to know of it. */
export interface FeedState {
  readonly generation: Generation
  /** No transaction has this id yet; absent on a standby, which may lag behind what others have read. */
  readonly unused?: string
  /** The mark of the cursor's generation, if this store has had one of that number. */
  readonly mark?: string
  /** Where the generation after the cursor's began. */
  readonly ended?: string
}

const key = [z.string().regex(/^\d{1,20}$/), z.uuid(), z.number().int().nonnegative()] as const
const current = z.tuple([z.number().int().positive(), z.string(), ...key])
const before = z.tuple([...key])

/** The cursor for a place. It belongs to the generation that it was given out in. */
export const feedCursor = ({ number, mark }: Generation, [transaction, conversation, position]: FeedKey): Cursor =>
  toCursor([number, mark, transaction, conversation, position])

/** @throws RefusedError when the cursor is not one of ours */
export const readFeedCursor = (cursor: Cursor): FeedCursor => {
  const parts = fromCursor(cursor, [3, 5])
  if (parts.length === 3) return { generation: { number: 1 }, key: parsed(before, parts) }
  const [number, mark, ...rest] = parsed(current, parts)
  return { generation: { number, mark }, key: rest }
}

const parsed = <T>(schema: z.ZodType<T>, parts: unknown): T => {
  const { data, success } = schema.safeParse(parts)
  if (!success) throw strangeCursor()
  return data
}

/**
 * Whether a cursor can be continued from as it is.
 *
 * @throws RefusedError when it is of another generation, of another store, or ahead of this one
 */
export const refuseMovedCursor = ({ generation, key }: FeedCursor, state: FeedState): void => {
  const isSame = generation.mark === undefined || generation.mark === state.mark
  if (!isSame || generation.number > state.generation.number)
    throw strangeCursor('it is of another store, or of a copy of this one. Begin again without a cursor')
  if (generation.number < state.generation.number) {
    const continueFrom = feedCursor(state.generation, withinGeneration(key, state.ended))
    throw new RefusedError({ code: 'feed.moved', generation: state.generation.number, continueFrom })
  }
  const [transaction, , position] = key
  if (position > 0 && state.unused !== undefined && BigInt(transaction) >= BigInt(state.unused))
    throw strangeCursor(
      'it is ahead of the store, which was set back to an earlier state. Begin again without a cursor: conversation and ' +
        'position together name an entry',
    )
}

/** Entries that were seen beyond the end of a generation are not in this store, and those that came after it here were never seen. */
const withinGeneration = (key: FeedKey, ended: string | undefined): FeedKey =>
  ended !== undefined && BigInt(key[0]) >= BigInt(ended) ? [ended, NO_CONVERSATION, 0] : key
