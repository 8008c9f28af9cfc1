import { deadlineOf, type RestartBudget } from '../../domain/budget/restart-budget.ts'
import type { Conversation, Workspace } from '../../domain/conversation/conversation.ts'
import type { HookSettings } from '../../domain/hooks/hook-settings.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { Sha256 } from '../../domain/kernel/digest.ts'
import type { AgentSessionId, CommandId, HolderToken } from '../../domain/kernel/ids.ts'
import type { RunEvent, RunNews, WindowFigures } from '../../domain/run/run-event.ts'
import { addTotals, NO_TOTALS } from '../../domain/run/run-summary.ts'
import type { AgentSession } from '../../domain/session/agent-session.ts'
import type { LeaseAsked, ProcessIdentity } from '../../domain/session/process-identity.ts'
import {
  type ContextMonitor,
  type MonitorSettings,
  monitoredPressure,
  type PressurePolicy,
} from '../../domain/window/context-monitor.ts'
import type { WindowSize } from '../../domain/window/context-pressure.ts'
import type { UsageTotals } from '../../domain/window/usage-reading.ts'
import type { AgentProcesses } from '../../ports/agent-processes.ts'
import { roundedShare } from '../../ports/hook-payload.ts'
import type { HookRunner } from '../../ports/hook-runner.ts'
import type { Logger } from '../../ports/logger.ts'
import type { RunTelemetry, SessionSpan } from '../../ports/run-telemetry.ts'
import type { Store } from '../../ports/store.ts'
import type { Clock, IdGenerator } from '../../ports/system.ts'
import type { ContextService } from '../context-service.ts'
import type { HandoffHistory } from '../handoff-history.ts'
import type { HandoffService } from '../handoff-service.ts'
import { DEFAULT_LEASE_MS } from './lease.ts'
import { claimantOf } from './recover/gone-runner.ts'
import { type Limits, retryThroughOutage, type Trouble } from './retry-through-outage.ts'
import { SupersededError } from './run-errors.ts'
import { RunLog } from './run-log.ts'
import type { RunRequest, RunSettings } from './run-request.ts'
import type { RunSurroundings } from './run-surroundings.ts'
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
  /** Ends what runners that are gone have left at work; without it nothing is ended. */
  readonly processes?: AgentProcesses
  readonly telemetry?: RunTelemetry
  /** Is told what happens; nobody unless given. */
  readonly logger?: Logger
  /** The believed window of a model, until its runtime reports one. */
  readonly believedWindow?: (model: string) => WindowSize | undefined
  /** List prices, for runtimes that say what they cost at their end or never. */
  readonly priceOf?: PriceOf
  /** The budget of conversations that are opened now, where a run says nothing else. */
  readonly restartBudget?: RestartBudget
  /** How windows are watched unless a run says otherwise. */
  readonly monitor?: MonitorSettings
  /** Applied to what is told of a run, as it is to what is stored. */
  readonly redact?: (text: string) => string
  /** Settings of every run, unless the run says otherwise. */
  readonly settings?: RunSettings
}

/** A session that this process works, and what is watched of its window. */
export interface HeldSession {
  readonly session: AgentSession
  readonly holder: HolderToken
  readonly monitor?: ContextMonitor
}

/** Counts of a run, over all its sessions. */
interface Tally {
  sessions: number
  turns: number
  restarts: number
  totals: UsageTotals
}

/** A run, and how far it has come. Everything in it that matters is in the record as well. */
export class RunInProgress<Message = unknown> {
  readonly deps: RunnerDeps
  readonly request: RunRequest<Message>
  /** As it was last read: a new prompt or another budget changes it. */
  conversation: Conversation
  readonly hooks: readonly HookSettings[]
  readonly leaseMs: number
  /** The lease that is asked for with each session: how long this process may be silent, and which one it is. */
  readonly lease: LeaseAsked
  /** Names this process where it claims handoffs; after a take-over, the process that is gone and had claimed one. */
  claimant: string
  readonly tally: Tally = { sessions: 0, turns: 0, restarts: 0, totals: NO_TOTALS }
  readonly startedMs = performance.now()
  span: SessionSpan | undefined
  /** The model that answers, once it has said so. */
  model: string | undefined
  /** How many restarts of the conversation there were, those of this run included. */
  restartsSoFar = 0
  /** The cost of the conversation before this run. */
  costBefore = 0
  /** The task, while it is asked and not said: it is part of the next launch. */
  unsaidTask: string | undefined
  /** The session that hooks are told of while there is none yet. */
  plannedId: AgentSessionId | undefined
  /** The processes that were launched for a session, all of them: whoever takes it over ends what is left. */
  launched: { readonly sessionId?: AgentSessionId; readonly processes: readonly ProcessIdentity[] } = { processes: [] }
  /** That nobody knows how full the window is was said already. */
  hasToldUnknownWindow = false
  /** While a session is being handed on or ended, and once the run is over. */
  isSettling = false
  readonly log: RunLog
  #isStoreGivenUp = false
  readonly #emit: (event: RunEvent) => void
  readonly #controller = new AbortController()
  #held: HeldSession | undefined

  constructor(given: {
    readonly deps: RunnerDeps
    readonly request: RunRequest<Message>
    readonly conversation: Conversation
    readonly emit: (event: RunEvent) => void
  }) {
    this.deps = given.deps
    this.request = given.request
    this.conversation = given.conversation
    this.#emit = given.emit
    this.log = new RunLog(given.deps.logger)
    const { settings = {}, ids, hookRunner } = given.deps
    this.hooks = hookRunner === undefined ? [] : (given.request.hooks ?? settings.hooks ?? [])
    this.leaseMs = given.request.leaseMs ?? settings.leaseMs ?? DEFAULT_LEASE_MS
    this.lease = defined({ leaseMs: this.leaseMs, runner: given.deps.processes?.self?.() })
    this.claimant = claimantOf(this.lease.runner) ?? `runner-${ids.next()}`
  }

  /** Aborts when the run is cancelled, out of time, or overtaken; its reason says which. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Stops everything, for this reason. The first one counts. */
  stop(reason: Error): void {
    this.#controller.abort(reason)
  }

  get held(): HeldSession {
    if (this.#held === undefined) throw new TypeError('The run has no session yet')
    return this.#held
  }

  get hasSession(): boolean {
    return this.#held !== undefined
  }

  /** Holds this session from now on, or what became of it. */
  hold(held: HeldSession): void {
    this.#held = held
  }

  /** Takes in what a command answered about the session. */
  update({ session, monitor }: { readonly session: AgentSession; readonly monitor?: ContextMonitor }): void {
    this.#held = { ...this.held, session, ...(monitor !== undefined && { monitor }) }
  }

  /** Where the work is done: the conversation's own place, or the one this run names when it has none. */
  get workspace(): Workspace | undefined {
    return this.conversation.workspace ?? this.setting('workspace')
  }

  /** The policy about a full window. */
  get policy(): PressurePolicy {
    return this.request.policy ?? this.#held?.monitor?.policy ?? this.deps.monitor?.policy ?? 'advise'
  }

  /** A choice of this run, or what holds for all. */
  setting<Name extends keyof RunSettings>(name: Name): RunSettings[Name] | undefined {
    return this.request[name] ?? this.deps.settings?.[name]
  }

  /** Carries a command out though the store may be away for a moment; with a time of its own, though the run is stopped. */
  async retryThroughOutage<T>(
    command: (named: { readonly commandId: CommandId }) => Promise<T>,
    { outageMs }: Pick<Limits, 'outageMs'> = {},
  ): Promise<T> {
    const signal = outageMs === undefined ? this.signal : undefined
    const onTrouble = (trouble: Trouble): void => {
      this.#isStoreGivenUp ||= trouble.isGivenUp
      this.log.outage(trouble)
    }
    // Whoever has waited for the store in vain does not wait for it again: each command is tried once then.
    const limits = defined({ outageMs: this.#isStoreGivenUp ? 0 : outageMs, signal })
    const answer = await retryThroughOutage(this.deps.ids, command, { ...limits, onTrouble })
    this.#isStoreGivenUp = false
    return answer
  }

  account(totals: UsageTotals | undefined): void {
    this.tally.totals = addTotals(this.tally.totals, totals)
  }

  /** The cost of the conversation so far, this run included. */
  get costUsd(): number {
    return this.costBefore + (this.tally.totals.costUsd ?? 0)
  }

  emit(news: RunNews): void {
    const { id: conversationId, externalKey } = this.conversation
    const about = { version: 1, conversationId, agentName: this.request.agent, jobId: externalKey ?? null } as const
    const event = { ...news, ...about }
    this.log.take(event)
    this.#emit(event)
  }

  /** How full the window is, as people and hooks are told. */
  figures(): WindowFigures {
    const { monitor } = this.held
    const pressure = monitor === undefined ? undefined : monitoredPressure(monitor)
    if (pressure?.state !== 'known') return { usagePercent: null, inputTokens: null, contextWindow: null }
    const { ratio, usedTokens, window } = pressure
    return { usagePercent: roundedShare(ratio), inputTokens: usedTokens ?? null, contextWindow: window?.tokens ?? null }
  }

  /** The believed window of the requested model, if one was requested. */
  believedWindow(): WindowSize | undefined {
    const model = this.request.model ?? this.#held?.session.model
    return model === undefined ? undefined : this.deps.believedWindow?.(model)
  }

  /** Milliseconds until the conversation's time is over; nothing when it has no deadline. */
  async remainingMs(): Promise<number | undefined> {
    const { id, restartBudget } = this.conversation
    if (restartBudget.deadlineMs === undefined) return undefined
    const [first] = (await this.deps.store.sessions.listForConversation(id, { limit: 1 })).items
    const deadline = first && deadlineOf(restartBudget, first.startedAt)
    return deadline === undefined ? restartBudget.deadlineMs : Date.parse(deadline) - Date.parse(this.deps.clock.now())
  }

  /** @throws whatever the run was stopped for */
  throwIfStopped(): void {
    if (this.signal.aborted) throw this.signal.reason
  }

  /** Somebody else has the session now. */
  overtaken(): SupersededError {
    const { session } = this.held
    return new SupersededError(`Session ${session.id} is worked by somebody else now, so this run has stopped.`)
  }
}
