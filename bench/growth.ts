import { type Engine, SCHEMAS } from './engines.ts'
import { holdingsOf } from './same-rows.ts'
import type { Seat } from './seat.ts'
import { SIZES, type Size } from './sizes.ts'
import { median } from './statistics.ts'

/** What a turn cost when the conversation was young and when it was long. */
export interface Growth {
  readonly engine: Engine['name']
  readonly side: 'ours'
  readonly conversations: number
  readonly turns: number
  /** Milliseconds of the turns around the 10th and of the last ones, measured in turn. */
  readonly earlyMs: number
  readonly lateMs: number
  readonly ratio: number
  /** Per turn, over the first hundred turns and over the last hundred. */
  readonly early: Cost
  readonly late: Cost
}

export interface Cost {
  readonly upToTurn: number
  readonly rows: number
  /** What tables and indexes grew by. */
  readonly diskBytes: number
  /** What was written ahead; absent where the engine does not say. */
  readonly walBytes: number
}

const SPAN = 100
const NEIGHBOURS = 5

/** Follows a few conversations over many turns. */
export const measureGrowth = async (engine: Engine, size: Size): Promise<Growth> => {
  const { conversations, turns } = SIZES[size].growth
  const seats: Seat[] = []
  for (let count = 0; count < conversations; count += 1) seats.push(await engine.ours.open(0))
  const early = await costOf(engine, seats, SPAN, SPAN)
  await advance(seats, turns - 2 * SPAN)
  const late = await costOf(engine, seats, SPAN, turns)
  // The long conversations and fresh ones in turn, so that a slow moment strikes both.
  const earlyTimes: number[] = []
  const lateTimes: number[] = []
  for (const long of seats) {
    const fresh = await engine.ours.open(10 - NEIGHBOURS)
    for (let turn = 0; turn < 2 * NEIGHBOURS; turn += 1) {
      earlyTimes.push(await timed(fresh))
      lateTimes.push(await timed(long))
    }
  }
  const [earlyMs, lateMs] = [median(earlyTimes), median(lateTimes)]
  const ratio = lateMs / earlyMs
  return { engine: engine.name, side: 'ours', conversations, turns, earlyMs, lateMs, ratio, early, late }
}

const timed = async (seat: Seat): Promise<number> => {
  const started = performance.now()
  await seat.recordTurn()
  return performance.now() - started
}

const advance = async (seats: readonly Seat[], turns: number): Promise<void> => {
  await Promise.all(
    seats.map(async (seat) => {
      for (let turn = 0; turn < turns; turn += 1) await seat.recordTurn()
    }),
  )
}

const costOf = async (engine: Engine, seats: readonly Seat[], turns: number, upToTurn: number): Promise<Cost> => {
  const before = await footprint(engine)
  await advance(seats, turns)
  const after = await footprint(engine)
  const per = (what: keyof typeof before): number => (after[what] - before[what]) / (turns * seats.length)
  return { upToTurn, rows: per('rows'), diskBytes: per('disk'), walBytes: per('wal') }
}

const footprint = async (engine: Engine): Promise<{ rows: number; disk: number; wal: number }> => {
  const held = Object.values(await holdingsOf(engine, 'ours'))
  const [row] = await engine.ask(`select
    (select sum(pg_total_relation_size(c.oid)) from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = '${SCHEMAS.ours}' and c.relkind = 'r')::float8 as disk,
    (pg_current_wal_insert_lsn() - '0/0')::float8 as wal`)
  return { rows: held.reduce((sum, { rows }) => sum + rows, 0), disk: Number(row?.disk), wal: Number(row?.wal) }
}
