import 'reflect-metadata' // tsyringe refuses to load without it
import { container, type DependencyContainer, type InjectionToken, instanceCachingFactory } from 'tsyringe'
import { listPrice } from './adapters/catalogue/model-prices.ts'
import { believedWindow } from './adapters/catalogue/model-windows.ts'
import { agentSdkReader } from './adapters/claude/agent-sdk-reader.ts'
import { statusLineReader } from './adapters/claude/status-line-reader.ts'
import { transcriptReader } from './adapters/claude/transcript-reader.ts'
import { execReader } from './adapters/codex/exec-reader.ts'
import { rolloutReader } from './adapters/codex/rollout-reader.ts'
import { gitWorktrees } from './adapters/git/git-worktrees.ts'
import { NodeHookRunner } from './adapters/hooks/node-hook-runner.ts'
import { MemoryStore } from './adapters/memory/memory-store.ts'
import { addressIn } from './adapters/postgres/address-file.ts'
import { type OpenMigrator, openMigratorAt } from './adapters/postgres/open-migrator.ts'
import { openPglite } from './adapters/postgres/open-pglite.ts'
import { openPostgres } from './adapters/postgres/open-postgres.ts'
import { mustBeSaid } from './adapters/postgres/store-address.ts'
import { InProcessNotifier } from './adapters/system/in-process-notifier.ts'
import { nodeProcesses } from './adapters/system/node-processes.ts'
import { sha256 } from './adapters/system/sha256.ts'
import { systemClock } from './adapters/system/system-clock.ts'
import { uuidV7Ids } from './adapters/system/uuid-v7-ids.ts'
import { openTelemetry } from './adapters/telemetry/open-telemetry.ts'
import { DEFAULT_RESTART_BUDGET, type RestartBudget } from './domain/budget/restart-budget.ts'
import { defined } from './domain/kernel/defined.ts'
import type { MonitorSettings } from './domain/window/context-monitor.ts'
import type { AgentProcesses } from './ports/agent-processes.ts'
import type { HookRunner } from './ports/hook-runner.ts'
import { type Logger, silentLogger } from './ports/logger.ts'
import type { Notifier } from './ports/notifier.ts'
import type { RunTelemetry } from './ports/run-telemetry.ts'
import type { Store } from './ports/store.ts'
import { StoreFailure } from './ports/store-failure.ts'
import type { Clock, IdGenerator } from './ports/system.ts'
import type { WindowReader } from './ports/window-reader.ts'
import { AuditService } from './services/audit-service.ts'
import { ContextService } from './services/context-service.ts'
import { HandoffService } from './services/handoff-service.ts'
import { RestartRunner } from './services/restart-runner.ts'
import type { PriceOf } from './services/runner/cost-meter.ts'
import type { RunSettings } from './services/runner/run-request.ts'
import type { RunSurroundings } from './services/runner/run-surroundings.ts'
import { safeLogger } from './services/safe-logger.ts'
import type { HandoffServiceDeps } from './services/session-keeping.ts'

/** Where everything is kept. Without any of these: the embedded store in `.batonpass/`. */
export interface StoreOptions {
  /** A store of the caller's own, used and never closed; or `memory`, which forgets. */
  readonly store?: Store | 'memory'
  /** A Postgres server, such as `postgres://user@host/database`: for more than one process. */
  readonly database?: string
  /** A file with that address, instead of the address itself: for its owner only, so that agents and `ps` do not see it. */
  readonly databaseFile?: string
  /** The folder of the embedded store. */
  readonly dataDir?: string
  /** For those who only read: where there is no embedded store yet, fail with `store.missing` instead of making one. */
  readonly mustExist?: boolean
  /** The schema Batonpass has to itself; `batonpass` unless given. */
  readonly schema?: string
  /** Apply pending migrations to a server on opening. The embedded store always does. */
  readonly autoMigrate?: boolean
  /** The server is reached through a transaction pooler such as PgBouncer. */
  readonly pooled?: boolean
  /** Is told what is worth a second look when the store is opened; the logger unless given. */
  readonly onWarning?: (message: string) => void
}

/** What may be chosen when Batonpass is put together; everything has a default. */
export interface BatonpassOptions extends StoreOptions, RunSurroundings {
  readonly clock?: Clock
  readonly ids?: IdGenerator
  /** Applied to every text before it is stored, for secrets and personal data. */
  readonly redact?: (text: string) => string
  /** How windows are watched unless a session says otherwise. */
  readonly monitor?: MonitorSettings
  /** How often and how long conversations may be restarted unless they say otherwise. */
  readonly restartBudget?: RestartBudget
  /** How long commands are remembered, so that repeating one is safe: a week unless given, an hour at least. False means for ever. */
  readonly commandRetentionMs?: number | false
  /** Is told of signals as soon as they are stored. */
  readonly notifier?: Notifier
  /** How agents are run unless a run says otherwise: hooks, checkpoint template and timeout, workspace, lease. */
  readonly runs?: RunSettings
  /** List prices, for runtimes that say what they cost at their end or never; those of the kept table unless given. */
  readonly priceOf?: PriceOf
  /** Calls hooks; the usual one unless given. */
  readonly hookRunner?: HookRunner
  /** Private networks that webhooks may reach, such as `10.20.0.0/16`; none unless given, and link-local ones never. */
  readonly allowNetworks?: readonly string[]
  /** Ends what runners that are gone have left at work; the processes of this machine unless given. */
  readonly processes?: AgentProcesses
  /** Shows sessions, turns and handoffs to whoever watches; through OpenTelemetry unless given, which is nothing without an SDK. */
  readonly telemetry?: RunTelemetry
  /** Is told what happens: restarts, refusals, recovery, outages, hooks that fail. Nobody is unless given; a pino logger fits. */
  readonly logger?: Logger
}

/** What the container is built from: a store that is already open, and the rest if wanted. */
export interface ContainerParts extends Omit<BatonpassOptions, keyof StoreOptions> {
  readonly store: Store
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
  notifier: token<Notifier>('Notifier'),
  monitorSettings: token<MonitorSettings>('MonitorSettings'),
  restartBudget: token<RestartBudget>('RestartBudget'),
  handoffService: token<HandoffService>('HandoffService'),
  auditService: token<AuditService>('AuditService'),
  contextService: token<ContextService>('ContextService'),
  restartRunner: token<RestartRunner>('RestartRunner'),
  logger: token<Logger>('Logger'),
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
  const { notifier = new InProcessNotifier(), monitor = {}, restartBudget = DEFAULT_RESTART_BUDGET } = given
  const parts = container.createChildContainer()
  parts.register(TOKENS.clock, { useValue: clock })
  parts.register(TOKENS.ids, { useValue: ids })
  parts.register(TOKENS.redact, { useValue: redact })
  parts.register(TOKENS.store, { useValue: store })
  parts.register(TOKENS.notifier, { useValue: notifier })
  parts.register(TOKENS.logger, { useValue: safeLogger(given.logger ?? silentLogger) })
  parts.register(TOKENS.monitorSettings, { useValue: monitor })
  parts.register(TOKENS.restartBudget, { useValue: restartBudget })
  parts.register(TOKENS.handoffService, { useFactory: instanceCachingFactory((c) => new HandoffService(around(c))) })
  parts.register(TOKENS.contextService, { useFactory: instanceCachingFactory((c) => new ContextService(around(c))) })
  parts.register(TOKENS.auditService, {
    useFactory: instanceCachingFactory((c) => new AuditService({ store: c.resolve(TOKENS.store), sha256 })),
  })
  const { runs: settings = {}, hookRunner = usualHookRunner(given), telemetry = openTelemetry() } = given
  const { processes = nodeProcesses, priceOf = listPrice, worktrees = gitWorktrees, agents } = given
  parts.register(TOKENS.restartRunner, {
    useFactory: instanceCachingFactory((c) => {
      const [handoffs, context] = [c.resolve(TOKENS.handoffService), c.resolve(TOKENS.contextService)]
      const own = { sha256, hookRunner, processes, settings, telemetry, priceOf, worktrees, ...defined({ agents }) }
      return new RestartRunner({ ...around(c), handoffs, context, ...own })
    }),
  })
  return parts
}

/** The usual runner of hooks. @throws ConfigurationError when a network cannot be allowed */
export const usualHookRunner = ({ allowNetworks }: Pick<BatonpassOptions, 'allowNetworks'>): HookRunner =>
  new NodeHookRunner(defined({ allowNetworks }))

/** What both services that command need around them. */
const around = (parts: DependencyContainer): HandoffServiceDeps => ({
  store: parts.resolve(TOKENS.store),
  clock: parts.resolve(TOKENS.clock),
  ids: parts.resolve(TOKENS.ids),
  redact: parts.resolve(TOKENS.redact),
  notifier: parts.resolve(TOKENS.notifier),
  logger: parts.resolve(TOKENS.logger),
  monitor: parts.resolve(TOKENS.monitorSettings),
  restartBudget: parts.resolve(TOKENS.restartBudget),
  believedWindow,
})

/** The folder of the embedded store unless another is named. */
export const DEFAULT_DATA_DIR = '.batonpass'

/** Opens the store the options ask for. @throws StoreFailure when it cannot be opened, or an address says nothing */
export const openStore = async (options: StoreOptions & { readonly clock?: Clock } = {}): Promise<Store> => {
  const { store, schema, autoMigrate, pooled, mustExist, onWarning, clock = systemClock } = options
  if (store === 'memory') return new MemoryStore({ clock })
  if (store !== undefined) return store
  const { database, dataDir } = placeOf(options)
  if (database === undefined) return openPglite(defined({ dataDir, schema, mustExist, onWarning }))
  return openPostgres(defined({ connectionString: database, schema, autoMigrate, pooled }))
}

/** Opens the schema the options choose for migrating, whatever stands there: unlike a store it is not looked at. */
export const openMigrator = (
  options: Pick<StoreOptions, 'database' | 'databaseFile' | 'dataDir' | 'schema' | 'mustExist' | 'onWarning'> = {},
): OpenMigrator => {
  const { database, dataDir } = placeOf(options)
  const { schema, mustExist, onWarning } = options
  return openMigratorAt(defined({ connectionString: database, dataDir, schema, mustExist, onWarning }))
}

/** The place of the store. Without a name it is the embedded store; an empty name is a mistake. */
const placeOf = (options: StoreOptions): { readonly database?: string; readonly dataDir: string } => {
  mustBeSaid(options, 'database', 'Leave the option out to use the embedded store.')
  mustBeSaid(options, 'databaseFile', 'Leave the option out to use the embedded store.')
  mustBeSaid(options, 'dataDir', `Leave the option out to use the folder ${DEFAULT_DATA_DIR}.`)
  const { database, databaseFile, dataDir = DEFAULT_DATA_DIR } = options
  if (databaseFile === undefined) return defined({ database, dataDir })
  if (database !== undefined)
    throw new StoreFailure('store.bad_address', 'Give "database" or "databaseFile", not both: they may differ.')
  return { database: addressIn(databaseFile), dataDir }
}

/** The readers of every runtime there is one for, the most particular first. */
export const WINDOW_READERS: readonly WindowReader[] = [
  rolloutReader,
  execReader,
  statusLineReader,
  transcriptReader,
  agentSdkReader,
]

export { nearestWord } from './adapters/config/nearest-word.ts'
export { readConfiguration } from './adapters/config/read-configuration.ts'
export { networkProblem } from './adapters/hooks/allowed-networks.ts'
export { foreseenRefusals } from './adapters/hooks/foreseen-refusals.ts'
export { withoutStore } from './processes/agent-environment.ts'
export {
  backendOf,
  RUNTIME_NAMES,
  type RuntimeChoices,
  type RuntimeName,
  runtimeNamed,
} from './runtimes.ts'
export { believedWindow, sha256, uuidV7Ids }
