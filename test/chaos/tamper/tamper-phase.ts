import pg from 'pg'
import { openPostgres } from '../../../src/adapters/postgres/open/open-postgres.ts'
import { conversationId } from '../../../src/domain/kernel/ids.ts'
import { sha256 } from '../../../src/ports/system/sha256.ts'
import { AuditService } from '../../../src/services/audit/audit-service.ts'
import { type Chance, chanceFor } from '../chance.ts'
import type { Setting } from '../fault-phase.ts'
import { Progress } from '../progress.ts'
import type { Row } from '../row.ts'
import { type Column, columnsOf } from './columns.ts'
import { makeRecord } from './make-record.ts'
import { type Attempt, Tally } from './tally.ts'
import { type Plan, tamper, WAYS } from './tampering.ts'

/** Tampers with a record, once per transaction, and counts what `verify` sees inside of it. All of it is undone. */
export const runTamperings = async ({ server, options, signal }: Setting): Promise<Row> => {
  const { tamperings, seed, plant } = options
  const tally = new Tally()
  using _ = new Progress(() => `tamper     ${tally.tried} of ${tamperings}  ${JSON.stringify(tally.counts)}`)
  const url = await server.database('tamper')
  await makeRecord(url, seed, signal)
  // One connection, so that `verify` reads inside the very transaction that tampers.
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  const store = await openPostgres({ pool })
  try {
    const columns = await columnsOf(pool)
    const chance = chanceFor(seed, 'tamper')
    const around = { pool, audit: new AuditService({ store, sha256 }), columns, chance, isBlind: plant === 'blind' }
    const plans = plansFor(columns, chance)
    for (let turn = 0; tally.tried < tamperings && turn < tamperings * 10 && !signal.aborted; turn += 1) {
      const plan = plans[turn % plans.length] as Plan
      tally.count(plan, await attempt(around, plan))
    }
  } finally {
    await store[Symbol.asyncDispose]()
    await pool.end()
  }
  return tally.row(tamperings)
}

interface Attempting {
  readonly pool: pg.Pool
  readonly audit: AuditService
  readonly columns: readonly Column[]
  readonly chance: Chance
  /** Planted: nobody looks at the verdict. */
  readonly isBlind: boolean
}

const attempt = async ({ pool, audit, columns, chance, isBlind }: Attempting, plan: Plan): Promise<Attempt> => {
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
