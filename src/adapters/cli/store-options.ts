import { folderToRead, type StoreOptions, serviceFolder } from '../../command-parts.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { Invocation } from './command.ts'
import { UsageError } from './problems.ts'
import { describeStore } from './render-store.ts'
import { plain } from './render-text.ts'

/**
 * Which store the flags choose: a flag beats `DATABASE_URL`. One that is named and empty is not taken for one that is not named: a forgotten address would become an empty store.
 */
export const storeOptions = ({ values, environment }: Invocation): StoreOptions => {
  const dataDir = filled('--data-dir', values['data-dir'])
  const schema = filled('--schema', values.schema)
  const pooled = values.pooled === true || undefined
  const flags = { database: filled('--database', values.database), databaseFile: fileFlag(values) }
  oneOf(flags, '--database and --database-file')
  const server = flags.database === undefined ? '--database-file' : '--database'
  if (flags.database !== undefined || flags.databaseFile !== undefined) {
    if (dataDir !== undefined)
      throw new UsageError(`${server} names a server, and --data-dir the folder of an embedded store. Leave one out.`)
    ofPostgres(server, flags.database)
    return defined({ ...flags, schema, pooled })
  }
  if (dataDir !== undefined) return defined({ dataDir, schema })
  const database = filled('DATABASE_URL', environment.DATABASE_URL)
  const databaseFile = filled('DATABASE_URL_FILE', environment.DATABASE_URL_FILE)
  oneOf({ database, databaseFile }, 'DATABASE_URL and DATABASE_URL_FILE')
  ofPostgres('DATABASE_URL', database)
  return defined({ database, databaseFile, schema, pooled })
}

const fileFlag = (values: Invocation['values']): string | undefined =>
  filled('--database-file', values['database-file'])

const OURS: readonly string[] = ['postgres', 'postgresql', 'pg', 'socket']

/** Refuses the address of something else, and names no more of it than its scheme: a password may be in it. */
const ofPostgres = (name: string, address: string | undefined): void => {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address ?? '') ?? []
  if (scheme === undefined || OURS.includes(scheme.toLowerCase())) return
  const shape = 'An address looks like postgres://user@host/database.'
  throw new UsageError(`${name} begins with ${scheme}://, and Batonpass keeps its record in Postgres. ${shape}`)
}

/** Two that are named may name two servers, and nobody could see which one was taken. */
const oneOf = (
  { database, databaseFile }: { readonly database: string | undefined; readonly databaseFile: string | undefined },
  names: string,
): void => {
  if (database !== undefined && databaseFile !== undefined)
    throw new UsageError(`${names} are both there, and may name two servers. Leave one out.`)
}

/** The store of a command that writes, which makes it when it is missing. Says on the side which one that is. */
export const storeToWrite = (invocation: Invocation): StoreOptions => said(invocation, storeOptions(invocation))

/** The store of a command that changes what is there: where there is none, none is made. */
export const storeToChange = (invocation: Invocation): StoreOptions => ({
  ...storeToWrite(invocation),
  mustExist: true,
})

/**
 * The store of a command that only reads: where there is none, none is made. When nobody names one and the working
 * directory has none, that of the service is read.
 */
export const storeToRead = (invocation: Invocation): StoreOptions => {
  const chosen = storeOptions(invocation)
  const isNamed = ['database', 'databaseFile', 'dataDir'].some((name) => name in chosen)
  const found = isNamed ? chosen : { ...chosen, dataDir: folderToRead(invocation.environment) }
  return { ...said(invocation, found), mustExist: true }
}

/** The folder of the service, and its store: embedded there, or on a server that is named. */
export interface PlaceToServe {
  readonly folder: string
  readonly store: StoreOptions
}

/**
 * Where the service is. A variable that names a server counts when a person types the command; when a hook starts it, the
 * variable may belong to the project that the agent works on.
 */
export const placeToServe = (invocation: Invocation, { isByHook }: { readonly isByHook: boolean }): PlaceToServe => {
  const { 'data-dir': named, ...others } = invocation.values
  const { DATABASE_URL: _, DATABASE_URL_FILE: __, ...rest } = invocation.environment
  const environment = isByHook ? rest : invocation.environment
  const folder = filled('--data-dir', named) ?? serviceFolder(environment).folder
  const chosen = storeOptions({ ...invocation, values: others, environment })
  const isServer = chosen.database !== undefined || chosen.databaseFile !== undefined
  return { folder, store: said(invocation, isServer ? chosen : { ...chosen, dataDir: folder }) }
}

const said = (invocation: Invocation, chosen: StoreOptions): StoreOptions => {
  invocation.notes.line(`Store: ${describeStore(chosen)}`)
  return { ...chosen, onWarning: (message) => invocation.notes.line(`Warning: ${plain(message)}`) }
}

const filled = (name: string, value: Invocation['values'][string]): string | undefined => {
  if (typeof value !== 'string') return undefined
  if (value.trim() !== '') return value
  throw new UsageError(`${name} is empty. Give it a value, or leave it out.`)
}
