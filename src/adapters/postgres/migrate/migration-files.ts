import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import { FUNCTIONS_VERSION, quotedName } from '../statements/database.ts'

/** The numbered SQL files, beside the program wherever it is installed. */
const FOLDER = new URL('../../../../migrations/', import.meta.url)

/** The longest name that Postgres keeps; it drops the rest silently, and two tenants would share a schema. */
const MAX_NAME_BYTES = 63

/** One change of the schema, and how to undo it. */
export interface Migration {
  readonly name: string
  readonly up: string
  readonly down: string
  /** Of functions: what they are made of. Another digest means that they are applied again. */
  readonly digest?: string
}

/**
 * All changes in order: the tables, and then the functions. The files are written for the schema `batonpass`; another
 * name is put in its place.
 *
 * @throws StoreFailure when no schema can have that name
 */
export const readMigrations = async (schema: string): Promise<readonly Migration[]> => {
  refuseUnusable(schema)
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.sql') && !file.endsWith('.down.sql')).sort()
  const tables = files.map(async (file) => {
    const name = file.slice(0, -'.sql'.length)
    const [up, down] = await Promise.all([readSql(file, schema), readSql(`${name}.down.sql`, schema)])
    return { name, up, down }
  })
  return Promise.all([...tables, readFunctions(schema)])
}

/** The schema as all changes leave it, a line for each thing in it, written for the schema `batonpass`. */
export const readSnapshot = (): Promise<string> => readFile(new URL('schema.snapshot', FOLDER), 'utf8')

/** Puts the name of a schema into SQL that is written for the schema `batonpass`. */
export const inSchema = (sql: string, schema: string): string =>
  sql.replaceAll(/\bbatonpass\.(?=[a-z_])/g, () => `${quotedName(schema)}.`)

/** The name of the functions that this program calls, as the table of changes has it. */
const FUNCTIONS = `functions_v${FUNCTIONS_VERSION}`

/** Whether a change is a set of functions. Sets of other programs stand beside ours, and neither knows the other. */
export const isFunctions = (name: string): boolean => /^functions_v\d+$/.test(name)

/** The functions that this program calls. Every name in the files ends in the version, so that sets never meet. */
const readFunctions = async (schema: string): Promise<Migration> => {
  const files = (await readdir(new URL('functions/', FOLDER))).sort()
  const texts = await Promise.all(files.map((file) => readSql(`functions/${file}`, schema)))
  const up = texts.join('\n')
  const names = [...up.matchAll(/^create or replace function (.+?_v\d+)\(/gm)].map(([, name]) => name)
  const down = names.toReversed().map((name) => `drop function if exists ${name};\n`)
  return { name: FUNCTIONS, up, down: down.join(''), digest: createHash('sha256').update(up).digest('hex') }
}

/** The table that says which changes were applied. */
export const ledgerOf = (schema: string): string => `${quotedName(schema)}.migrations`

/** Makes that table, in a schema that exists. */
export const ledgerSql = (schema: string): string => `
create table if not exists ${ledgerOf(schema)} (
  name       text        not null,
  applied_at timestamptz not null,
  digest     text,
  constraint migrations_pkey primary key (name)
);
comment on table ${ledgerOf(schema)} is 'Which changes of the schema were applied, and when.';
comment on column ${ledgerOf(schema)}.digest is 'Of functions: the SHA-256 of what was applied, to apply them again when that changes.';
comment on index ${quotedName(schema)}.migrations_pkey is 'Was this change applied?';
`

/** The lock on which processes that migrate the same schema wait for each other. */
export const lockName = (schema: string): string => `batonpass migrations ${schema}`

const readSql = async (file: string, schema: string): Promise<string> =>
  inSchema(await readFile(new URL(file, FOLDER), 'utf8'), schema)

/** Function bodies stand between `$$`, and statements in them between `$sql$`: a name with either in it would end them. */
const ENDS_A_BODY = /\$(sql)?\$/

/** A schema must have a name that Postgres and the files can take. */
const refuseUnusable = (schema: string): void => {
  const bytes = Buffer.byteLength(schema)
  if (bytes > 0 && bytes <= MAX_NAME_BYTES && !schema.includes('\0') && !ENDS_A_BODY.test(schema)) return
  throw new StoreFailure(
    'store.failed',
    `No schema can be named ${JSON.stringify(schema)}: a name has 1 to ${MAX_NAME_BYTES} bytes, no NUL, no "$$" and no "$sql$".`,
  )
}
