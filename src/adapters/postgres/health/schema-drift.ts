import type { Finding } from '../../../ports/system/health-check.ts'
import { inSchema, ledgerSql, readMigrations, readSnapshot } from '../migrate/migration-files.ts'
import { statementsOf } from '../migrate/sql-statements.ts'
import { type Database, FUNCTIONS_VERSION, quoted } from '../statements/database.ts'
import { type SchemaFact, type SchemaFacts, schemaFacts } from './schema-facts.ts'
import { schemaLines } from './schema-lines.ts'
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
  schema === 'batonpass' ? statement : inSchema(statement, schema).replaceAll('batonpass."', `${quoted(schema)}."`)

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
  repair: (found === undefined ? LOSSES[expected.kind] : undefined) ?? 'Run this as whoever migrates:',
  statements: repairOf(expected, found, source),
})

/** Where something was lost that no statement brings back. */
const LOSSES: Readonly<Partial<Record<SchemaFact['kind'], string>>> = {
  table: 'Restore it from a backup. To begin with an empty one, run this as whoever migrates:',
  column: 'Restore what was in it from a backup if that matters, and run this as whoever migrates:',
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
      const text = `${titleOf(fact)} is none of Batonpass; the schema should have nothing else in it`
      if (removal === undefined)
        return { result: 'warning', text, repair: 'Move it to another schema, or drop it with the data in it.' }
      return { result: 'warning', text, repair: 'If nobody needs it, run this:', statements: [removal] }
    })
