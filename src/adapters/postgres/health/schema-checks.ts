import type { Finding } from '../../../ports/system/health-check.ts'
import { isOldNumbering, WHAT_IS_OLD, WHAT_TO_DO_WITH_OLD } from '../migrate/applied-changes.ts'
import { ofSchema } from '../migrate/migrator.ts'
import { FUNCTIONS_VERSION, quoted } from '../statements/database.ts'
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
    const text = `the schema ${quoted(schema)} has ${unknown.join(', ')}, which this program does not know`
    return [{ result: 'problem', text, repair: 'Use the newer version of Batonpass that made it, or another schema.' }]
  }
  if (pending.length === 0) return [{ result: 'ok', text: `all ${applied.length} changes are applied` }]
  const text = `the schema ${quoted(schema)} lacks ${pending.join(', ')}`
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
    quoted(schema),
  )
  if (role?.exists !== true) return []
  const lacking = await store.ask<Right>(LACKING, schema, String(FUNCTIONS_VERSION))
  if (lacking.length === 0) return [{ result: 'ok', text: `the role ${role.name} may do what a program does` }]
  const text = `the role ${role.name} may not use ${described(lacking)}`
  const repair = 'Run this as whoever migrates, and again after each migration:'
  const to = `schema ${quoted(schema)} to ${quoted(role.name)};`
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
