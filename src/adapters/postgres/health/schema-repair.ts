import { quotedName } from '../statements/database.ts'
import type { SchemaFact } from './schema-facts.ts'

/** The statements of all migrations, for the schema `batonpass`, and the thing to be repaired. */
export interface RepairSource {
  readonly statements: readonly string[]
}

/** The statements that make something as it should be, for the schema `batonpass`. */
export const repairOf = (
  expected: SchemaFact,
  found: SchemaFact | undefined,
  source: RepairSource,
): readonly string[] => {
  switch (expected.kind) {
    case 'column':
      return found === undefined ? [`${alter(expected)} add column ${own(expected)}`] : changedColumn(expected, found)
    case 'constraint':
      return constraint(expected, found)
    case 'index':
      return index(expected, found)
    case 'trigger':
      return trigger(expected, found)
    case 'function':
      return functionOf(expected, source)
    case 'domain':
      return domain(expected, found, source)
    case 'table':
      return source.statements.filter((statement) => isAbout(statement, expected.name))
    case 'other':
      return []
    default:
      return expected.kind satisfies never
  }
}

/** The statement that takes away something that is not ours; nothing where data would go with it. */
export const removalOf = ({ kind, table, name }: SchemaFact): string | undefined => {
  switch (kind) {
    case 'constraint':
      return `alter table batonpass.${table} drop constraint ${quotedName(name)}`
    case 'index':
      return `drop index batonpass.${quotedName(name)}`
    case 'trigger':
      return `drop trigger ${quotedName(name)} on batonpass.${table}`
    case 'function':
      return `drop function batonpass.${name.replaceAll(/ DEFAULT [^,)]+/g, '')}`
    default:
      return undefined
  }
}

const alter = ({ table }: SchemaFact): string => `alter table batonpass.${table}`

const own = ({ name, definition }: SchemaFact): string => `${name} ${definition}`

const COLUMN = /^(.*?)( not null)?( default .*?)?( generated)?$/s

const changedColumn = (expected: SchemaFact, found: SchemaFact): readonly string[] => {
  const [, type, notNull, fallback] = COLUMN.exec(expected.definition) ?? []
  const [, type2, notNull2, fallback2] = COLUMN.exec(found.definition) ?? []
  const column = `${alter(expected)} alter column ${expected.name}`
  return [
    ...(type === type2 ? [] : [`${column} type ${type} using ${expected.name}::${type}`]),
    ...(notNull === notNull2 ? [] : [`${column} ${notNull === undefined ? 'drop' : 'set'} not null`]),
    ...(fallback === fallback2 ? [] : [`${column} ${fallback === undefined ? 'drop default' : `set${fallback}`}`]),
  ]
}

const constraint = (expected: SchemaFact, found: SchemaFact | undefined): readonly string[] => {
  const { name } = expected
  if (found?.definition === `${expected.definition} NOT VALID`)
    return [`${alter(expected)} validate constraint ${name}`]
  const drop = found === undefined ? '' : ` drop constraint ${name},`
  return [`${alter(expected)}${drop} add constraint ${own(expected)}`]
}

const index = (expected: SchemaFact, found: SchemaFact | undefined): readonly string[] => {
  if (found?.definition === `${expected.definition} invalid`) return [`reindex index batonpass.${expected.name}`]
  const make = `create ${expected.definition}`
  return found === undefined ? [make] : [`drop index batonpass.${expected.name}`, make]
}

const ENABLED = / enabled (\w)$/

const trigger = (expected: SchemaFact, found: SchemaFact | undefined): readonly string[] => {
  const { name, table, definition } = expected
  const body = definition.replace(ENABLED, '')
  if (found !== undefined && found.definition.replace(ENABLED, '') === body)
    return [`${alter(expected)} enable trigger ${name}`]
  const make = body.startsWith('CREATE ') ? body : `create trigger ${body}`
  return found === undefined ? [make] : [`drop trigger ${name} on batonpass.${table}`, make]
}

/** Made anew from the file it comes from: the catalogue only tells that it is another. */
const functionOf = ({ name }: SchemaFact, { statements }: RepairSource): readonly string[] => {
  const [bare = ''] = name.split('(')
  const about = new RegExp(`^(create( or replace)? function|revoke all on function) batonpass\\.${bare}\\b`)
  return statements
    .filter((statement) => about.test(statement))
    .map((statement) => statement.replace(/^create function/, 'create or replace function'))
}

const domain = ({ name, definition }: SchemaFact, found: SchemaFact | undefined, { statements }: RepairSource) => {
  if (found === undefined)
    return statements.filter((statement) => statement.startsWith(`create domain batonpass.${name} `))
  const [, , rule, check] = /^(\S+) (\S+) (.*)$/s.exec(definition) ?? []
  const alterDomain = `alter domain batonpass.${name}`
  return [`${alterDomain} drop constraint if exists ${rule}`, `${alterDomain} add constraint ${rule} ${check}`]
}

/** Whether a statement makes a table, or something on it. */
const isAbout = (statement: string, table: string): boolean =>
  new RegExp(`^(create table|alter table) batonpass\\.${table}\\b|^create .*? on batonpass\\.${table}\\b`, 's').test(
    statement,
  )
