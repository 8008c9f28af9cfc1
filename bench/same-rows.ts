import { type Engine, SCHEMAS } from './engines.ts'
import type { Seat, Side } from './seat.ts'

const TABLES = [
  'conversations',
  'agent_sessions',
  'turns',
  'messages',
  'tool_calls',
  'handoffs',
  'handoff_tool_calls',
  'context_snapshots',
  'context_monitors',
  'session_leases',
  'commands',
  'audit_heads',
  'audit_entries',
  'audit_salts',
] as const

/** Rows and their length as text, for each table. */
type Holdings = Readonly<Record<(typeof TABLES)[number], { readonly rows: number; readonly length: number }>>

/** Counters grow a digit now and then; nothing else may make one side's rows longer than the other's. */
const LENGTH_TOLERANCE = 0.01

/** Rows and their lengths. A time of the database's clock is as long as it happens to be, and is not counted. */
export const holdingsOf = async (engine: Engine, side: Side['name']): Promise<Holdings> => {
  const counts = TABLES.map(
    (
      table,
    ) => `select '${table}' as name, count(*)::float8 as rows, coalesce(sum(length((to_jsonb(t) - 'kept_at')::text)), 0)::float8 as length
      from ${SCHEMAS[side]}.${table} t`,
  )
  const found = await engine.ask(counts.join(' union all '))
  return Object.fromEntries(
    found.map(({ name, rows, length }) => [String(name), { rows: Number(rows), length: Number(length) }]),
  ) as Holdings
}

export type Step = 'recordTurn' | 'snapshot' | 'initiate' | 'acceptAndComplete'

const STEPS: readonly Step[] = ['recordTurn', 'snapshot', 'initiate', 'acceptAndComplete', 'recordTurn']

/** Walks both sides through every write once and refuses a floor that leaves other rows than the library does. */
export const assertSameRows = async (engine: Engine): Promise<void> => {
  const seats = { ours: await engine.ours.open(1), floor: await engine.floor.open(1) }
  for (const step of STEPS) {
    const ours = await left(engine, 'ours', seats.ours, step)
    const floor = await left(engine, 'floor', seats.floor, step)
    for (const table of TABLES) {
      const [mine, theirs] = [ours[table], floor[table]]
      const apart = Math.abs(mine.length - theirs.length)
      if (mine.rows !== theirs.rows || apart > Math.max(2, LENGTH_TOLERANCE * mine.length)) {
        const figures = JSON.stringify({ ours: mine, floor: theirs })
        throw new Error(`${step} on ${engine.name} leaves different rows in ${table}: ${figures}`)
      }
    }
  }
}

const left = async (engine: Engine, side: Side['name'], seat: Seat, step: Step): Promise<Holdings> => {
  const before = await holdingsOf(engine, side)
  await seat[step]()
  const after = await holdingsOf(engine, side)
  return Object.fromEntries(
    TABLES.map((table) => [
      table,
      { rows: after[table].rows - before[table].rows, length: after[table].length - before[table].length },
    ]),
  ) as Holdings
}

/** Refuses an audit chain that does not hold: every hash over its predecessor, no gap, the head at the end. */
export const assertChains = async (engine: Engine): Promise<void> => {
  for (const schema of Object.values(SCHEMAS)) {
    const [row] = await engine.ask(`
      with link as (
        select e.*, lag(hash, 1, sha256(uuid_send(conversation_id))) over w as expected, row_number() over w as place,
          lead(position) over w is null as is_last
        from ${schema}.audit_entries e window w as (partition by conversation_id order by position))
      select count(*)::int as broken from link join ${schema}.audit_heads h using (conversation_id)
      where link.position <> place or previous_hash <> expected
        or link.hash <> ${schema}.audit_hash(previous_hash, conversation_id, link.position, command_id, body)
        or (is_last and (h.position, h.hash) <> (link.position, link.hash))`)
    if (row?.broken !== 0) throw new Error(`The audit chain in ${schema} on ${engine.name} has broken links`)
  }
}
