import { sql } from 'kysely'
import { z } from 'zod'
import type { LookBackHit } from '../../../domain/history/look-back.ts'
import {
  BEFORE_THE_MATCH,
  firstPlace,
  type LookBackRead,
  type LookBackWanted,
  passageIn,
  saysAll,
  withoutCase,
} from '../../../domain/history/look-back-search.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { LookBackPort } from '../../../ports/store/look-back-port.ts'
import { toLookBackInHistory, toLookBackRead } from '../rows/look-back-rows.ts'
import { aSession, reader } from '../rows/row-types.ts'
import { toStorableJson } from '../rows/text-codec.ts'
import { called, type Database, guardedRead, qualified, readDocuments } from './database.ts'
import { fromCursor, limitOf, paged } from './paging.ts'

const toCount = reader('count', z.object({ session_id: aSession, asked: z.number() }))

/** Answers from the record, and the questions that were asked. */
export const lookBacksIn = (database: Database): LookBackPort => ({
  read: (wanted) =>
    guardedRead(async () => {
      const query = sql<{ json: string }>`select
        coalesce(${called(database, 'look_back')}(${toStorableJson(questionJson(wanted))}::text::jsonb)::text, 'null') as json`
      const [answer] = await readDocuments(async () => (await query.execute(database.kysely)).rows)
      const read = toLookBackRead(answer)
      return read === null ? undefined : withinBounds(read, wanted)
    }),
  listForConversation: (conversation, page) =>
    guardedRead(async () => {
      const [at, id] = page.after === undefined ? [null, null] : fromCursor(page.after, 2)
      const query = sql<{ json: string }>`
        select (to_jsonb(b) || jsonb_build_object('epoch', s.epoch, 'handoff_id', s.initiated_by_handoff))::text as json
        from ${qualified(database, 'look_backs')} b
        join ${qualified(database, 'agent_sessions')} s on s.conversation_id = b.conversation_id and s.id = b.session_id
        where b.conversation_id = ${conversation}::uuid
          and (${at}::text is null or (b.asked_at, b.id) > (${at}::timestamptz, ${id}::uuid))
        order by b.asked_at, b.id limit ${limitOf(page)}`
      const rows = await readDocuments(async () => (await query.execute(database.kysely)).rows)
      return paged(rows.map(toLookBackInHistory), page, ({ askedAt, id: last }) => [askedAt, last])
    }),
  countFor: (sessions) =>
    guardedRead(async () => {
      const query = sql<{ json: string }>`
        select jsonb_build_object('session_id', b.session_id, 'asked', count(*))::text as json
        from ${qualified(database, 'look_backs')} b
        where b.session_id = any (array(select jsonb_array_elements_text(${JSON.stringify(sessions)}::text::jsonb)::uuid))
        group by b.session_id`
      const rows = await readDocuments(async () => (await query.execute(database.kysely)).rows)
      return new Map(rows.map(toCount).map(({ session_id, asked: count }) => [session_id, count]))
    }),
})

/** A question as the function `look_back` takes it. */
const questionJson = ({ scope, question, needles, from, bounds }: LookBackWanted): object =>
  defined({
    ...scope,
    ...question,
    ...bounds,
    needles,
    beforeTheMatch: BEFORE_THE_MATCH,
    fromSequence: from?.sequenceNumber,
    fromOffset: from?.offset,
  })

type StoredAnswer = NonNullable<ReturnType<typeof toLookBackRead>>

type StoredHit = StoredAnswer['found'][number]

const withinBounds = (stored: StoredAnswer, wanted: LookBackWanted): LookBackRead => {
  const { found, isMore = false, searchedBackTo, isResultMissing } = stored
  return {
    found: found.flatMap((hit) => hitWithin(hit, wanted)),
    isMore,
    ...defined({ searchedBackTo, isResultMissing: isResultMissing === true ? (true as const) : undefined }),
  }
}

const hitWithin = ({ isEscaped, hit }: StoredHit, wanted: LookBackWanted): readonly LookBackHit[] => {
  const { bounds } = wanted
  const calls = hit.calls.slice(0, bounds.calls)
  const left = hit.calls.length - calls.length
  const whole = isEscaped ? decoded(hit, wanted) : hit
  return whole === undefined ? [] : [{ ...whole, calls, ...(left > 0 && { callsLeftOut: left }) }]
}

/**
 * A text in which characters were escaped, cut as it reads. An escape may also have passed for a word that was looked for,
 * so it is looked for again.
 */
const decoded = (hit: LookBackHit, { question, needles, from, bounds }: LookBackWanted): LookBackHit | undefined => {
  const { text, cutFrom } = hit.passage
  const cut = (offset: number, most: number) => ({
    ...hit,
    passage: defined({ ...passageIn(text, { from: Math.max(0, offset), most }), cutFrom }),
  })
  if (needles.length === 0) return cut(from?.sequenceNumber === hit.sequenceNumber ? from.offset : 0, bounds.characters)
  const lowered = withoutCase(text)
  const names = hit.calls.map(({ toolName, argument = '' }) => withoutCase(`${toolName}\n${argument}`))
  const isSearched = question.by === 'words' || hit.role === 'tool'
  if (!saysAll(isSearched ? [lowered, ...names] : names, needles)) return undefined
  return cut((firstPlace(lowered, needles) ?? 0) - BEFORE_THE_MATCH, bounds.excerpt)
}
