import type { Dialect } from 'kysely'
import { sql } from 'kysely'
import type { CallerTransaction } from '../../../ports/store/caller-transaction.ts'
import type { Store } from '../../../ports/store/store.ts'
import { CallerDialect } from './caller-connection.ts'
import { SqlStore, type SqlStoreParts } from './sql-store.ts'
import type { WakeUpServer } from './wake-up-line.ts'
import { PostgresWakeUps } from './wake-ups.ts'

/** The parts of a store on a server. */
export interface PostgresStoreParts extends SqlStoreParts {
  /** A client straight to the server, for wake-ups; left out behind a pooler. */
  readonly client?: WakeUpServer['client']
  /** The same record on another server that lags behind, for questions. */
  readonly replica?: Store
}

/** A store on a Postgres server, which others may share transactions with. Made by `openPostgres`. */
export class PostgresStore extends SqlStore {
  readonly wakeUps: PostgresWakeUps
  readonly replica?: Store

  constructor(dialect: Dialect, { client, replica, ...parts }: PostgresStoreParts) {
    super(dialect, parts)
    if (replica !== undefined) this.replica = replica
    const { kysely, schema } = this.database
    const send: WakeUpServer['send'] = (channel, payload) =>
      sql`select pg_notify(${channel}, ${payload})`.execute(kysely)
    this.wakeUps = new PostgresWakeUps(client && { schema, client, send })
  }

  within(transaction: CallerTransaction): Store {
    const { schema } = this.database
    return new SqlStore(new CallerDialect(transaction), { schema, close: async () => {}, commit: 'commit_within' })
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.wakeUps.close()
    await super[Symbol.asyncDispose]()
  }
}
