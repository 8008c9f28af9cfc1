import { defined } from '../../../domain/kernel/defined.ts'
import type { StoreOptions } from '../../../main/options.ts'
import { StoreFailure } from '../../../ports/store/store-failure.ts'
import { workingFolder } from '../../place/home-folder.ts'
import { serviceOf } from '../../place/service-place.ts'
import { remarksOn } from '../../place/store-remarks.ts'
import { type ChosenStore, chooseStore, type StorePlace } from '../../place/store-rule.ts'
import { UsageError } from '../invocation/command-problems.ts'
import type { Invocation } from '../invocation/invocation.ts'
import { describeStore } from '../render/store-name.ts'
import { plain } from '../render/text.ts'

/** The store of an invocation, and why it is this one. */
interface CommandStore {
  readonly options: StoreOptions
  readonly chosen: ChosenStore
  /** A folder that is named beside a server: that of the service. */
  readonly folder: string | undefined
}

/** The ways in which commands differ: most take no folder beside a server, and ask for the folder they are started in. */
interface Asking {
  readonly isService?: boolean
  readonly workingFolder?: string | undefined
}

/**
 * The store that the flags name, or that the rule chooses. A flag that is named and empty is not taken for one that is not
 * named: a forgotten address would become another store.
 *
 * @throws UsageError where flags or variables contradict each other
 */
const storeOf = (invocation: Invocation, asking: Asking = {}): CommandStore => {
  const { values, environment } = invocation
  const named = namedIn(invocation, asking.isService === true)
  const place = named.server ?? (named.folder === undefined ? undefined : { dataDir: named.folder })
  const chosen = understood(() =>
    chooseStore({ named: place, environment, workingFolder: asking.workingFolder ?? workingFolder() }),
  )
  if (place === undefined && 'database' in chosen.place) ofPostgres('BATONPASS_DATABASE_URL', chosen.place.database)
  const isServer = !('dataDir' in chosen.place)
  const schema = filled('--schema', values.schema)
  const pooled = (isServer && values.pooled === true) || undefined
  const options = defined({ ...chosen.place, schema, pooled })
  return { options, chosen: { ...chosen, ...named.why }, folder: named.server && named.folder }
}

const understood = <T>(choose: () => T): T => {
  try {
    return choose()
  } catch (problem) {
    throw problem instanceof StoreFailure ? new UsageError(problem.message, { cause: problem }) : problem
  }
}

interface Named {
  readonly folder: string | undefined
  readonly server: StorePlace | undefined
  readonly why: { readonly why?: string }
}

const namedIn = ({ values }: Invocation, isFolderBesideServer: boolean): Named => {
  const folder = filled('--data-dir', values['data-dir'])
  const database = filled('--database', values.database)
  const databaseFile = filled('--database-file', values['database-file'])
  if (database !== undefined && databaseFile !== undefined)
    throw new UsageError('--database and --database-file are both there, and may name two servers. Leave one out.')
  const flag = database === undefined ? '--database-file' : '--database'
  const server = database === undefined ? databaseFile && { databaseFile } : { database }
  if (!server) return { folder, server: undefined, why: folder === undefined ? {} : { why: 'named by --data-dir' } }
  if (folder !== undefined && !isFolderBesideServer)
    throw new UsageError(`${flag} names a server, and --data-dir the folder of an embedded store. Leave one out.`)
  ofPostgres(flag, database)
  return { folder, server, why: { why: `named by ${flag}` } }
}

const OURS: readonly string[] = ['postgres', 'postgresql', 'pg', 'socket']

/** Refuses the address of something else, and names no more of it than its scheme: a password may be in it. */
const ofPostgres = (name: string, address: string | readonly string[] | undefined): void => {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(String(address ?? '')) ?? []
  if (scheme === undefined || OURS.includes(scheme.toLowerCase())) return
  const shape = 'An address looks like postgres://user@host/database.'
  throw new UsageError(`${name} begins with ${scheme}://, and Batonpass keeps its record in Postgres. ${shape}`)
}

/** How a command uses its store. */
export interface StoreUse {
  /**
   * To write makes a store that is missing, and to read changes or reads what is there. A command that only needs to know
   * which store it is, says nothing about it.
   */
  readonly to: 'read' | 'write' | 'know'
  /** A folder of the command's own, where nobody names a store for it. No variable counts. */
  readonly ownFolder?: string
}

/**
 * The store of a command. What there is to say about it is said on the side.
 *
 * @throws UsageError where flags or variables contradict each other
 */
export const storeFor = (invocation: Invocation, { to, ownFolder }: StoreUse): StoreOptions => {
  const found = (ownFolder === undefined ? undefined : ownStore(invocation, ownFolder)) ?? storeOf(invocation)
  if (to === 'know') return found.options
  return { ...announced(invocation, found), ...(to === 'read' && { mustExist: true }) }
}

const ownStore = (invocation: Invocation, dataDir: string): CommandStore | undefined => {
  const { folder, server } = namedIn(invocation, false)
  if (folder !== undefined || server !== undefined) return undefined
  const chosen = { place: { dataDir }, by: 'project', why: 'its own folder', strangers: [] } as const
  return { options: { dataDir }, chosen, folder: undefined }
}

/** Where the service of a store is, and why it is this store. */
export interface CommandService {
  /** The folder of the service, the spool and the cards of sessions. */
  readonly folder: string
  /** The flags with which a service is started there. */
  readonly flags: Readonly<Record<string, string | undefined>>
  readonly store: StoreOptions
  readonly why: string
  /** Lines that a person should know about the choice. */
  readonly remarks: readonly string[]
}

/**
 * The service of the store that flags or the rule choose: hooks and commands in one folder meet at the same one.
 *
 * @throws UsageError where flags or variables contradict each other
 */
export const serviceIn = (invocation: Invocation, folder: string | undefined = workingFolder()): CommandService => {
  const found = storeOf(invocation, { isService: true, workingFolder: folder })
  const { environment } = invocation
  const { schema } = found.options
  const place = serviceOf(found.chosen, defined({ environment, schema, folder: found.folder }))
  const remarks = remarksOn(found.chosen, { environment, workingFolder: folder })
  return { ...place, store: found.options, why: found.chosen.why, remarks }
}

/** The same, for a command that uses the store: says on the side what there is to say about it. */
export const serviceToUse = (invocation: Invocation, folder: string | undefined = workingFolder()): CommandService => ({
  ...serviceIn(invocation, folder),
  store: announced(invocation, storeOf(invocation, { isService: true, workingFolder: folder }), folder),
})

/** Says what a person should know. The store itself is named by the program: where it is unusual, or when something fails. */
const announced = (
  invocation: Invocation,
  { options, chosen }: CommandStore,
  folder: string | undefined = workingFolder(),
): StoreOptions => {
  const { environment, notes } = invocation
  for (const line of remarksOn(chosen, { environment, workingFolder: folder })) notes.line(plain(line))
  invocation.onStore?.({ name: describeStore(options), isUsual: chosen.by === 'home' || chosen.by === 'named' })
  return { ...options, onWarning: (message) => notes.line(`Warning: ${plain(message)}`) }
}

const filled = (name: string, value: Invocation['values'][string]): string | undefined => {
  if (typeof value !== 'string') return undefined
  if (value.trim() !== '') return value
  throw new UsageError(`${name} is empty. Give it a value, or leave it out.`)
}
