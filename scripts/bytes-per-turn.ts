import { fileURLToPath } from 'node:url'
import { CompiledQuery } from 'kysely'
import { openSeat } from '../bench/ours.ts'
import { turnInput } from '../bench/seat.ts'
import { openPglite } from '../src/adapters/postgres/embedded/open-pglite.ts'
import type { SqlStore } from '../src/adapters/postgres/open/sql-store.ts'
import type { Database } from '../src/adapters/postgres/statements/database.ts'
import { HandoffHistory, HandoffService, systemClock, uuidV7Ids } from '../src/entry/container.ts'
import { commandId, unwrap } from '../src/entry/index.ts'

/** The tables that a turn adds rows to. The first three are bookkeeping; the others are the turn itself. */
const TABLES = ['audit_entries', 'audit_salts', 'commands', 'turns', 'messages', 'tool_calls'] as const

type Table = (typeof TABLES)[number]

/** The size of rows: as text, and as `pg_column_size` measures them, after the database has compressed long columns. */
export interface Size {
  readonly text: number
  readonly stored: number
}

/** The size of the rows that one turn adds to each table, without the texts of its messages. */
export type TurnBytes = Readonly<Record<Table, Size>>

const TURNS = 20

/** The average turn of the benchmark: two messages with 0.9 KB of text, five tool calls, a reading. */
export const bytesPerTurn = async (store: SqlStore, isNamed: boolean): Promise<TurnBytes> => {
  const service = new HandoffService({ store, clock: systemClock, ids: uuidV7Ids })
  const history = new HandoffHistory({ store })
  let { working } = await openSeat({ service, history }, 0)
  const before = await sizesIn(store.database)
  for (let number = 1; number <= TURNS; number += 1) {
    const named = isNamed ? { commandId: commandId(uuidV7Ids.next()) } : {}
    working = { ...working, ...unwrap(await service.recordTurn({ ...working, ...turnInput(number), ...named })) }
  }
  const after = await sizesIn(store.database)
  const grown = (table: Table, of: keyof Size): number => Math.round((after[table][of] - before[table][of]) / TURNS)
  return each((table) => ({ text: grown(table, 'text'), stored: grown(table, 'stored') }))
}

/** The size of some tables together. */
export const sumOf = (bytes: TurnBytes, tables: readonly Table[] = TABLES): Size => ({
  text: tables.reduce((sum, table) => sum + bytes[table].text, 0),
  stored: tables.reduce((sum, table) => sum + bytes[table].stored, 0),
})

/** What is stored beside the turn itself. */
export const BOOKKEEPING: readonly Table[] = ['audit_entries', 'audit_salts', 'commands']

const each = (sizeOf: (table: Table) => Size): TurnBytes =>
  Object.fromEntries(TABLES.map((table) => [table, sizeOf(table)])) as Record<Table, Size>

const sizesIn = async ({ kysely, schema }: Database): Promise<TurnBytes> => {
  const questions = TABLES.map((table) => {
    const said = table === 'messages' ? ' - octet_length(t.text)' : ''
    const sum = (size: string) => `coalesce(sum(${size}${said}), 0)::float8`
    return `select '${table}' as name, ${sum('octet_length(t::text)')} as text, ${sum('pg_column_size(t)')} as stored
      from "${schema}".${table} t`
  })
  const query = CompiledQuery.raw(questions.join(' union all '))
  const { rows } = await kysely.executeQuery<Size & { name: string }>(query)
  const sizes = new Map(rows.map(({ name, text, stored }) => [name, { text, stored }]))
  return each((table) => sizes.get(table) ?? { text: 0, stored: 0 })
}

const line = (name: string, { text, stored }: Size): string =>
  `| ${name.padEnd(28)} | ${String(text).padStart(7)} | ${String(stored).padStart(7)} |`

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await using store = await openPglite()
  for (const isNamed of [false, true]) {
    const bytes = await bytesPerTurn(store, isNamed)
    console.log(
      `\nBytes per turn, ${isNamed ? 'each command named by the caller' : 'no command named by the caller'}\n`,
    )
    console.log(`| ${'rows of'.padEnd(28)} | as text |  stored |\n|${'-'.repeat(30)}|---------|---------|`)
    for (const table of TABLES) console.log(line(table, bytes[table]))
    console.log(line('log, salt and command', sumOf(bytes, BOOKKEEPING)))
    console.log(line('everything but what was said', sumOf(bytes)))
  }
}
