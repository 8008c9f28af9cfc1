import { listOf } from '../../domain/input/check.ts'
import { id } from '../../domain/input/words.ts'
import type { AgentSessionId, SignalId } from '../../domain/kernel/ids.ts'
import { err, ok, type Result } from '../../domain/kernel/result.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { isTerminal } from '../../domain/session/agent-session.ts'
import type { ContextSignal } from '../../domain/session/context-signal.ts'
import {
  type ContextMonitor,
  type RestartBarriers,
  standingOfWindow,
  type WindowStanding,
} from '../../domain/window/context-monitor.ts'
import { milestoneProblem } from '../../domain/window/milestone.ts'
import type { MonitorReport, ReportOutcome } from '../../domain/window/monitor-reports.ts'
import type { Page, Paged } from '../../ports/store/page.ts'
import type { Store } from '../../ports/store/store.ts'
import type { CommandTelemetry } from '../../ports/system/command-telemetry.ts'
import type { Logger } from '../../ports/system/logger.ts'
import type { Notifier } from '../../ports/system/notifier.ts'
import type { Clock } from '../../ports/system/system.ts'
import type { Surroundings } from '../commands/command-context.ts'
import { CommandRunner } from '../commands/command-runner.ts'
import * as contexts from '../commands/context-commands.ts'
import type { ReportRequest, SendRequest, WatchRequest } from '../commands/requests.ts'
import { safeLogger } from '../commands/safe-logger.ts'
import { pageOf } from '../history/list-page.ts'
import { askedId, valid } from '../history/questions.ts'
import { announce } from './notices.ts'

/** The dependencies of the service. */
export interface ContextServiceDeps extends Surroundings {
  readonly store: Store
  readonly notifier?: Notifier
  /** Gets log lines; nothing is logged unless given. */
  readonly logger?: Logger
  /** Shows and counts commands; nobody does unless given. */
  readonly telemetry?: CommandTelemetry
}

type Compaction = Extract<MonitorReport, { type: 'compaction' }>

/** The known state of a session's window. */
export interface ContextStatus extends WindowStanding {
  readonly monitor: ContextMonitor
  /** The problem with the stored milestones, if any: until it is repaired nothing is signalled. */
  readonly milestoneProblem?: string
}

/** The outcome of a report, and how full the window is now. */
export interface ContextReport extends ContextStatus {
  readonly outcome: ReportOutcome
  /** The signals that it caused; they are in the queue as well. */
  readonly signals: readonly ContextSignal[]
}

/**
 * Monitors windows: takes reports of runtimes, and signals each milestone once per cycle.
 *
 * Several processes may report on one session at once: the store decides which report was first.
 *
 * @example
 * ```ts
 * await using batonpass = await createBatonpass({ store: 'memory', monitor: { contextLimit: 200_000 } })
 * const { handoffs, context } = batonpass
 * const { conversation } = unwrap(await handoffs.openConversation({ originalTask: 'Fix the flaky test' }))
 * const agent = { agentName: 'claude-code', backend: 'claude_agent_sdk' }
 * const { session } = unwrap(await handoffs.startSession({ conversationId: conversation.id, ...agent }))
 *
 * const reading = { state: 'metered' as const, promptTokens: 130_000, outputTokens: 2_000 }
 * const { outcome, signals } = unwrap(await context.report({ session, report: { type: 'sample', reading } }))
 * console.log(outcome, signals[0]?.milestone) // => ok critical
 * const again = unwrap(await context.report({ session, report: { type: 'sample', reading } }))
 * console.log(again.signals.length) // => 0
 * ```
 */
export class ContextService {
  readonly #store: Store
  readonly #runner: CommandRunner
  readonly #clock: Clock
  readonly #notifying: Parameters<typeof announce>[0]

  constructor(deps: ContextServiceDeps) {
    this.#store = deps.store
    this.#runner = new CommandRunner(deps)
    this.#clock = deps.clock
    this.#notifying = { notifier: deps.notifier, logger: deps.logger && safeLogger(deps.logger) }
  }

  /** Takes a report about a window: a sample, that the runtime is compacting, a compaction, or a clear. */
  async report(request: ReportRequest): Promise<Result<ContextReport, Refusal>> {
    const reported = await this.#reported(await this.#runner.run(contexts.report, request))
    if (reported.ok && request.report.type === 'compaction' && reported.value.outcome === 'compaction_logged')
      this.#logCompaction(request.report, reported.value.monitor)
    return reported
  }

  /**
   * Changes how a session's window is monitored. Switching the monitor on, and changing milestones, begin a new
   * cycle.
   */
  async watch(request: WatchRequest): Promise<Result<ContextReport, Refusal>> {
    return this.#reported(await this.#runner.run(contexts.watch, request))
  }

  /** How full a session's window is, by the last reading. */
  async status(sessionId: AgentSessionId): Promise<Result<ContextStatus, Refusal>> {
    const monitor = await this.#store.monitors.find(askedId(sessionId))
    if (monitor === undefined) return err({ code: 'session.not_found', sessionId })
    const session = await this.#store.sessions.find(monitor.sessionId)
    return ok(statusOf(monitor, { hasEnded: session !== undefined && isTerminal(session) }))
  }

  /** The signals that wait for a session: all urgent ones, then the next in line. Each stays until it is acknowledged. */
  async waiting(session: AgentSessionId): Promise<readonly ContextSignal[]> {
    return this.#store.signals.waiting(askedId(session))
  }

  /** Acknowledges signals of a session. Answers with how many were settled; a second time it is none. */
  async acknowledge(session: AgentSessionId, signals: readonly SignalId[]): Promise<number> {
    return this.#store.signals.acknowledge(
      askedId(session),
      valid(listOf<SignalId>(id), signals, 'signals'),
      this.#clock.now(),
    )
  }

  /** Every signal of a session, oldest first. */
  async signals(session: AgentSessionId, page: Page = {}): Promise<Paged<ContextSignal>> {
    const recipient = askedId(session)
    return pageOf(['signals', recipient], page, (at) => this.#store.signals.listFor(recipient, at))
  }

  /** Queues a message for a session, beside the signals about its window. */
  async send(request: SendRequest): Promise<Result<{ readonly signals: readonly ContextSignal[] }, Refusal>> {
    const sent = await this.#runner.run(contexts.send, request)
    if (!sent.ok) return sent
    const { signals = [] } = sent.value
    await announce(this.#notifying, signals)
    return ok({ signals })
  }

  /** A person who reads the log shall know too: the agent now has only a summary of its window. */
  #logCompaction({ trigger, preTokens }: Compaction, { conversationId, sessionId }: ContextMonitor): void {
    const fields = { conversationId, sessionId, trigger, preTokens: preTokens ?? null }
    this.#notifying.logger?.warn(fields, `the runtime compacted by itself (${trigger})`)
  }

  async #reported(
    reported: Result<{ monitor: ContextMonitor; outcome?: ReportOutcome; signals?: readonly ContextSignal[] }, Refusal>,
  ): Promise<Result<ContextReport, Refusal>> {
    if (!reported.ok) return reported
    // A repeated command answers that it was repeated; its signals are not sent again.
    const { monitor, outcome = 'repeated', signals = [] } = reported.value
    await announce(this.#notifying, signals)
    return ok({ ...statusOf(monitor), outcome, signals })
  }
}

const statusOf = (monitor: ContextMonitor, barriers: RestartBarriers = {}): ContextStatus => {
  const problem = milestoneProblem(monitor.milestones)
  return {
    monitor,
    ...standingOfWindow(monitor, barriers),
    ...(problem !== undefined && { milestoneProblem: problem }),
  }
}
