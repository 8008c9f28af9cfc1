import type { Finding } from '../../../ports/system/health-check.ts'
import { quoted } from '../statements/database.ts'
import type { ExaminedStore } from './examined-store.ts'

interface Rule {
  readonly name: string
  readonly table: string
  readonly rule: string
  readonly rows: number
}

/** Rules that came when there were rows already: those rows alone may break them. */
const UNPROVEN = `
select c.conname::text as name, t.relname::text as table, pg_get_expr(c.conbin, c.conrelid) as rule, t.reltuples::float8 as rows
from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_namespace n on n.oid = t.relnamespace
where n.nspname = $1 and c.contype = 'c' and not c.convalidated order by t.relname, c.conname`

/** The most rows that are read to look for broken ones: doctor answers soon, and disturbs nobody. */
const MOST_ROWS = 100_000

/** The most rows that are named. */
const MOST_NAMED = 5

/** Whether there are rows of before that the rules of today would refuse. They are shown as broken, or not at all. */
export const rowsAreFormed = async (store: ExaminedStore): Promise<readonly Finding[]> => {
  if (!store.isOpen) return []
  const { schema } = store.database
  const rules = await store.ask<Rule>(UNPROVEN, schema)
  const findings: Finding[] = []
  const large = new Set<string>()
  for (const { name, table, rule, rows } of rules) {
    if (rows > MOST_ROWS) {
      large.add(table)
      continue
    }
    const broken = await store.ask<{ id: string }>(
      `select coalesce(to_jsonb(one) ->> 'session_id', to_jsonb(one) ->> 'id') as id
       from ${quoted(schema)}.${quoted(table)} one where not (${rule}) limit ${MOST_NAMED + 1}`,
    )
    if (broken.length > 0) findings.push(foundIn(name, table, broken))
  }
  if (large.size > 0)
    findings.push({ result: 'ok', text: `not searched for broken rows, as they are large: ${[...large].join(', ')}` })
  return rules.length > 0 && findings.length === 0 ? [{ result: 'ok', text: 'no row is broken' }] : findings
}

const foundIn = (name: string, table: string, broken: readonly { readonly id: string }[]): Finding => {
  const named = broken.slice(0, MOST_NAMED).map(({ id }) => id)
  const more = broken.length > MOST_NAMED ? ' and more' : ''
  return {
    result: 'problem',
    text: `${table} has rows that ${name} refuses today: ${named.join(', ')}${more}`,
    repair: 'No version of Batonpass wrote them. Find out who did, and mend them as the owner of the tables.',
  }
}
