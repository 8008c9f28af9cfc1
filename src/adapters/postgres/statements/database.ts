import { CompiledQuery, type Kysely, sql } from 'kysely'
import { RefusedError } from '../../../domain/unwrap.ts'
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import { fromStoredJson } from '../rows/text-codec.ts'
import { isTransient, toFailure } from './pg-errors.ts'

/** The columns that queries name. Whole rows come back as JSON text, so that both drivers agree on every type. */
export interface Schema {
  conversations: { id: string; external_key: string | null; parent_id: string | null; opened_at: string }
  agent_sessions: {
    conversation_id: string
    id: string
    epoch: number
    start_sequence: number
    provider_session_id: string | null
    state: string
    held_by: string | null
    agent_name: string
    started_at: string
  }
  turns: { conversation_id: string; id: string; session_id: string; number: number }
  messages: { conversation_id: string; sequence_number: number; session_id: string; turn_id: string | null }
  handoffs: {
    conversation_id: string
    id: string
    kind: string
    source_session_id: string
    source_agent: string
    target_agent: string
    reason: string
    prior_turn_id: string
    initiated_at: string
    status: string
    claim_deadline: string | null
    target_conversation_id: string | null
  }
  context_snapshots: {
    conversation_id: string
    id: string
    session_id: string
    captured_at: string
    window_end: number | null
  }
  audit_entries: { conversation_id: string; position: number; transaction_id: string }
}

/** How often and how long a transient failure is tried again. */
const RETRY_DELAYS_MS = [20, 80, 250, 700] as const

/** A database and the schema Batonpass has in it. */
export interface Database {
  readonly kysely: Kysely<Schema>
  readonly schema: string
}

/**
 * The version of the functions in `migrations/functions` that this program calls. A released version never changes: a
 * change of a function makes the next one, so that programs of both versions can share a database while one replaces the
 * other.
 */
export const FUNCTIONS_VERSION = 1

/** Names one of our functions, in the version that this program calls. */
export const called = (database: Database, name: string) => qualified(database, `${name}_v${FUNCTIONS_VERSION}`)

/** Names something in the schema, fully qualified: no search path is ever relied on. */
export const qualified = ({ schema }: Database, name: string) => sql.id(schema, name)

/** Calls a database function with text parameters and reads its JSON answer. */
export const callFunction = async (
  database: Database,
  call: string,
  parameters: readonly unknown[],
): Promise<unknown> => {
  const query = CompiledQuery.raw(call, [...parameters])
  const { rows } = await withRetry(() => database.kysely.executeQuery<{ json: string }>(query))
  return fromStoredJson(onlyRow(rows).json)
}

/** Reads rows that each hold one JSON document. */
export const readDocuments = async (rows: () => Promise<readonly { json: string }[]>): Promise<readonly unknown[]> =>
  (await withRetry(rows)).map(({ json }) => fromStoredJson(json))

/** Tries again while the failure is one that passes; the command id makes that safe for writes too. */
export const withRetry = async <T>(attempt: () => Promise<T>): Promise<T> => {
  for (const delay of RETRY_DELAYS_MS) {
    try {
      return await attempt()
    } catch (error) {
      if (!isTransient(error)) throw error
      await new Promise((resolve) => setTimeout(resolve, delay * (0.5 + Math.random())))
    }
  }
  return attempt()
}

/** Runs a read and turns what breaks into a failure. */
export const guardedRead = async <T>(read: () => Promise<T>): Promise<T> => {
  try {
    return await read()
  } catch (error) {
    // A question that was wrong is no failure of the store.
    throw error instanceof RefusedError ? error : toFailure(error)
  }
}

const onlyRow = <T>(rows: readonly T[]): T => {
  const [row] = rows
  if (row === undefined)
    throw new StoreFailure('store.integrity', 'The database answered with no row where one was due')
  return row
}

/** A name as a quoted identifier. */
export const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`
