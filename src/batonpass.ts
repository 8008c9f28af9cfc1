import {
  type BatonpassOptions,
  buildContainer,
  openStore,
  readConfiguration,
  TOKENS,
  usualHookRunner,
} from './container.ts'
import { DEFAULT_RETENTION_MS, retentionProblem } from './domain/kernel/command-retention.ts'
import { defined } from './domain/kernel/defined.ts'
import type { MetadataTypes } from './domain/kernel/metadata.ts'
import type { ConfiguredAgent } from './domain/run/agent-settings.ts'
import { type Configuration, ConfigurationError } from './domain/run/configuration.ts'
import type { SessionSettings } from './domain/run/session-settings.ts'
import type { HookRunner } from './ports/hook-runner.ts'
import { silentLogger } from './ports/logger.ts'
import type { HeldLease } from './ports/session-leases.ts'
import type { AuditService } from './services/audit-service.ts'
import { CommandPruner } from './services/command-pruner.ts'
import type { ContextService } from './services/context-service.ts'
import type { HandoffService } from './services/handoff-service.ts'
import type { AgentRun } from './services/runner/agent-run.ts'
import type { Recovered, RecoverRequest } from './services/runner/recover.ts'
import type { AgentRunSettings, RunRequest } from './services/runner/run-request.ts'
import { safeLogger } from './services/safe-logger.ts'

/** Batonpass, put together and ready. Close it, or leave its `await using` block, when done. */
export interface Batonpass<Notes extends MetadataTypes = MetadataTypes> extends AsyncDisposable {
  readonly handoffs: HandoffService<Notes>
  readonly context: ContextService
  readonly audit: AuditService
  /** Runs an agent, in as many windows as it takes. Iterate the answer for its messages. */
  run<Message>(request: RunRequest<Message>): AgentRun<Message>
  /** Finishes, or fails, what processes that are gone have left behind. */
  recover(request?: RecoverRequest): Promise<readonly Recovered[]>
  /** Sessions that cannot be recovered yet: their leases are not over, so their holders may live. Soonest over first. */
  waiting(): Promise<readonly HeldLease[]>
  close(): Promise<void>
}

/** What may be chosen, in code or in a configuration; what is said in code counts. */
export interface CreateOptions extends BatonpassOptions {
  /** The name of a YAML or JSON file, or its content as an object. */
  readonly config?: string | object
}

/**
 * Puts Batonpass together, for people who do not want to see a container.
 *
 * Without options it keeps everything in the embedded store in `.batonpass/`, which it makes and migrates itself.
 *
 * A program that lives long forgets commands older than a week, a few now and then; `commandRetentionMs` says otherwise.
 *
 * @throws StoreFailure when the store cannot be opened
 * @throws ConfigurationError when something cannot be as it is given
 * @example
 * ```ts
 * await using batonpass = await createBatonpass({ store: 'memory' })
 * const { conversation } = unwrap(await batonpass.handoffs.openConversation({ originalTask: 'Fix the flaky test' }))
 * console.log(conversation.originalTask) // => Fix the flaky test
 * ```
 */
export const createBatonpass = async <Notes extends MetadataTypes = MetadataTypes>(
  options: CreateOptions = {},
): Promise<Batonpass<Notes>> => {
  const { config, store: _, ...given } = options
  const configured = config === undefined ? {} : settingsOf((await readConfiguration(config)).configuration)
  const settings = { ...configured, ...defined(given) }
  const keepMs = retentionOf(settings)
  // Before the store is opened: what is wrong with the options leaves nothing behind.
  const hookRunner = hookRunnerOf(settings)
  const warn = (message: string): void => safeLogger(settings.logger ?? silentLogger).warn({}, message)
  const store = await openStore({ onWarning: warn, ...options })
  const parts = buildContainer({ ...settings, hookRunner, store })
  const pruner = keepMs === false ? undefined : new CommandPruner(store.commands, keepMs, parts.resolve(TOKENS.logger))
  const isOurs = options.store === undefined || options.store === 'memory'
  const close = async (): Promise<void> => {
    pruner?.stop()
    if (isOurs) await store[Symbol.asyncDispose]()
  }
  const runner = parts.resolve(TOKENS.restartRunner)
  return {
    run: (request) => runner.run(request),
    recover: (request) => runner.recover(request),
    waiting: () => runner.waiting(),
    handoffs: parts.resolve(TOKENS.handoffService) as HandoffService<Notes>,
    context: parts.resolve(TOKENS.contextService),
    audit: parts.resolve(TOKENS.auditService),
    close,
    [Symbol.asyncDispose]: close,
  }
}

const retentionOf = ({ commandRetentionMs = DEFAULT_RETENTION_MS }: Partial<BatonpassOptions>): number | false => {
  if (commandRetentionMs === false) return false
  const problem = retentionProblem(commandRetentionMs)
  if (problem === undefined) return commandRetentionMs
  const advice = `Give ${DEFAULT_RETENTION_MS} for a week, or false to keep them for ever.`
  throw new ConfigurationError([{ path: 'commandRetentionMs', problem, advice }])
}

const hookRunnerOf = (given: Partial<BatonpassOptions>): HookRunner => {
  const { hookRunner, allowNetworks } = given
  if (hookRunner === undefined) return usualHookRunner(given)
  if (allowNetworks === undefined) return hookRunner
  const advice = 'Give the networks to that runner instead, as new NodeHookRunner({ allowNetworks }).'
  throw new ConfigurationError([{ path: 'allowNetworks', problem: 'a hookRunner is given as well', advice }])
}

/** What a configuration says of one agent, for its runs. */
const agentSettings = ({
  hooks,
  milestones,
  contextLimit,
  maxRestarts,
  session,
}: ConfiguredAgent): AgentRunSettings => {
  const budget = maxRestarts === undefined ? undefined : { maxRestarts }
  return defined({ hooks, milestones, contextLimit, budget, ...sessionChoices(session) })
}

const sessionChoices = ({ mode, timeoutMs }: SessionSettings) => ({ sessionMode: mode, sessionTimeoutMs: timeoutMs })

/** A configuration as options. */
const settingsOf = (configuration: Configuration): Partial<BatonpassOptions> => {
  const { monitor, contextLimit, restart, hooks, workspace, worktree, session, commandRetentionMs } = configuration
  const { budget: restartBudget, ...runs } = restart
  return {
    monitor: defined({ ...monitor, contextLimit }),
    restartBudget,
    commandRetentionMs,
    runs: defined({ hooks, workspace, worktree, ...sessionChoices(session), ...runs }),
    agents: new Map(configuration.agents.map((agent) => [agent.name, agentSettings(agent)])),
  }
}
