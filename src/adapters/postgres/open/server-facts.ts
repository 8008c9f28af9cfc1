import { ClosingClient } from './closing-client.ts'
import type { Server } from './server-list.ts'
import type { ServerSessionFacts } from './session-kind.ts'

/** Asks a session what it may do. */
export const FACTS_QUESTION = `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as read_only`

/** The answer of a session. */
export const sessionFacts = (rows: readonly unknown[]): ServerSessionFacts => {
  const { standby, read_only } = (rows[0] ?? {}) as { readonly standby?: boolean; readonly read_only?: boolean }
  return { isStandby: standby === true, isReadOnly: read_only === true }
}

/** Asks a server, over a connection of its own. @throws whatever keeps it from answering */
export const lookAt = async ({ config }: Server, milliseconds: number): Promise<ServerSessionFacts> => {
  const waits = { connectionTimeoutMillis: milliseconds, query_timeout: milliseconds }
  const client = new ClosingClient({ ...config, ...waits, keepAlive: true })
  client.on('error', () => {})
  try {
    await client.connect()
    return sessionFacts((await client.query<Record<string, unknown>>(FACTS_QUESTION)).rows)
  } finally {
    // A server that has gone silent does not say good-bye either.
    void client.end().catch(() => {})
  }
}
