import { z } from 'zod'
import type { Change } from '../../../domain/decision.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { messageId, snapshotId } from '../../../domain/kernel/ids.ts'
import {
  type ContextWindowSnapshot,
  SNAPSHOT_TYPES,
  type SnapshotRecord,
} from '../../../domain/session/context-snapshot.ts'
import { MESSAGE_ORIGINS, MESSAGE_ROLES, type Message, type MessageInHistory } from '../../../domain/turn/message.ts'
import { type ToolCallRecord, toolCallRecords } from '../../../domain/turn/tool-call.ts'
import type { Turn } from '../../../domain/turn/turn.ts'
import {
  aConversation,
  aHandoff,
  aSession,
  aTurn,
  fromWindow,
  maybe,
  place,
  reader,
  time,
  toolCall,
  toWindow,
  usage,
  windowColumns,
} from './row-types.ts'

const turnRow = z.object({
  conversation_id: aConversation,
  id: aTurn,
  session_id: aSession,
  number: z.number(),
  start_sequence: place,
  end_sequence: place,
  tool_calls: z.array(toolCall),
  usage,
  recorded_at: time,
})

export const toTurn = reader(
  'turn',
  turnRow.transform(
    (stored): Turn => ({
      id: stored.id,
      conversationId: stored.conversation_id,
      sessionId: stored.session_id,
      number: stored.number,
      range: { start: stored.start_sequence, end: stored.end_sequence },
      toolCalls: stored.tool_calls,
      usage: stored.usage,
      recordedAt: stored.recorded_at,
    }),
  ),
)

export const fromTurn = (turn: Turn) => ({
  conversation_id: turn.conversationId,
  id: turn.id,
  session_id: turn.sessionId,
  number: turn.number,
  start_sequence: turn.range.start,
  end_sequence: turn.range.end,
  usage: turn.usage,
  recorded_at: turn.recordedAt,
})

const messageRow = z.object({
  conversation_id: aConversation,
  sequence_number: place,
  id: z.string().transform(messageId),
  session_id: aSession,
  turn_id: maybe(aTurn),
  role: z.enum(MESSAGE_ROLES),
  origin: z.enum(MESSAGE_ORIGINS),
  text: z.string(),
  cut_length: maybe(z.number()),
  cut_sha256: maybe(z.string()),
  provider_message_id: maybe(z.string()),
  reports_handoff_id: maybe(aHandoff),
  recorded_at: time,
  led_to: maybe(aHandoff),
  continues: maybe(aHandoff),
})

export const toMessage = reader(
  'message',
  messageRow.transform(
    (stored): MessageInHistory =>
      defined({
        id: stored.id,
        conversationId: stored.conversation_id,
        sessionId: stored.session_id,
        turnId: stored.turn_id,
        sequenceNumber: stored.sequence_number,
        role: stored.role,
        origin: stored.origin,
        text: stored.text,
        cut:
          stored.cut_length === undefined || stored.cut_sha256 === undefined
            ? undefined
            : { length: stored.cut_length, sha256: stored.cut_sha256 },
        providerMessageId: stored.provider_message_id,
        reports: stored.reports_handoff_id,
        recordedAt: stored.recorded_at,
        metadata: defined({ sessionId: stored.session_id, ledTo: stored.led_to, continues: stored.continues }),
      }),
  ),
)

export const fromMessage = (message: Message) => ({
  conversation_id: message.conversationId,
  sequence_number: message.sequenceNumber,
  id: message.id,
  session_id: message.sessionId,
  turn_id: message.turnId,
  role: message.role,
  origin: message.origin,
  text: message.text,
  cut_length: message.cut?.length,
  cut_sha256: message.cut?.sha256,
  provider_message_id: message.providerMessageId,
  reports_handoff_id: message.reports,
  recorded_at: message.recordedAt,
})

type Extension = Extract<Change, { type: 'extend_turn' }>

/** The turn that is added to, and where it ends then. */
export const fromExtension = ({ session, turnId, messages }: Extension) => ({
  conversation_id: session.conversationId,
  id: turnId,
  session_id: session.id,
  end_sequence: messages.at(-1)?.sequenceNumber,
})

/** The tool calls of what is added to a turn. Messages are new, and so are the places of calls in them. */
export const fromAppendedCalls = ({ session, turnId: id, toolCalls }: Extension) =>
  fromToolCalls({ conversationId: session.conversationId, sessionId: session.id, id, toolCalls })

/** Tool calls at their places in their messages. */
export const fromToolCalls = (turn: Pick<Turn, 'conversationId' | 'sessionId' | 'id' | 'toolCalls'>) =>
  toolCallRecords(turn).map((call) => ({
    conversation_id: call.conversationId,
    sequence_number: call.sequenceNumber,
    position: call.position,
    call_id: call.callId,
    tool_name: call.toolName,
    argument: call.argument,
    session_id: call.sessionId,
    turn_id: call.turnId,
  }))

const toolCallRow = z.object({
  conversation_id: aConversation,
  sequence_number: place,
  position: z.number(),
  call_id: z.string(),
  tool_name: z.string(),
  argument: maybe(z.string()),
  session_id: aSession,
  turn_id: aTurn,
})

export const toToolCallRecord = reader(
  'tool call',
  toolCallRow.transform(
    (stored): ToolCallRecord =>
      defined({
        conversationId: stored.conversation_id,
        sessionId: stored.session_id,
        turnId: stored.turn_id,
        sequenceNumber: stored.sequence_number,
        position: stored.position,
        callId: stored.call_id,
        toolName: stored.tool_name,
        argument: stored.argument,
      }),
  ),
)

const snapshotRow = z.object({
  conversation_id: aConversation,
  id: z.string().transform(snapshotId),
  session_id: aSession,
  type: z.enum(SNAPSHOT_TYPES),
  ...windowColumns,
  captured_at: time,
})

const toRecord = (stored: z.output<typeof snapshotRow>): SnapshotRecord => ({
  id: stored.id,
  conversationId: stored.conversation_id,
  sessionId: stored.session_id,
  type: stored.type,
  capturedAt: stored.captured_at,
  ...toWindow(stored),
})

export const toSnapshotRecord = reader('snapshot', snapshotRow.transform(toRecord))

export const toSnapshot = reader(
  'snapshot',
  snapshotRow
    .extend({ tool_calls: z.array(toolCall) })
    .transform((stored): ContextWindowSnapshot => ({ ...toRecord(stored), visibleToolCalls: stored.tool_calls })),
)

export const fromSnapshot = (snapshot: SnapshotRecord) => ({
  conversation_id: snapshot.conversationId,
  id: snapshot.id,
  session_id: snapshot.sessionId,
  type: snapshot.type,
  ...fromWindow(snapshot),
  captured_at: snapshot.capturedAt,
})
