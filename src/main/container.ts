import 'reflect-metadata' // tsyringe refuses to load without it
import { container, type DependencyContainer, type InjectionToken, instanceCachingFactory } from 'tsyringe'
import { believedWindow, listPrice } from '../adapters/catalogue/model-catalogue.ts'
import { isKeptByGit } from '../adapters/git/git-files.ts'
import { gitWorktrees } from '../adapters/git/git-worktrees.ts'
import { NodeHookRunner } from '../adapters/hooks/node-hook-runner.ts'
import { mcpRunTools } from '../adapters/mcp/mcp-run-tools.ts'
import { FileMemoryFiles } from '../adapters/memory-file/file-memory-files.ts'
import { foldersRead } from '../adapters/place/workspace.ts'
import { extractiveSummarizer } from '../adapters/summary/summarizers.ts'
import { InProcessNotifier } from '../adapters/system/in-process-notifier.ts'
import { nodeProcesses } from '../adapters/system/node-processes.ts'
import { systemClock } from '../adapters/system/system-clock.ts'
import { uuidV7Ids } from '../adapters/system/uuid-v7-ids.ts'
import { DEFAULT_RESTART_BUDGET, type RestartBudget } from '../domain/budget/restart-budget.ts'
import { defined } from '../domain/kernel/defined.ts'
import type { Sha256 } from '../domain/kernel/digest.ts'
import { DEFAULT_RETENTION_MS } from '../domain/kernel/retention-time.ts'
import type { MonitorSettings } from '../domain/window/context-monitor.ts'
import type { WindowSize } from '../domain/window/context-pressure.ts'
import type { AgentProcesses } from '../ports/agent/agent-processes.ts'
import type { HookRunner } from '../ports/agent/hook-runner.ts'
import type { RunTools } from '../ports/agent/run-tools.ts'
import type { Worktrees } from '../ports/agent/worktrees.ts'
import { forQuestions, type Store } from '../ports/store/store.ts'
import { type Logger, silentLogger } from '../ports/system/logger.ts'
import type { Notifier } from '../ports/system/notifier.ts'
import type { RunTelemetry } from '../ports/system/run-telemetry.ts'
import { sha256 } from '../ports/system/sha256.ts'
import type { Clock, IdGenerator } from '../ports/system/system.ts'
import type { MemoryFiles } from '../ports/terminal/memory-file.ts'
import { AuditService } from '../services/audit/audit-service.ts'
import { CommandPruner } from '../services/commands/command-pruner.ts'
import { safeLogger } from '../services/commands/safe-logger.ts'
import { HandoffService, type HandoffServiceDeps } from '../services/handoff-service.ts'
import { HandoffHistory } from '../services/history/handoff-history.ts'
import { LookBack } from '../services/history/look-back-service.ts'
import { RestartRunner } from '../services/run/restart-runner.ts'
import type { AgentRunSettings, RunRequest, RunSettings } from '../services/run/run-request.ts'
import type { PriceOf } from '../services/run/work/cost-meter.ts'
import { ThreadCleanup } from '../services/thread/thread-cleanup.ts'
import type { ThreadDeps, ThreadSettings } from '../services/thread/thread-deps.ts'
import { ThreadHandoffService } from '../services/thread/thread-handoff-service.ts'
import { ContextService } from '../services/window/context-service.ts'
import type { Batonpass } from './batonpass.ts'
import type { BatonpassOptions, StoreOptions } from './options.ts'
import { MEMORY_FILES, memoryFilesOf } from './runtimes.ts'
import { openTelemetry } from './telemetry.ts'

/** The parts of a container: a store that is already open, and the others if wanted. */
export interface ContainerParts extends Omit<BatonpassOptions, keyof StoreOptions> {
  readonly store: Store
}

const token = <T>(name: string): InjectionToken<T> => Symbol(name)

/**
 * The names under which the parts are registered. Every part is made from the others by its name, so that registering
 * another one under a name, before anything is resolved, replaces it everywhere.
 *
 * @example
 * ```ts
 * const parts = buildContainer({ store: new MemoryStore({ clock: systemClock }) })
 * parts.register(TOKENS.redact, { useValue: (text: string) => text.replaceAll('s3cret', '***') })
 * const { handoffs } = parts.resolve(TOKENS.batonpass)
 * console.log(unwrap(await handoffs.openConversation({ originalTask: 'Rotate s3cret' })).conversation.originalTask) // => Rotate ***
 * ```
 */
export const TOKENS = {
  clock: token<Clock>('Clock'),
  ids: token<IdGenerator>('IdGenerator'),
  sha256: token<Sha256>('Sha256'),
  redact: token<(text: string) => string>('Redact'),
  store: token<Store>('Store'),
  logger: token<Logger>('Logger'),
  notifier: token<Notifier>('Notifier'),
  monitorSettings: token<MonitorSettings>('MonitorSettings'),
  restartBudget: token<RestartBudget>('RestartBudget'),
  believedWindow: token<(model: string) => WindowSize | undefined>('BelievedWindow'),
  priceOf: token<PriceOf>('PriceOf'),
  runSettings: token<RunSettings>('RunSettings'),
  agentSettings: token<ReadonlyMap<string, AgentRunSettings>>('AgentSettings'),
  hookRunner: token<HookRunner>('HookRunner'),
  processes: token<AgentProcesses>('AgentProcesses'),
  worktrees: token<Worktrees>('Worktrees'),
  telemetry: token<RunTelemetry>('RunTelemetry'),
  runTools: token<RunTools>('RunTools'),
  handoffService: token<HandoffService>('HandoffService'),
  historyService: token<HandoffHistory>('HandoffHistory'),
  auditService: token<AuditService>('AuditService'),
  contextService: token<ContextService>('ContextService'),
  runHandoffs: token<HandoffService>('RunHandoffs'),
  runContext: token<ContextService>('RunContext'),
  lookBack: token<LookBack>('LookBack'),
  memoryFiles: token<MemoryFiles>('MemoryFiles'),
  threadSettings: token<ThreadSettings>('ThreadSettings'),
  threadCleanup: token<ThreadCleanup>('ThreadCleanup'),
  threadService: token<ThreadHandoffService>('ThreadHandoffService'),
  restartRunner: token<RestartRunner>('RestartRunner'),
  commandPruner: token<Pick<CommandPruner, 'stop'>>('CommandPruner'),
  batonpass: token<Batonpass>('Batonpass'),
} as const

/**
 * Puts the parts together. A child container each time, never the global one: several may live side by side. A part is
 * made when it is first asked for.
 *
 * @example
 * ```ts
 * const parts = buildContainer({ store: new MemoryStore({ clock: systemClock }) })
 * const handoffs = parts.resolve(TOKENS.handoffService)
 * console.log(unwrap(await handoffs.openConversation({ originalTask: 'Rotate the key' })).conversation.originalTask) // => Rotate the key
 * ```
 */
export const buildContainer = (given: ContainerParts): DependencyContainer => {
  const parts = container.createChildContainer()
  const add = <T>(name: InjectionToken<T>, make: (from: DependencyContainer) => T): void => {
    parts.register(name, { useFactory: instanceCachingFactory(make) })
  }
  add(TOKENS.clock, () => given.clock ?? systemClock)
  add(TOKENS.ids, () => given.ids ?? uuidV7Ids)
  add(TOKENS.sha256, () => sha256)
  add(TOKENS.redact, () => given.redact ?? ((text) => text))
  add(TOKENS.store, () => given.store)
  add(TOKENS.logger, () => safeLogger(given.logger ?? silentLogger))
  add(TOKENS.notifier, () => given.notifier ?? new InProcessNotifier())
  add(TOKENS.monitorSettings, () => given.monitor ?? {})
  add(TOKENS.restartBudget, () => given.restartBudget ?? DEFAULT_RESTART_BUDGET)
  add(TOKENS.believedWindow, () => believedWindow)
  add(TOKENS.priceOf, () => given.priceOf ?? listPrice)
  add(TOKENS.runSettings, () => given.runs ?? {})
  add(TOKENS.agentSettings, () => given.agents ?? new Map())
  add(TOKENS.hookRunner, () => given.hookRunner ?? new NodeHookRunner(defined({ allowNetworks: given.allowNetworks })))
  add(TOKENS.processes, () => given.processes ?? nodeProcesses)
  add(TOKENS.worktrees, () => given.worktrees ?? gitWorktrees)
  add(TOKENS.telemetry, () => given.telemetry ?? openTelemetry())
  add(TOKENS.runTools, (from) => given.runTools ?? mcpRunTools(from.resolve(TOKENS.logger)))
  add(TOKENS.handoffService, (from) => new HandoffService(commandsFrom(from)))
  add(TOKENS.historyService, (from) => new HandoffHistory({ store: from.resolve(TOKENS.store) }))
  add(TOKENS.contextService, (from) => new ContextService(commandsFrom(from)))
  // A run shows spans of its own, so its services count commands and show none. A service that somebody else registered
  // is used in runs as it is.
  const forRuns =
    <T extends object>(name: InjectionToken<T>, Service: new (deps: HandoffServiceDeps) => T) =>
    (from: DependencyContainer): T => {
      const service = from.resolve(name)
      return service.constructor === Service ? new Service(withoutCommandSpans(commandsFrom(from))) : service
    }
  add(TOKENS.runHandoffs, forRuns(TOKENS.handoffService, HandoffService))
  add(TOKENS.runContext, forRuns(TOKENS.contextService, ContextService))
  add(TOKENS.lookBack, (from) => {
    const [store, handoffs] = [from.resolve(TOKENS.store), from.resolve(TOKENS.handoffService)]
    return new LookBack({ store, handoffs, logger: from.resolve(TOKENS.logger) })
  })
  add(TOKENS.auditService, (from) => {
    return new AuditService({ store: forQuestions(from.resolve(TOKENS.store)), sha256: from.resolve(TOKENS.sha256) })
  })
  add(TOKENS.memoryFiles, () => given.threads?.files ?? new FileMemoryFiles({ isTracked: isKeptByGit }))
  add(TOKENS.threadSettings, () => given.threads ?? {})
  add(TOKENS.threadCleanup, (from) => new ThreadCleanup(threadsFrom(from)))
  add(TOKENS.threadService, (from) => new ThreadHandoffService(threadsFrom(from)))
  add(TOKENS.restartRunner, runnerFrom)
  add(TOKENS.commandPruner, (from) => prunerFrom(from, given.commandRetentionMs ?? DEFAULT_RETENTION_MS))
  add(TOKENS.batonpass, batonpassFrom)
  return parts
}

/** The parts that every service which commands is made from. */
const commandsFrom = (from: DependencyContainer): HandoffServiceDeps => ({
  store: from.resolve(TOKENS.store),
  clock: from.resolve(TOKENS.clock),
  ids: from.resolve(TOKENS.ids),
  redact: from.resolve(TOKENS.redact),
  notifier: from.resolve(TOKENS.notifier),
  logger: from.resolve(TOKENS.logger),
  monitor: from.resolve(TOKENS.monitorSettings),
  restartBudget: from.resolve(TOKENS.restartBudget),
  believedWindow: from.resolve(TOKENS.believedWindow),
  telemetry: from.resolve(TOKENS.telemetry),
})

const withoutCommandSpans = (deps: HandoffServiceDeps): HandoffServiceDeps => {
  const { command: _, ...counting } = deps.telemetry ?? {}
  return { ...deps, telemetry: counting }
}

const runnerFrom = (from: DependencyContainer): RestartRunner =>
  new RestartRunner({
    ...commandsFrom(from),
    handoffs: from.resolve(TOKENS.runHandoffs),
    history: from.resolve(TOKENS.historyService),
    context: from.resolve(TOKENS.runContext),
    sha256: from.resolve(TOKENS.sha256),
    hookRunner: from.resolve(TOKENS.hookRunner),
    processes: from.resolve(TOKENS.processes),
    settings: from.resolve(TOKENS.runSettings),
    agents: from.resolve(TOKENS.agentSettings),
    telemetry: from.resolve(TOKENS.telemetry),
    priceOf: from.resolve(TOKENS.priceOf),
    worktrees: from.resolve(TOKENS.worktrees),
    lookBack: from.resolve(TOKENS.lookBack),
    tools: from.resolve(TOKENS.runTools),
    threads: from.resolve(TOKENS.threadCleanup),
  })

/** The parts that thread handoffs are made from. */
const threadsFrom = (from: DependencyContainer): ThreadDeps => ({
  store: from.resolve(TOKENS.store),
  handoffs: from.resolve(TOKENS.handoffService),
  clock: from.resolve(TOKENS.clock),
  ids: from.resolve(TOKENS.ids),
  sha256: from.resolve(TOKENS.sha256),
  logger: from.resolve(TOKENS.logger),
  redact: from.resolve(TOKENS.redact),
  files: from.resolve(TOKENS.memoryFiles),
  settings: from.resolve(TOKENS.threadSettings),
  mirror: from.resolve(TOKENS.store).threadSummaries,
  summarizer: extractiveSummarizer,
  placesOf: foldersRead,
  memoryFilesOf,
  memoryFiles: MEMORY_FILES,
})

const prunerFrom = (from: DependencyContainer, keepMs: number | false): Pick<CommandPruner, 'stop'> =>
  keepMs === false
    ? { stop: () => {} }
    : new CommandPruner(from.resolve(TOKENS.store).commands, keepMs, from.resolve(TOKENS.logger))

/** Everything together. Closing it does not close the store, because the store was opened by somebody else. */
const batonpassFrom = (from: DependencyContainer): Batonpass => {
  const runner = from.resolve(TOKENS.restartRunner)
  const pruner = from.resolve(TOKENS.commandPruner)
  const close = async (): Promise<void> => pruner.stop()
  return {
    run: ((request: RunRequest) => runner.run(request)) as Batonpass['run'],
    work: (request) => runner.work(request),
    recover: (request) => runner.recover(request),
    waiting: () => runner.waiting(),
    handoffs: from.resolve(TOKENS.handoffService),
    history: new HandoffHistory({ store: forQuestions(from.resolve(TOKENS.store)) }),
    context: from.resolve(TOKENS.contextService),
    audit: from.resolve(TOKENS.auditService),
    lookBack: from.resolve(TOKENS.lookBack),
    threads: from.resolve(TOKENS.threadService),
    close,
    [Symbol.asyncDispose]: close,
  }
}
