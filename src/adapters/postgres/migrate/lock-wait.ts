import { CompiledQuery } from 'kysely'
import { onOneLine } from '../../../domain/kernel/safe-text.ts'
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import { type Database, quotedName } from '../statements/database.ts'
import { isContention } from '../statements/pg-errors.ts'

/** How long a change of the schema waits for others, and whom it tells. */
export interface LockWait {
  /** How long in all; 5 minutes unless given. */
  readonly lockWaitMs?: number
  /** Told each time that something is in the way, with who it is as far as that can be seen. */
  readonly onWarning?: (message: string) => void
}

const DEFAULT_LOCK_WAIT_MS = 300_000

/** How long one try waits for a lock: a statement that comes behind it, to read or to write, waits for as long. */
const TRY_MS = 1_000
/** How long others have the tables to themselves before the next try. */
const FIRST_PAUSE_MS = 1_000
const MOST_PAUSE_MS = 10_000

/** The longest that Postgres takes. */
const MOST_TIMEOUT_MS = 2_147_483_647

/** The time that a change of the schema has to get its locks. */
export class LockPatience {
  readonly #ends: number
  readonly #lockWaitMs: number

  constructor(lockWaitMs = DEFAULT_LOCK_WAIT_MS) {
    this.#lockWaitMs = lockWaitMs
    this.#ends = performance.now() + lockWaitMs
  }

  get leftMs(): number {
    return Math.max(0, this.#ends - performance.now())
  }

  /** A value for `lock_timeout`: never 0, which is no limit. */
  get tryMs(): number {
    return Math.ceil(Math.min(TRY_MS, this.leftMs)) || TRY_MS
  }

  /** A value for `lock_timeout` where nobody else is kept waiting. */
  get waitMs(): number {
    return Math.min(Math.ceil(this.leftMs), MOST_TIMEOUT_MS) || TRY_MS
  }

  /** Tries until it works, or the time is over. A try that fails has changed nothing. */
  async through<T>(attempt: () => Promise<T>, database: Database, { onWarning }: LockWait): Promise<T> {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MOST_PAUSE_MS)) {
      try {
        return await attempt()
      } catch (error) {
        if (!isContention(error)) throw error
        const who = await inTheWay(database)
        if (this.leftMs === 0) throw gaveUp(this.#lockWaitMs, who, error)
        onWarning?.(`The change of the schema waits for ${who}. It tries again, for another ${seconds(this.leftMs)}.`)
        await new Promise((resolve) => setTimeout(resolve, Math.min(pause, this.leftMs)))
      }
    }
  }
}

const gaveUp = (lockWaitMs: number, who: string, cause: unknown): StoreFailure =>
  new StoreFailure(
    'store.contention',
    `Nothing was changed: within ${seconds(lockWaitMs)} there was no moment without ${who}. Let that end, or end it, and run ` +
      'the command again; --lock-wait gives it more time.',
    { cause },
  )

const seconds = (ms: number): string => `${Math.ceil(ms / 1_000)} s`

interface Holder {
  readonly pid: number | null
  readonly role: string | null
  readonly program: string | null
  readonly state: string | null
  readonly for_s: number | null
  readonly tables: string
}

/** Who holds a lock on a table of the schema, the oldest transaction first. Others' details need a right of their own. */
const HOLDERS = `
  select l.pid, a.usename::text as role, a.application_name as program, a.state,
    extract(epoch from clock_timestamp() - a.xact_start)::integer as for_s, string_agg(distinct c.relname::text, ', ') as tables
  from pg_locks l join pg_class c on c.oid = l.relation and c.relnamespace = to_regnamespace($1) and c.relkind in ('r', 'p')
  left join pg_stat_activity a on a.pid = l.pid
  where l.granted and l.database = (select oid from pg_database where datname = current_database())
    and l.pid is distinct from pg_backend_pid()
  group by l.pid, a.usename, a.application_name, a.state, a.xact_start
  order by a.xact_start nulls last limit 3`

const inTheWay = async ({ kysely, schema }: Database): Promise<string> => {
  const holders = kysely.executeQuery<Holder>(CompiledQuery.raw(HOLDERS, [quotedName(schema)]))
  // This is only for the message: a role that may not see the holders gets a message that says less.
  const rows = await holders.then(({ rows: found }) => found).catch(() => [])
  return rows.length === 0 ? 'transactions that use its tables' : rows.map(described).join('; ')
}

const described = ({ pid, role, program, state, for_s: age, tables }: Holder): string => {
  const details = [
    role && `role ${role}`,
    program && `application ${program}`,
    state,
    age !== null && `its transaction is ${age} s old`,
  ].filter((detail) => typeof detail === 'string' && detail !== '')
  const who = pid === null ? 'a prepared transaction' : `process ${pid} of the server`
  return onOneLine(`${who}${details.length > 0 ? ` (${details.join(', ')})` : ''}, which uses ${tables}`)
}
