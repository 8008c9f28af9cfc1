import type { Finding } from '../../../ports/system/health-check.ts'
import { isOldNumbering, WHAT_IS_OLD, WHAT_TO_DO_WITH_OLD } from '../migrate/applied-changes.ts'
import { ofSchema } from '../migrate/migrator.ts'
import { FUNCTIONS_VERSION, quotedName } from '../statements/database.ts'
import type { ExaminedStore } from './examined-store.ts'
import { schemaDrift } from './schema-drift.ts'

/** Whether the schema has every change that this program knows, and none that it does not know. */
export const schemaStanding = async (store: ExaminedStore): Promise<readonly Finding[]> => {
  if (!store.isOpen) return []
  const status = await store.migrator.status()
  const named = (wanted: string): readonly string[] =>
    status.flatMap(({ name, state }) => (state === wanted ? name : []))
  const [pending, unknown, applied] = [named('pending'), foreign(named('unknown')), named('applied')]
  const { schema } = store.database
  if (isOldNumbering(unknown)) return [{ result: 'problem', text: WHAT_IS_OLD, repair: WHAT_TO_DO_WITH_OLD }]
  if (unknown.length > 0) {
    const text = `the schema ${quotedName(schema)} has ${unknown.join(', ')}, which this program does not know`
    return [{ result: 'problem', text, repair: 'Use the newer version of Batonpass that made it, or another schema.' }]
  }
  if (pending.length === 0) return [{ result: 'ok', text: `all ${applied.length} changes are applied` }]
  const text = `the schema ${quotedName(schema)} lacks ${pending.join(', ')}`
  return store.isServer
    ? [{ result: 'problem', text, repair: `Run "baton migrate up${ofSchema(schema)}".` }]
    : [{ result: 'ok', text: `${text}; the next command applies them` }]
}

/** Functions of another version stand beside ours while one program replaces the other. */
const foreign = (names: readonly string[]): readonly string[] => names.filter((name) => !/^functions_v\d+$/.test(name))

/** Whether the schema is what the migrations make. Asked only where all of them, and no others, were applied. */
export const schemaIsUnchanged = async (store: ExaminedStore): Promise<readonly Finding[]> => {
  if (!store.isOpen || !(await store.isMigrated())) return []
  const drift = await schemaDrift(store.database)
  return drift.length === 0 ? [{ result: 'ok', text: 'the schema is what the migrations make' }] : drift
}

interface Right {
  readonly kind: 'schema' | 'table' | 'function'
  readonly name: string
}

/** Everything in the schema that a program must be allowed to use, and this role is not. */
const LACKING = `
select 'schema' as kind, '' as name where not has_schema_privilege($1::text, 'usage')
union all
select 'table', c.relname::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and c.relkind in ('r', 'p') and not has_table_privilege(c.oid, 'select')
union all
select 'function', p.proname::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where n.nspname = $1 and p.proname ~ ('_v' || $2 || '$') and not has_function_privilege(p.oid, 'execute')`

/** Whether the role may do what a program does. */
export const roleHasRights = async (store: ExaminedStore): Promise<readonly Finding[]> => {
  if (!store.isOpen || !store.isServer) return []
  const { schema } = store.database
  const [role] = await store.ask<{ name: string; exists: boolean }>(
    'select current_user::text as name, to_regnamespace($1) is not null as exists',
    quotedName(schema),
  )
  if (role?.exists !== true) return []
  const lacking = await store.ask<Right>(LACKING, schema, String(FUNCTIONS_VERSION))
  if (lacking.length === 0) return [{ result: 'ok', text: `the role ${role.name} may do what a program does` }]
  const text = `the role ${role.name} may not use ${described(lacking)}`
  const repair = 'Run this as the role that migrates, and again after each migration:'
  const to = `schema ${quotedName(schema)} to ${quotedName(role.name)};`
  const statements = [
    `grant usage on ${to}`,
    `grant select on all tables in ${to}`,
    `grant execute on all functions in ${to}`,
  ]
  return [{ result: 'problem', text, repair, statements }]
}

const described = (lacking: readonly Right[]): string => {
  const of = (kind: Right['kind']): number => lacking.filter((right) => right.kind === kind).length
  const parts = [
    of('schema') > 0 && 'the schema',
    of('table') > 0 && `${of('table')} of its tables`,
    of('function') > 0 && `${of('function')} of its functions`,
  ]
  return parts.filter((part) => part !== false).join(', ')
}

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
       from ${quotedName(schema)}.${quotedName(table)} one where not (${rule}) limit ${MOST_NAMED + 1}`,
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
