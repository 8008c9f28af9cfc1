import type { StoreOptions } from '../../container.ts'
import { defined } from '../../domain/defined.ts'
import type { CliCommand, Invocation } from './command.ts'

/** The flags that choose a store; every command that needs one takes them. */
export const STORE_FLAGS = {
  database: { type: 'string' },
  'data-dir': { type: 'string' },
  schema: { type: 'string' },
  json: { type: 'boolean' },
} as const satisfies CliCommand['options']

/** What these flags mean, for a command's help. */
export const STORE_FLAGS_HELP = [
  '  --database URL   a Postgres server (else DATABASE_URL, else the embedded store)',
  '  --data-dir DIR   the folder of the embedded store (.batonpass)',
  '  --schema NAME    the schema in the database (batonpass)',
  '  --json           for machines',
].join('\n')

const text = (value: string | boolean | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined

/** Which store the flags choose: a named folder beats `DATABASE_URL`, a named server beats both. */
export const storeOptions = ({ values, environment }: Invocation): StoreOptions => {
  const dataDir = text(values['data-dir'])
  const named = text(values.database)
  const database = named ?? (dataDir === undefined ? environment.DATABASE_URL : undefined)
  return defined({ database, dataDir, schema: text(values.schema) })
}
