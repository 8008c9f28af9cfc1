import type { CallerTransaction } from '../../ports/caller-transaction.ts'
import type { Store } from '../../ports/store.ts'
import { CallerDialect } from './caller-connection.ts'
import { SqlStore } from './sql-store.ts'

/** A store on a Postgres server, which others may share transactions with. Made by `openPostgres`. */
export class PostgresStore extends SqlStore {
  within(transaction: CallerTransaction): Store {
    const { schema } = this.database
    return new SqlStore(new CallerDialect(transaction), { schema, close: async () => {}, commit: 'commit_within' })
  }
}
