import { CompiledQuery } from 'kysely'
import type { Finding } from '../../../ports/system/health-check.ts'
import { inSchema, ledgerSql, readMigrations, readSnapshot } from '../migrate/migration-files.ts'
import { statementsOf } from '../migrate/sql-statements.ts'
import { type Database, FUNCTIONS_VERSION, quotedName } from '../statements/database.ts'
import { type SchemaFact, type SchemaFacts, schemaFacts } from './schema-facts.ts'
import { type RepairSource, removalOf, repairOf } from './schema-repair.ts'

/** The order of repairs: things that others stand on come first. A foreign key may stand on a unique index. */
const ORDER: readonly ((fact: SchemaFact) => boolean)[] = [
  ({ kind }) => kind === 'domain',
  ({ kind }) => kind === 'table',
  ({ kind }) => kind === 'column',
  ({ kind }) => kind === 'function',
  ({ definition }) => /^(UNIQUE INDEX|PRIMARY KEY|UNIQUE) /.test(definition),
  ({ kind, definition }) => kind === 'constraint' && !definition.startsWith('FOREIGN KEY'),
  ({ kind }) => kind === 'constraint',
  ({ kind }) => kind === 'index',
  () => true,
]

const placeOf = (fact: SchemaFact): number => ORDER.findIndex((belongs) => belongs(fact))

/** How a schema differs from what the migrations make: each difference, and the statements that repair it. */
export const schemaDrift = async (database: Database): Promise<readonly Finding[]> => {
  const [snapshot, lines] = [await readSnapshot(), await schemaLines(database)]
  const [expected, found] = [schemaFacts(snapshot), schemaFacts(lines.join('\n'))]
  const source = { statements: await migrationStatements() }
  const findings = [...lackingIn(expected, found, source), ...addedTo(expected, found)]
  return findings.map((finding) => ({ ...finding, ...statementsFor(finding, database.schema) }))
}

const statementsFor = ({ statements }: Finding, schema: string): Pick<Finding, 'statements'> =>
  statements === undefined ? {} : { statements: statements.map((statement) => `${named(statement, schema)};`) }

const named = (statement: string, schema: string): string =>
  schema === 'batonpass' ? statement : inSchema(statement, schema).replaceAll('batonpass."', `${quotedName(schema)}."`)

/** Every statement of the migrations, as they are written: for the schema `batonpass`. */
const migrationStatements = async (): Promise<readonly string[]> => {
  const migrations = await readMigrations('batonpass')
  const text = [ledgerSql('batonpass'), ...migrations.map(({ up }) => up)].join('\n')
  return statementsOf(text).map((statement) => statement.replaceAll('"batonpass".', 'batonpass.'))
}

const lackingIn = (expected: SchemaFacts, found: SchemaFacts, source: RepairSource): readonly Finding[] =>
  [...expected.entries()]
    .filter(([key, fact]) => found.get(key)?.definition !== fact.definition)
    .filter(([key, fact]) => fact.kind === 'table' || found.has(`table ${fact.table} ${fact.table}`) || isOwn(key))
    .filter(([, fact]) => !isIndexOfMissing(fact, expected, found))
    .sort(([, a], [, b]) => placeOf(a) - placeOf(b))
    .map(([key, fact]) => difference(fact, found.get(key), source))

const isOwn = (key: string): boolean => /^(domain|function) /.test(key)

/** The index of a constraint comes and goes with it. */
const isIndexOfMissing = ({ kind, table, name }: SchemaFact, expected: SchemaFacts, found: SchemaFacts): boolean => {
  const key = `constraint ${table} ${name}`
  return kind === 'index' && expected.has(key) && !found.has(key)
}

const difference = (expected: SchemaFact, found: SchemaFact | undefined, source: RepairSource): Finding => ({
  result: 'problem',
  text: `${titleOf(expected)} ${found === undefined ? 'is missing' : 'is not as the migrations make it'}`,
  repair: (found === undefined ? LOSSES[expected.kind] : undefined) ?? 'Run this as the role that migrates:',
  statements: repairOf(expected, found, source),
})

/** Where something was lost that no statement brings back. */
const LOSSES: Readonly<Partial<Record<SchemaFact['kind'], string>>> = {
  table: 'Restore it from a backup. To begin with an empty one, run this as the role that migrates:',
  column: 'Restore what was in it from a backup if that matters, and run this as the role that migrates:',
}

const titleOf = ({ kind, table, name }: SchemaFact): string => {
  if (kind === 'column') return `column ${table}.${name}`
  if (kind === 'other') return name.replace(/^\w /, '')
  return kind === 'constraint' || kind === 'trigger' ? `${kind} ${name} of ${table}` : `${kind} ${name}`
}

/** Functions of another version belong to another program, which shares the database for a while. */
const isOfAnother = ({ kind, name }: SchemaFact): boolean => {
  const [, version] = /^\w+_v(\d+)\(/.exec(name) ?? []
  return kind === 'function' && version !== undefined && Number(version) !== FUNCTIONS_VERSION
}

const addedTo = (expected: SchemaFacts, found: SchemaFacts): readonly Finding[] =>
  [...found.entries()]
    .filter(([key, fact]) => !expected.has(key) && !isOfAnother(fact))
    .filter(
      ([, fact]) =>
        fact.kind === 'table' ||
        !['column', 'constraint', 'index', 'trigger'].includes(fact.kind) ||
        expected.has(`table ${fact.table} ${fact.table}`),
    )
    .filter(([, fact]) => !(fact.kind === 'index' && found.has(`constraint ${fact.table} ${fact.name}`)))
    .map(([, fact]) => {
      const removal = removalOf(fact)
      const text = `${titleOf(fact)} does not belong to Batonpass; the schema should have nothing else in it`
      if (removal === undefined)
        return { result: 'warning', text, repair: 'Move it to another schema, or drop it with the data in it.' }
      return { result: 'warning', text, repair: 'If nobody needs it, run this:', statements: [removal] }
    })

/** Everything in a schema, a line each, below the table or function it belongs to. `$1` is the schema, `$2` the same quoted. */
const QUERY = `
with schema as (select oid from pg_namespace where nspname = $1),
tables as (
  select c.oid, c.relname::text as name from pg_class c
  where c.relnamespace = (select oid from schema) and c.relkind in ('r', 'p')),
lines as (
  select name as part, 0 as rank, 0 as place, '' as sort, 'table ' || name as line, 'pg_class' as catalog, oid, 0 as sub
    from tables
  union all
  select t.name, 1, a.attnum, '', 'column ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
      || case when a.attnotnull then ' not null' else '' end
      || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
      || case when a.attidentity <> '' or a.attgenerated <> '' then ' generated' else '' end, 'pg_class', t.oid, a.attnum
    from tables t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
  union all
  -- From Postgres 18 on NOT NULL is a constraint too; the columns say it everywhere.
  select t.name, 2, 0, c.conname, 'constraint ' || c.conname || ' ' || pg_get_constraintdef(c.oid), 'pg_constraint', c.oid, 0
    from tables t join pg_constraint c on c.conrelid = t.oid and c.contype not in ('n', 't')
  union all
  select t.name, 3, 0, c.relname, replace(pg_get_indexdef(i.indexrelid), 'CREATE ', '') || case when i.indisvalid then '' else ' invalid' end, 'pg_class', c.oid, 0
    from tables t join pg_index i on i.indrelid = t.oid join pg_class c on c.oid = i.indexrelid
  union all
  select t.name, 4, 0, g.tgname, 'trigger ' || replace(pg_get_triggerdef(g.oid), 'CREATE TRIGGER ', '') || ' enabled ' || g.tgenabled::text, 'pg_trigger', g.oid, 0
    from tables t join pg_trigger g on g.tgrelid = t.oid and not g.tgisinternal
  union all
  -- The name of the schema stands in bodies as well.
  select '~' || p.proname, 5, 0, pg_get_function_identity_arguments(p.oid),
      'function ' || p.proname || '(' || pg_get_function_arguments(p.oid) || ') returns ' || pg_get_function_result(p.oid)
      || ' ' || l.lanname || ' ' || p.provolatile::text || case when p.prosecdef then ' definer' else '' end
      || case when has_function_privilege('public', p.oid, 'execute') then '' else ' not public' end || ' '
      || md5(replace(p.prosrc, $2, 'batonpass.')),
      'pg_proc', p.oid, 0
    from pg_proc p join pg_language l on l.oid = p.prolang where p.pronamespace = (select oid from schema)
  union all
  select ' ' || t.typname, 0, 0, '', 'domain ' || t.typname || ' ' || format_type(t.typbasetype, t.typtypmod) || ' '
      || coalesce((select string_agg(c.conname || ' ' || pg_get_constraintdef(c.oid), ', ' order by c.conname)
          from pg_constraint c where c.contypid = t.oid and c.contype <> 'n'), ''), 'pg_type', t.oid, 0
    from pg_type t where t.typtype = 'd' and t.typnamespace = (select oid from schema)
  union all
  select '~~' || c.relname, 6, 0, '', c.relkind::text || ' ' || c.relname, 'pg_class', c.oid, 0
    from pg_class c where c.relnamespace = (select oid from schema) and c.relkind not in ('r', 'p', 'i', 'I', 't')
)
select case when rank in (0, 5, 6) then '' else '  ' end || line
    || coalesce(' -- ' || case sub when 0 then obj_description(oid, catalog) else col_description(oid, sub) end, '') as line
  from lines order by part collate "C", rank, place, sort collate "C"`

/**
 * Everything in a schema, a line each, with the comments. The name of the schema is `batonpass` in them, so that two
 * schemas are the same when their lines are, whatever they are called.
 */
export const schemaLines = async ({ kysely, schema }: Database): Promise<readonly string[]> => {
  const prefix = `${quotedName(schema)}.`
  const { rows } = await kysely.executeQuery<{ line: string }>(CompiledQuery.raw(QUERY, [schema, prefix]))
  const unquoted = new RegExp(`(?<![\\w"])${escaped(schema)}\\.`, 'g')
  return rows.map(({ line }) => line.replaceAll(prefix, 'batonpass.').replaceAll(unquoted, 'batonpass.'))
}

const escaped = (text: string): string => text.replaceAll(/[^\w]/g, '\\$&')
