import type { RestartBudget } from '../domain/budget/restart-budget.ts'
import type { KnownNames } from '../domain/kernel/known-names.ts'
import type { BlockMarkers } from '../domain/memory-block/memory-block.ts'
import type { MonitorSettings } from '../domain/window/context-monitor.ts'
import type { AgentProcesses } from '../ports/agent/agent-processes.ts'
import type { HookRunner } from '../ports/agent/hook-runner.ts'
import type { RunTools } from '../ports/agent/run-tools.ts'
import type { Store } from '../ports/store/store.ts'
import type { Logger } from '../ports/system/logger.ts'
import type { Notifier } from '../ports/system/notifier.ts'
import type { RunTelemetry } from '../ports/system/run-telemetry.ts'
import type { Clock, IdGenerator } from '../ports/system/system.ts'
import type { MemoryFiles } from '../ports/terminal/memory-file.ts'
import { BUDGET_NAMES, RUN_SETTINGS_NAMES } from '../services/run/known-requests.ts'
import type { RunSettings, RunSurroundings } from '../services/run/run-request.ts'
import type { PriceOf } from '../services/run/work/cost-meter.ts'
import type { ThreadSettings } from '../services/thread/thread-deps.ts'

/**
 * Where everything is stored. Without any of these: what `BATONPASS_DATABASE_URL`, `BATONPASS_DATABASE_URL_FILE` or
 * `BATONPASS_DATA_DIR` names, else the project store of the working folder or one above it, else the person's own store in
 * the home folder. A place that is named and `undefined`, such as a variable that is not set, is refused when the store is
 * opened.
 */
export interface StoreOptions {
  /** The caller's own store, which is used and never closed; or `memory`, which forgets everything at the end. */
  readonly store?: Store | 'memory'
  /**
   * A Postgres server, such as `postgres://user@host/database`: for more than one machine or user. Several hosts with
   * commas between them, or a list of addresses, are a primary and its standbys.
   */
  readonly database?: string | readonly string[] | undefined
  /** A file with that address, instead of the address itself: for its owner only, so that agents and `ps` do not see it. */
  readonly databaseFile?: string | undefined
  /**
   * A standby, or several, that `history` and `audit` ask instead of the primary. Nothing is written there, and what was
   * stored a moment ago may be missing there.
   */
  readonly readFrom?: string | readonly string[] | undefined
  /** The folder of the embedded store. */
  readonly dataDir?: string | undefined
  /** False keeps the embedded store for this process alone; else other processes of the same user may open it too. */
  readonly share?: boolean
  /**
   * For programs that only read: if there is no embedded store yet, fail with `store.missing` instead of making one.
   */
  readonly mustExist?: boolean
  /** The schema Batonpass has to itself; `batonpass` unless given. */
  readonly schema?: string
  /** Apply pending migrations to a server on opening. The embedded store always does. */
  readonly autoMigrate?: boolean
  /** The server is reached through a transaction pooler such as PgBouncer. */
  readonly pooled?: boolean
  /** Gets the warnings of opening the store; the logger gets them unless given. */
  readonly onWarning?: (message: string) => void
}

/** Options of Batonpass; everything has a default. */
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
  /**
   * List prices, for runtimes that report their cost at their end or never; those of the table in Batonpass unless
   * given.
   */
  readonly priceOf?: PriceOf
  /** Calls hooks; the usual one unless given. */
  readonly hookRunner?: HookRunner
  /** Private networks that webhooks may reach, such as `10.20.0.0/16`; none unless given, and link-local ones never. */
  readonly allowNetworks?: readonly string[]
  /** Ends agents that outlived their runner; the processes of this machine unless given. */
  readonly processes?: AgentProcesses
  /**
   * Shows sessions, turns, handoffs and commands to an observer, and counts them; through OpenTelemetry unless given, which does nothing without
   * an SDK.
   */
  readonly telemetry?: RunTelemetry
  /** Serves tools to the agents of runs; over MCP, on the loopback, unless given. */
  readonly runTools?: RunTools
  /** How threads take a summary along: who writes it, into which memory file, how long it waits. */
  readonly threads?: ThreadSettings & { readonly files?: MemoryFiles }
  /**
   * Gets log lines: restarts, refusals, recovery, outages, hooks that fail. Nothing is logged unless given; a pino
   * logger can be used.
   */
  readonly logger?: Logger
}

/** Options in code or in a configuration; an option in code counts. */
export interface CreateOptions extends BatonpassOptions {
  /** The name of a YAML or JSON file, or its content as an object. */
  readonly config?: string | object
}

/** The names of all options, and of those below them. */
export const OPTION_NAMES: KnownNames<CreateOptions> = {
  config: true,
  store: true,
  database: true,
  databaseFile: true,
  readFrom: true,
  dataDir: true,
  share: true,
  mustExist: true,
  schema: true,
  autoMigrate: true,
  pooled: true,
  onWarning: true,
  clock: true,
  ids: true,
  redact: true,
  monitor: {
    isEnabled: true,
    policy: true,
    milestones: true,
    contextLimit: true,
  } satisfies KnownNames<MonitorSettings>,
  restartBudget: BUDGET_NAMES,
  commandRetentionMs: true,
  notifier: true,
  runs: RUN_SETTINGS_NAMES,
  priceOf: true,
  hookRunner: true,
  allowNetworks: true,
  processes: true,
  telemetry: true,
  runTools: true,
  threads: {
    summarizer: true,
    fallback: true,
    file: true,
    markers: { begin: true, end: true } satisfies KnownNames<BlockMarkers>,
    budgetTokens: true,
    expiresMs: true,
    offerAt: true,
    files: true,
  } satisfies KnownNames<NonNullable<BatonpassOptions['threads']>>,
  logger: true,
  agents: true,
  worktrees: true,
}
