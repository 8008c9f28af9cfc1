import { z } from 'zod'
import type { LookBackCall, LookBackHit, LookBackPlace } from '../../../domain/history/look-back.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { lookBackId } from '../../../domain/kernel/ids.ts'
import { LOOK_BACK_WAYS, type LookBackInHistory, type LookBackRecord } from '../../../domain/session/looked-back.ts'
import { MESSAGE_ORIGINS, MESSAGE_ROLES } from '../../../domain/turn/message.ts'
import { aConversation, aHandoff, aSession, maybe, place, reader, time } from './row-types.ts'

const row = z.object({
  conversation_id: aConversation,
  id: z.string().transform(lookBackId),
  session_id: aSession,
  asked_by: z.enum(LOOK_BACK_WAYS),
  text: z.string(),
  found: z.number(),
  asked_at: time,
})

const toRecord = (stored: z.output<typeof row>): LookBackRecord => ({
  id: stored.id,
  conversationId: stored.conversation_id,
  sessionId: stored.session_id,
  by: stored.asked_by,
  text: stored.text,
  found: stored.found,
  askedAt: stored.asked_at,
})

export const toLookBackRecord = reader('look back', row.transform(toRecord))

export const toLookBackInHistory = reader(
  'look back',
  row
    .extend({ epoch: z.number(), handoff_id: maybe(aHandoff) })
    .transform(
      ({ epoch, handoff_id: handoffId, ...stored }): LookBackInHistory =>
        defined({ ...toRecord(stored), epoch, handoffId }),
    ),
)

export const fromLookBack = (lookBack: LookBackRecord) => ({
  conversation_id: lookBack.conversationId,
  id: lookBack.id,
  session_id: lookBack.sessionId,
  asked_by: lookBack.by,
  text: lookBack.text,
  found: lookBack.found,
  asked_at: lookBack.askedAt,
})

const placeRow = z.object({
  sessionId: aSession,
  epoch: z.number(),
  turn: maybe(z.number()),
  sequenceNumber: place,
  recordedAt: time,
})

const toPlace = ({ sessionId, epoch, turn, sequenceNumber, recordedAt }: z.output<typeof placeRow>): LookBackPlace =>
  defined({ sessionId, epoch, turn, sequenceNumber, recordedAt })

const callRow = z
  .object({ callId: z.string(), toolName: z.string(), argument: maybe(z.string()) })
  .transform((call): LookBackCall => defined(call))

const hitRow = placeRow
  .extend({
    role: z.enum(MESSAGE_ROLES),
    origin: z.enum(MESSAGE_ORIGINS),
    cutFrom: maybe(z.number()),
    calls: z.array(callRow),
    answers: maybe(z.string()),
    before: z.number(),
    length: z.number(),
    isEscaped: z.boolean(),
    text: z.string(),
  })
  .transform(({ role, origin, cutFrom, calls, answers, before, length, isEscaped, text, ...where }) => {
    // Characters that the database counts are the program's, unless one of them had to be escaped.
    const after = Math.max(0, length - before - [...text].length)
    const passage = defined({ text, before: Math.min(before, length), after, cutFrom })
    return {
      isEscaped,
      hit: defined({ ...toPlace(where), role, origin, calls, answers, passage }) satisfies LookBackHit,
    }
  })

export const toLookBackRead = reader(
  'message',
  z
    .object({
      found: z.array(hitRow),
      searchedBackTo: maybe(placeRow.transform(toPlace)),
      isMore: maybe(z.boolean()),
      isResultMissing: maybe(z.boolean()),
    })
    .nullable(),
)
