import pg from 'pg'
import { openBody } from '../../src/domain/audit/audit-chain.ts'
import type { AuditEvent } from '../../src/domain/audit-event.ts'
import type { ConversationId } from '../../src/domain/kernel/ids.ts'

/** A handoff as its row has it. */
export interface FoundHandoff {
  readonly id: string
  readonly key: string
  readonly kind: string
  readonly target_agent: string
  readonly status: string
  readonly target_session_id: string | null
}

/** A session as its row has it. */
export interface FoundSession {
  readonly id: string
  readonly key: string
  readonly agent_name: string
  readonly state: string
  readonly epoch: number
}

/** An answer of an agent as its row has it. */
export interface FoundAnswer {
  readonly session_id: string
  readonly turn_id: string
  readonly text: string
}

/** Everything that a fleet has left in its database. */
export interface Found {
  readonly handoffs: readonly FoundHandoff[]
  readonly sessions: readonly FoundSession[]
  readonly answers: readonly FoundAnswer[]
  /** The log of every conversation, in order. */
  readonly events: readonly AuditEvent[]
}

/** Reads what a fleet has left, with plain SQL. */
export const readFound = async (url: string): Promise<Found> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const rows = async <Row extends pg.QueryResultRow>(query: string) => (await client.query<Row>(query)).rows
  try {
    return {
      handoffs: await rows(`select h.id, c.external_key as key, kind, target_agent, status, target_session_id
        from batonpass.handoffs h join batonpass.conversations c on c.id = h.conversation_id
        order by h.initiated_at, h.id`),
      sessions: await rows(`select s.id, c.external_key as key, agent_name, state, epoch
        from batonpass.agent_sessions s join batonpass.conversations c on c.id = s.conversation_id
        order by s.conversation_id, epoch`),
      answers: await rows(`select session_id, turn_id, text from batonpass.messages
        where role = 'assistant' order by conversation_id, sequence_number`),
      events: (
        await rows<{ conversation_id: string; body: string }>(
          'select conversation_id, body from batonpass.audit_entries order by conversation_id, position',
        )
      ).map(({ conversation_id: id, body }) => openBody(body, id as ConversationId).event),
    }
  } finally {
    await client.end()
  }
}
