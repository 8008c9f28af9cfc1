import pg from 'pg'
import { openPostgres } from '../../../src/adapters/postgres/open-postgres.ts'
import { sha256 } from '../../../src/adapters/system/sha256.ts'
import { conversationId } from '../../../src/domain/ids.ts'
import { AuditService } from '../../../src/services/audit-service.ts'
import { type Chance, chanceFor } from '../chance.ts'
import type { Setting } from '../fault-phase.ts'
import { Progress } from '../progress.ts'
import type { Row } from '../row.ts'
import { allowance } from './allow-list.ts'
import { type Column, columnsOf } from './columns.ts'
import { makeRecord } from './make-record.ts'
import { type Plan, tamper, WAYS } from './tampering.ts'

/** What became of a tampering. */
type Outcome =
  /** A constraint did not let it in. */
  | 'refused'
  | 'found'
  | 'missed'
  /** `verify` gave up with an error instead of a verdict. */
  | 'threw'
  /** There was no row to tamper with in this way. */
  | 'nothing'

/** Tampers with a record, once per transaction, and counts what `verify` sees inside of it. All of it is undone. */
export const runTamperings = async ({ server, options, signal }: Setting): Promise<Row> => {
  const url = await server.database('tamper')
  await makeRecord(url, options.seed)
  // One connection, so that `verify` reads inside the very transaction that tampers.
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  const store = await openPostgres({ pool })
  const audit = new AuditService({ store, sha256 })
  const counts = { refused: 0, found: 0, missed: 0, threw: 0, nothing: 0 }
  const missed = new Map<string, number>()
  const allowed = new Map<string, number>()
  let tried = 0
  try {
    using _ = new Progress(() => `tamper     ${tried} of ${options.tamperings}  ${JSON.stringify(counts)}`)
    const columns = await columnsOf(pool)
    const chance = chanceFor(options.seed, 'tamper')
    const plans = plansFor(columns, chance)
    for (let turn = 0; tried < options.tamperings && turn < options.tamperings * 10 && !signal.aborted; turn += 1) {
      const plan = plans[turn % plans.length] as Plan
      const { outcome, detail } = await attempt(
        { pool, audit, columns, chance, isBlind: options.plant === 'blind' },
        plan,
      )
      counts[outcome] += 1
      if (outcome === 'nothing') continue
      tried += 1
      if (outcome !== 'missed' && outcome !== 'threw') continue
      const { table, name } = plan.column
      const isWhole = plan.way === 'delete' || plan.way === 'insert'
      const what = `${outcome}: ${plan.way} ${isWhole ? table : `${table}.${name}`}${detail}`
      const list = allowance(plan.way, table, isWhole ? undefined : name) === undefined ? missed : allowed
      list.set(what, (list.get(what) ?? 0) + 1)
    }
  } finally {
    await store[Symbol.asyncDispose]()
    await pool.end()
  }
  return rowOf(counts, tried, missed, allowed, options.tamperings)
}

interface Attempting {
  readonly pool: pg.Pool
  readonly audit: AuditService
  readonly columns: readonly Column[]
  readonly chance: Chance
  /** Planted: nobody looks at the verdict. */
  readonly isBlind: boolean
}

const attempt = async (
  { pool, audit, columns, chance, isBlind }: Attempting,
  plan: Plan,
): Promise<{ readonly outcome: Outcome; readonly detail: string }> => {
  await pool.query('begin')
  try {
    // A superuser need not care for triggers and foreign keys.
    await pool.query('set local session_replication_role = replica')
    const concerned = await tamper(pool, plan, columns, chance)
    if (concerned.length === 0) return { outcome: 'nothing', detail: '' }
    for (const id of concerned) {
      const verdict = await audit.verify(conversationId(id))
      if (verdict.ok && !verdict.value.intact && !isBlind) return { outcome: 'found', detail: '' }
    }
    return { outcome: 'missed', detail: '' }
  } catch (problem) {
    if (problem instanceof pg.DatabaseError) return { outcome: 'refused', detail: '' }
    return { outcome: 'threw', detail: ` (${problem instanceof Error ? problem.message : String(problem)})` }
  } finally {
    await pool.query('rollback')
  }
}

/** Every way of tampering with every column, and with whole rows, in random order. */
const plansFor = (columns: readonly Column[], chance: Chance): readonly Plan[] =>
  columns
    .flatMap((column) => {
      const isFirst = columns.find(({ table }) => table === column.table) === column
      // Whole rows are tampered with as often as two columns of their table.
      const ways = WAYS.filter((way) => isFirst || (way !== 'delete' && way !== 'insert'))
      return ways.map((way) => ({ way, column, order: chance.next() }))
    })
    .sort((a, b) => a.order - b.order)

const rowOf = (
  counts: Readonly<Record<Outcome, number>>,
  tried: number,
  missed: ReadonlyMap<string, number>,
  allowed: ReadonlyMap<string, number>,
  needed: number,
): Row => ({
  phase: 'tamper',
  cells: {
    faults: tried,
    verify: `${counts.found} found, ${counts.refused} refused, ${sum(allowed)} allowed, ${sum(missed)} missed`,
  },
  notes: [...allowed].sort().map(([what, count]) => `allowed, ${what}, ${count} times`),
  problems: [
    ...[...missed].sort().map(([what, count]) => `${what}, ${count} times`),
    ...(tried < needed ? [`only ${tried} tamperings, ${needed} are needed`] : []),
  ],
})

const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((a, b) => a + b, 0)
