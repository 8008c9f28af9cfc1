import 'reflect-metadata' // tsyringe refuses to load without it
import { container, type DependencyContainer, type InjectionToken, instanceCachingFactory } from 'tsyringe'
import { agentSdkReader } from './adapters/claude/agent-sdk-reader.ts'
import { statusLineReader } from './adapters/claude/status-line-reader.ts'
import { transcriptReader } from './adapters/claude/transcript-reader.ts'
import { execReader } from './adapters/codex/exec-reader.ts'
import { rolloutReader } from './adapters/codex/rollout-reader.ts'
import { MemoryStore } from './adapters/memory/memory-store.ts'
import { type OpenMigrator, openMigratorAt } from './adapters/postgres/open-migrator.ts'
import { openPglite } from './adapters/postgres/open-pglite.ts'
import { openPostgres } from './adapters/postgres/open-postgres.ts'
import { sha256 } from './adapters/system/sha256.ts'
import { systemClock } from './adapters/system/system-clock.ts'
import { uuidV7Ids } from './adapters/system/uuid-v7-ids.ts'
import { defined } from './domain/defined.ts'
import type { Store } from './ports/store.ts'
import type { Clock, IdGenerator } from './ports/system.ts'
import type { WindowReader } from './ports/window-reader.ts'
import { AuditService } from './services/audit-service.ts'
import { HandoffService } from './services/handoff-service.ts'

/** Where everything is kept. Without any of these: the embedded store in `.batonpass/`. */
export interface StoreOptions {
  /** A store of the caller's own, used and never closed; or `memory`, which forgets. */
  readonly store?: Store | 'memory'
  /** A Postgres server, such as `postgres://user@host/database`: for more than one process. */
  readonly database?: string
  /** The folder of the embedded store. */
  readonly dataDir?: string
  /** The schema Batonpass has to itself; `batonpass` unless given. */
  readonly schema?: string
  /** Apply pending migrations to a server on opening. The embedded store always does. */
  readonly autoMigrate?: boolean
  /** The server is reached through a transaction pooler such as PgBouncer. */
  readonly pooled?: boolean
}

/** What may be chosen when Batonpass is put together; everything has a default. */
export interface BatonpassOptions extends StoreOptions {
  readonly clock?: Clock
  readonly ids?: IdGenerator
  /** Applied to every text before it is stored, for secrets and personal data. */
  readonly redact?: (text: string) => string
}

/** What the container is built from: a store that is already open, and the rest if wanted. */
export interface ContainerParts {
  readonly store: Store
  readonly clock?: Clock
  readonly ids?: IdGenerator
  readonly redact?: (text: string) => string
}

const token = <T>(name: string): InjectionToken<T> => Symbol(name)

/**
 * The names under which the parts are registered.
 *
 * @example
 * ```ts
 * const parts = buildContainer({ store: new MemoryStore({ clock: systemClock }) })
 * console.log(parts.resolve(TOKENS.clock) === systemClock) // => true
 * ```
 */
export const TOKENS = {
  clock: token<Clock>('Clock'),
  ids: token<IdGenerator>('IdGenerator'),
  redact: token<(text: string) => string>('Redact'),
  store: token<Store>('Store'),
  handoffService: token<HandoffService>('HandoffService'),
  auditService: token<AuditService>('AuditService'),
} as const

/**
 * Puts the parts together. A child container each time, never the global one: several may live side by side.
 *
 * @example
 * ```ts
 * const parts = buildContainer({ store: new MemoryStore({ clock: systemClock }) })
 * const handoffs = parts.resolve(TOKENS.handoffService)
 * console.log(unwrap(await handoffs.openConversation({ originalTask: 'Rotate the key' })).conversation.originalTask) // => Rotate the key
 * ```
 */
export const buildContainer = (given: ContainerParts): DependencyContainer => {
  const { store, clock = systemClock, ids = uuidV7Ids, redact = (text: string) => text } = given
  const parts = container.createChildContainer()
  parts.register(TOKENS.clock, { useValue: clock })
  parts.register(TOKENS.ids, { useValue: ids })
  parts.register(TOKENS.redact, { useValue: redact })
  parts.register(TOKENS.store, { useValue: store })
  parts.register(TOKENS.handoffService, {
    useFactory: instanceCachingFactory(
      (c) =>
        new HandoffService({
          store: c.resolve(TOKENS.store),
          clock: c.resolve(TOKENS.clock),
          ids: c.resolve(TOKENS.ids),
          redact: c.resolve(TOKENS.redact),
        }),
    ),
  })
  parts.register(TOKENS.auditService, {
    useFactory: instanceCachingFactory((c) => new AuditService({ store: c.resolve(TOKENS.store), sha256 })),
  })
  return parts
}

/** The folder of the embedded store unless another is named. */
const DEFAULT_DATA_DIR = '.batonpass'

/** Opens the store the options ask for. */
export const openStore = async (options: StoreOptions & { readonly clock?: Clock } = {}): Promise<Store> => {
  const { store, database, dataDir = DEFAULT_DATA_DIR, schema, autoMigrate, pooled, clock = systemClock } = options
  if (store === 'memory') return new MemoryStore({ clock })
  if (store !== undefined) return store
  if (database === undefined) return openPglite(defined({ dataDir, schema }))
  return openPostgres(defined({ connectionString: database, schema, autoMigrate, pooled }))
}

/** Opens the schema the options choose for migrating, whatever stands there: unlike a store it is not looked at. */
export const openMigrator = (options: Pick<StoreOptions, 'database' | 'dataDir' | 'schema'> = {}): OpenMigrator => {
  const { database, dataDir = DEFAULT_DATA_DIR, schema } = options
  return openMigratorAt(defined({ connectionString: database, dataDir, schema }))
}

/** The readers of every runtime there is one for, the most particular first. */
export const WINDOW_READERS: readonly WindowReader[] = [
  rolloutReader,
  execReader,
  statusLineReader,
  transcriptReader,
  agentSdkReader,
]

export { believedWindow } from './adapters/catalogue/model-windows.ts'
export { sha256 }
