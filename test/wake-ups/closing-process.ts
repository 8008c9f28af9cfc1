import pg from 'pg'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { Heard } from './heard.ts'

/** Closes a store of which nothing is left but the connection that listens, and says so. */
const close = async (connectionString: string): Promise<void> => {
  const store = await openPostgres({ connectionString })
  const heard = new Heard(store.wakeUps)
  await heard.told()
  const client = new pg.Client({ connectionString })
  await client.connect()
  await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'batonpass'`)
  await client.end()
  // Long enough for the pool to notice.
  await new Promise((resolve) => setTimeout(resolve, 200))
  await store[Symbol.asyncDispose]()
  console.log('closed')
}

const address = process.env.CLOSING_STORE
if (address !== undefined) await close(address)
