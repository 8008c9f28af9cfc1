import type { RestartBudget } from '../../domain/budget/restart-budget.ts'
import type { Workspace } from '../../domain/conversation/conversation.ts'
import type { HookSettings } from '../../domain/hooks/hook-settings.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { Sha256 } from '../../domain/kernel/digest.ts'
import type { LeaseAsked } from '../../domain/session/process-identity.ts'
import type { MonitorSettings } from '../../domain/window/context-monitor.ts'
import type { WindowSize } from '../../domain/window/context-pressure.ts'
import type { AgentProcesses } from '../../ports/agent/agent-processes.ts'
import type { HookRunner } from '../../ports/agent/hook-runner.ts'
import type { RunTools } from '../../ports/agent/run-tools.ts'
import type { Store } from '../../ports/store/store.ts'
import type { Logger } from '../../ports/system/logger.ts'
import type { RunTelemetry } from '../../ports/system/run-telemetry.ts'
import type { Clock, IdGenerator } from '../../ports/system/system.ts'
import type { HandoffService } from '../handoff-service.ts'
import type { HandoffHistory } from '../history/handoff-history.ts'
import type { LookBack } from '../history/look-back-service.ts'
import type { ThreadCleanup } from '../thread/thread-cleanup.ts'
import type { ContextService } from '../window/context-service.ts'
import type { RunAgents } from './cast.ts'
import { DEFAULT_LEASE_MS, type RunRequest, type RunSettings, type RunSurroundings } from './run-request.ts'
import type { PriceOf } from './work/cost-meter.ts'

/** The dependencies of the runner. */
export interface RunnerDeps extends RunSurroundings {
  readonly handoffs: HandoffService
  readonly history: HandoffHistory
  readonly context: ContextService
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly sha256: Sha256
  /** Calls hooks; without one there are none. */
  readonly hookRunner?: HookRunner
  /** Ends orphaned agent processes of lost runners; without it none is ended. */
  readonly processes?: AgentProcesses
  readonly telemetry?: RunTelemetry
  /** Answers questions of a continued session about earlier windows; without it no session can look back. */
  readonly lookBack?: LookBack
  /** Serves our tools to agents; without it agents have none of them. */
  readonly tools?: RunTools
  /** Removes summaries of threads from memory files; without it none is removed. */
  readonly threads?: Pick<ThreadCleanup, 'clearAround' | 'end' | 'offerAt' | 'otherStoreWaits'>
  /** Gets a line for each event; without it nothing is logged. */
  readonly logger?: Logger
  /** The believed window of a model, until its runtime reports one. */
  readonly believedWindow?: (model: string) => WindowSize | undefined
  /** List prices, for runtimes that report their cost at the end or never. */
  readonly priceOf?: PriceOf
  /** The budget of new conversations, where a run sets none. */
  readonly restartBudget?: RestartBudget
  /** How windows are monitored, where a run sets nothing else. */
  readonly monitor?: MonitorSettings
  /** Hides secrets in events and hook payloads, as it does in everything that is stored. */
  readonly redact?: (text: string) => string
  /** Settings of every run, for what the run does not set itself. */
  readonly settings?: RunSettings
}

/** The terms of a run. In a run of several agents, request and hooks are those of the agent that works now. */
export interface RunTerms<Message = unknown> {
  readonly deps: RunnerDeps
  readonly request: RunRequest<Message>
  readonly hooks: readonly HookSettings[]
  /** The agents of the run, and which of them works now. */
  readonly agents: RunAgents
  /** The lease to request with each session: how long this process may be silent, and its identity. */
  readonly lease: LeaseAsked & { readonly leaseMs: number }
  /** The workspaces of agents that have one of their own. */
  readonly places: ReadonlyMap<string, Workspace>
  /** A setting of this run, or else the one of all runs. */
  readonly setting: <Name extends keyof RunSettings>(name: Name) => RunSettings[Name] | undefined
}

/** The terms of a run with these dependencies and agents. */
export const termsOf = <Message>(
  deps: RunnerDeps,
  agents: RunAgents,
  places: RunTerms['places'],
): RunTerms<Message> => {
  const setting: RunTerms['setting'] = (name) => agents.request[name] ?? deps.settings?.[name]
  const leaseMs = setting('leaseMs') ?? DEFAULT_LEASE_MS
  return {
    deps,
    agents,
    places,
    get request() {
      return agents.request as RunRequest<Message>
    },
    get hooks() {
      return deps.hookRunner === undefined ? [] : (setting('hooks') ?? [])
    },
    lease: { leaseMs, ...defined({ runner: deps.processes?.self?.() }) },
    setting,
  }
}
