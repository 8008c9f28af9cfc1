import type pg from 'pg'
import type { Chance } from '../chance.ts'
import type { Column } from './columns.ts'
import { forgedValue } from './forged-value.ts'

/** The ways to tamper with a table. */
export const WAYS = ['change', 'borrow', 'clear', 'swap', 'delete', 'insert'] as const

/** A way to tamper with a table. */
export type Way = (typeof WAYS)[number]

/** A tampering to be tried. */
export interface Plan {
  readonly way: Way
  readonly column: Column
}

interface FoundRow {
  readonly at: string
  readonly value: string | null
  readonly conversation: string
}

/** No entry seals the answer of a command that logged nothing, and the verdict says so: only the others are tried. */
const SEALED: Readonly<Record<string, string>> = {
  commands: 'exists (select from batonpass.audit_entries e where e.command_id = commands.id)',
}

/** A row that was tampered with, and the conversations that it belonged and belongs to. */
export type Tampered = readonly string[]

/** Tampers with a random row. Answers with the conversations concerned; none when there was nothing to tamper with. */
export const tamper = async (
  client: pg.Pool,
  { way, column }: Plan,
  columns: readonly Column[],
  chance: Chance,
): Promise<Tampered> => {
  const { table, name, type } = column
  const owner = table === 'conversations' ? 'id' : 'conversation_id'
  const pick = async (where: string, ...values: readonly unknown[]): Promise<FoundRow | undefined> => {
    const { rows } = await client.query<FoundRow>(
      `select ctid::text as at, ${name}::text as value, ${owner}::text as conversation from batonpass.${table}
       where ${where} and ${SEALED[table] ?? true} order by md5(ctid::text || '${chance.next()}') limit 1`,
      [...values],
    )
    return rows[0]
  }
  const row = await pick('true')
  if (row === undefined) return []
  const owned = (...others: readonly string[]): Tampered => [...new Set([row.conversation, ...others])]
  const write = async (at: string, value: string | null): Promise<Tampered> => {
    const { rows } = await client.query<{ owner: string }>(
      `update batonpass.${table} set ${name} = $1::${type} where ctid = $2::tid and ${name} is distinct from $1::${type}
       returning ${owner}::text as owner`,
      [value, at],
    )
    return rows.map((changed) => changed.owner)
  }
  switch (way) {
    case 'change': {
      const changed = await write(row.at, forgedValue(type, row.value, chance))
      return changed.length === 0 ? [] : owned(...changed)
    }
    case 'clear': {
      const changed = column.isNullable && row.value !== null ? await write(row.at, null) : []
      return changed.length === 0 ? [] : owned(...changed)
    }
    case 'borrow':
    case 'swap': {
      const other = await pick(`${name}::text is distinct from $1`, row.value)
      if (other === undefined) return []
      if (way === 'borrow') {
        const changed = await write(row.at, other.value)
        return changed.length === 0 ? [] : owned(...changed)
      }
      await client.query(
        `update batonpass.${table} set ${name} = (case ctid when $1::tid then $3 else $4 end)::${type}
         where ctid in ($1::tid, $2::tid)`,
        [row.at, other.at, other.value, row.value],
      )
      return owned(other.conversation)
    }
    case 'delete':
      await client.query(`delete from batonpass.${table} where ctid = $1::tid`, [row.at])
      return owned()
    case 'insert':
      return owned(...(await insertLike(client, table, row.at, columns, chance)))
  }
}

/** A forged row: like another, but for the last part of its key, so that whoever reads its neighbours reads it too. */
const insertLike = async (
  client: pg.Pool,
  table: string,
  at: string,
  columns: readonly Column[],
  chance: Chance,
): Promise<Tampered> => {
  const keys = columns.filter((column) => column.table === table && column.isKey)
  const changed = Object.fromEntries(keys.slice(-1).map(({ name, type }) => [name, forgedValue(type, '900', chance)]))
  const owner = table === 'conversations' ? 'id' : 'conversation_id'
  const { rows } = await client.query<{ owner: string }>(
    `insert into batonpass.${table} select copy.* from batonpass.${table} original,
       jsonb_populate_record(original, $1::jsonb) as copy where original.ctid = $2::tid returning ${owner}::text as owner`,
    [JSON.stringify(changed), at],
  )
  return rows.map((row) => row.owner)
}
