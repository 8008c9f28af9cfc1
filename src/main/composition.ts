import { accessSync, constants } from 'node:fs'
import { resolve } from 'node:path'
import { codeOf, NotOwn, ownStoreFolder } from '../adapters/files/own-files.ts'
import { NodeHookRunner } from '../adapters/hooks/node-hook-runner.ts'
import { workingFolder } from '../adapters/place/home-folder.ts'
import { serverName } from '../adapters/place/server-name.ts'
import { remarksOn } from '../adapters/place/store-remarks.ts'
import { type ChosenStore, chooseStore, NAME_ONE, type StorePlace } from '../adapters/place/store-rule.ts'
import { defined } from '../domain/kernel/defined.ts'
import { DEFAULT_RETENTION_MS, retentionProblem } from '../domain/kernel/retention-time.ts'
import { onOneLine } from '../domain/kernel/safe-text.ts'
import type { ConfiguredAgent } from '../domain/run/configured-agent.ts'
import { type Configuration, ConfigurationError, mustBeKnown } from '../domain/run/run-configuration.ts'
import type { SessionSettings } from '../domain/run/session-settings.ts'
import type { HookRunner } from '../ports/agent/hook-runner.ts'
import { StoreFailure } from '../ports/store/store-failure.ts'
import { silentLogger } from '../ports/system/logger.ts'
import { safeLogger } from '../services/commands/safe-logger.ts'
import type { AgentRunSettings, AgentWorkplace } from '../services/run/run-request.ts'
import type { ThreadSettings } from '../services/thread/thread-deps.ts'
import type { Batonpass } from './batonpass.ts'
import { readConfiguration } from './configuration.ts'
import { buildContainer, TOKENS } from './container.ts'
import { mustSayPlaces, openStore, PLACES } from './open-store.ts'
import { type BatonpassOptions, type CreateOptions, OPTION_NAMES } from './options.ts'
import { redactorFor } from './redaction.ts'
import { summarizerNamed } from './runtimes.ts'

/** Reads the configuration, opens the store and builds the container. A store that was opened here is closed with it. */
export const compose = async (options: CreateOptions): Promise<Batonpass> => {
  mustBeKnown(options, OPTION_NAMES)
  mustAgree(options)
  const { config, store: _, ...given } = options
  const configured = config === undefined ? {} : await settingsOf((await readConfiguration(config)).configuration)
  const settings = { ...configured, ...defined(given) }
  mustRetain(settings)
  // Before the store is opened: what is wrong with the options leaves nothing behind.
  const hookRunner = hookRunnerOf(settings)
  const warn = (message: string): void => safeLogger(settings.logger ?? silentLogger).warn({}, message)
  const store = await openStore({ onWarning: warn, ...options, ...usualPlace(options) })
  const batonpass = buildContainer({ ...settings, hookRunner, store }).resolve(TOKENS.batonpass)
  const isOurs = options.store === undefined || options.store === 'memory'
  if (!isOurs) return batonpass
  const close = async (): Promise<void> => {
    await batonpass.close()
    await store[Symbol.asyncDispose]()
  }
  return { ...batonpass, close, [Symbol.asyncDispose]: close }
}

/** The place that the rule chooses, where no option names one. It is named, because nobody did. */
const usualPlace = (options: CreateOptions): Partial<StorePlace> => {
  if (options.store !== undefined || PLACES.some((name) => name in options)) return {}
  const { logger, onWarning, mustExist = false } = options
  const tell = onWarning ?? (logger && ((message: string): void => safeLogger(logger).warn({}, message)))
  return usualStore(defined({ tell, mustExist }))
}

/** The options that say where or how a store is opened. One that is given, or in memory, is open already. */
const OPENING = ['readFrom', 'schema', 'autoMigrate', 'pooled', 'share', 'mustExist'] as const

/** Refuses options that contradict each other: one of them would count for nothing. @throws ConfigurationError */
const mustAgree = (options: CreateOptions): void => {
  const { store } = options
  if (store === undefined) return
  const given = store === 'memory' ? "store: 'memory'" : 'a store of your own'
  mustSayPlaces(options)
  const problems = [...PLACES, ...OPENING]
    .filter((name) => options[name] !== undefined)
    .map((path) => ({
      path,
      problem: `${given} is given as well`,
      advice: `Leave out "store", or leave out "${path}".`,
    }))
  if (problems.length > 0) throw new ConfigurationError(problems)
}

const mustRetain = ({ commandRetentionMs = DEFAULT_RETENTION_MS }: Partial<BatonpassOptions>): void => {
  const problem = commandRetentionMs === false ? undefined : retentionProblem(commandRetentionMs)
  if (problem === undefined) return
  const advice = `Give ${DEFAULT_RETENTION_MS} for a week, or false to keep them for ever.`
  throw new ConfigurationError([{ path: 'commandRetentionMs', problem, advice }])
}

const hookRunnerOf = (given: Partial<BatonpassOptions>): HookRunner => {
  const { hookRunner, allowNetworks } = given
  if (hookRunner === undefined) return new NodeHookRunner(defined({ allowNetworks }))
  if (allowNetworks === undefined) return hookRunner
  const advice = 'Give the networks to that runner instead, as new NodeHookRunner({ allowNetworks }).'
  throw new ConfigurationError([{ path: 'allowNetworks', problem: 'a hookRunner is given as well', advice }])
}

/** The settings of one agent in a configuration, for its runs. */
const agentSettings = ({
  hooks,
  milestones,
  contextLimit,
  maxRestarts,
  session,
  place,
}: ConfiguredAgent): AgentRunSettings => {
  const budget = maxRestarts === undefined ? undefined : { maxRestarts }
  return defined({ hooks, milestones, contextLimit, budget, place: place && placed(place), ...sessionChoices(session) })
}

/** Relative folders begin at the working directory, whichever agent works when. */
const placed = ({ workspace = {}, worktree }: NonNullable<ConfiguredAgent['place']>): AgentWorkplace => {
  const { workingDirectory, worktreePath } = workspace
  const folders = {
    workingDirectory: workingDirectory === undefined ? undefined : resolve(workingDirectory),
    worktreePath: worktreePath === undefined ? undefined : resolve(worktreePath),
  }
  return defined({ workspace: { ...workspace, ...defined(folders) }, worktree })
}

const sessionChoices = ({ mode, timeoutMs }: SessionSettings) => ({ sessionMode: mode, sessionTimeoutMs: timeoutMs })

/** The summarizer is loaded when a file names it: it brings a reader of the SDK. */
const threadSettings = async ({
  summarizer: name,
  model,
  ...settings
}: Configuration['threads']): Promise<ThreadSettings> => {
  if (name === 'extractive') return settings
  return { ...settings, summarizer: await summarizerNamed(model, name) }
}

/** A configuration as options. */
const settingsOf = async (configuration: Configuration): Promise<Partial<BatonpassOptions>> => {
  const { monitor, contextLimit, restart, hooks, workspace, worktree, session, fanOut, commandRetentionMs } =
    configuration
  const { budget: restartBudget, ...runs } = restart
  return {
    monitor: defined({ ...monitor, contextLimit }),
    restartBudget,
    commandRetentionMs,
    ...(configuration.redact && { redact: redactorFor(configuration.redact).redact }),
    runs: defined({ hooks, workspace, worktree, fanOut, ...sessionChoices(session), ...runs }),
    threads: await threadSettings(configuration.threads),
    agents: new Map(configuration.agents.map((agent) => [agent.name, agentSettings(agent)])),
  }
}

/** How a program without a store of its own is told about the usual one. */
interface Telling {
  /** Is given the name of the store; the warnings of this process unless given. */
  readonly tell?: (message: string) => void
  /** Whether a store that is missing is not made. */
  readonly mustExist?: boolean
}

/**
 * The store of a program that names none: the one that every command in the same folder uses. It is named once, because
 * nobody did.
 *
 * @throws StoreFailure `store.bad_address` where the variables contradict each other, and where the home folder is missing or
 * cannot be written
 */
const usualStore = ({ tell = warnOnce, mustExist = false }: Telling): StorePlace => {
  const around = { environment: process.env, workingFolder: workingFolder() }
  const chosen = chooseStore(around)
  if (chosen.by === 'home' && !mustExist) mustBeWritable(chosen.place)
  const remarks = remarksOn(chosen, around).map((line) => line.trim())
  tell(onOneLine([`Batonpass uses ${nameOf(chosen)}.`, ...remarks].join(' ')))
  return chosen.place
}

const nameOf = ({ place, why }: ChosenStore): string => {
  if ('dataDir' in place) return `the embedded store in ${place.dataDir} (${why})`
  if ('databaseFile' in place) return `the Postgres server named in ${place.databaseFile} (${why})`
  const { host, port, database } = serverName(place.database)
  return `the database ${database} on ${host}${port === '' ? '' : `:${port}`} (${why})`
}

const mustBeWritable = (place: StorePlace): void => {
  if (!('dataDir' in place)) return
  try {
    ownStoreFolder(place.dataDir)
    accessSync(place.dataDir, constants.W_OK)
  } catch (cause) {
    const why = cause instanceof NotOwn ? cause.message : codeOf(cause)
    const problem = `Your own store in ${place.dataDir} cannot be written (${why}).`
    throw new StoreFailure('store.bad_address', `${problem} ${NAME_ONE}`, { cause })
  }
}

const warnings = new Set<string>()

/** A program may open its store again and again. */
const warnOnce = (message: string): void => {
  if (warnings.has(message)) return
  warnings.add(message)
  process.emitWarning(message, 'BatonpassStore')
}
