import type pg from 'pg'
import type { Found } from './reckoning.ts'

const counted = async (client: pg.Client, query: string): Promise<ReadonlyMap<string, number>> => {
  const { rows } = await client.query<{ id: string; count: number }>(query)
  return new Map(rows.map(({ id, count }) => [id, count]))
}

/** Reads what a database holds of commands, with plain SQL: none of our own code stands between. */
export const readFound = async (client: pg.Client): Promise<Found> => {
  const tables = ['conversations', 'agent_sessions', 'handoffs', 'turns', 'context_snapshots']
  const ids = await client.query<{ id: string }>(
    tables.map((table) => `select id::text from batonpass.${table}`).join(' union all '),
  )
  return {
    receipts: await counted(client, 'select id::text, count(*)::integer from batonpass.commands group by id'),
    // Not the column `transaction_id`: it never falls within a stream, so one command may leave two of them in two streams.
    transactions: await counted(
      client,
      `select command_id::text as id, count(distinct xmin::text)::integer as count
       from batonpass.audit_entries group by command_id`,
    ),
    ids: new Set(ids.rows.map(({ id }) => id)),
  }
}
