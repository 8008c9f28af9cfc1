import { keptName } from '../../domain/cut-text.ts'
import { defined } from '../../domain/defined.ts'
import { RESTART } from '../../domain/milestone.ts'
import type { BudgetLimit } from '../../domain/restart-budget.ts'
import { addTotals, NO_TOTALS } from '../../domain/run-summary.ts'
import type { TurnInput } from '../../domain/turn.ts'
import { RefusedError } from '../../domain/unwrap.ts'
import type { UsageTotals } from '../../domain/usage-reading.ts'
import type { WindowEvent } from '../../domain/window-event.ts'
import { reportOf } from '../../domain/window-report.ts'
import { WindowTracker } from '../../domain/window-tracker.ts'
import type { RuntimeStep } from '../../ports/agent-runtime.ts'
import type { RecordedTurns } from '../answers.ts'
import { TurnCollector } from '../turn-collector.ts'
import { Afterwards, type Leaving } from './afterwards.ts'
import { hasHooks } from './call-hooks.ts'
import type { RunInProgress } from './run-in-progress.ts'
import { RunningTools } from './running-tools.ts'
import { decideByHooks, tellRefused } from './threshold.ts'

/** Records what one launched agent says: turns, tool calls, readings, compactions, and what it used. */
export class TurnDesk {
  readonly #run: RunInProgress
  readonly #tracker: WindowTracker
  readonly #collector: TurnCollector
  /** What the session had used before this launch. */
  readonly #before: UsageTotals
  #lastTurnMs = performance.now()
  #leaving: Leaving | undefined
  readonly #tools = new RunningTools()
  readonly #afterwards: Afterwards
  /** What the agent was launched with, until it was said again. */
  #echo: string | undefined

  constructor(
    run: RunInProgress,
    { prompt, isNew, leaving }: { readonly prompt: string; readonly isNew: boolean; readonly leaving?: Leaving },
  ) {
    this.#run = run
    this.#leaving = leaving
    this.#afterwards = new Afterwards(run)
    this.#echo = prompt.trim()
    const { believedWindow: believed, sha256 } = run.deps
    this.#collector = new TurnCollector({ keep: (reading) => reading, sha256 })
    const runtime = run.request.runtime.backend
    this.#tracker = new WindowTracker(defined({ milestones: [], runtime, believed }))
    this.#before = run.held.session.totals ?? NO_TOTALS
    // What a session opens with is on record; what it is asked later belongs to the turn that answers it.
    const texts = isNew ? [{ role: 'user' as const, text: prompt }] : []
    this.#collector.take({ events: [], texts, isNewTurn: false, tracker: this.#tracker })
  }

  /** Why the session is to be left, once that is so. */
  get leaving(): Leaving | undefined {
    return this.#leaving
  }

  /** Whether the agent can be interrupted without cutting a tool off. */
  get mayInterrupt(): boolean {
    return this.#leaving !== undefined && !this.#tools.areRunning
  }

  /** Takes what is on record already: only the window is followed by it. */
  skip({ events }: Pick<RuntimeStep<unknown>, 'events'>): void {
    for (const event of events) this.#tracker.take(event)
  }

  /** Records what is still open of what others have heard: unlike work that is done, it may lead to a restart. */
  async settle(): Promise<void> {
    if (this.#leaving !== undefined) return
    const turns = this.#collector.last()
    if (turns.length > 0) await this.#record(turns, {})
  }

  /** Takes the next thing the agent said. What it says once the session is to be left is added to the turn before. */
  async take(step: RuntimeStep<unknown>): Promise<void> {
    await this.#attach(step.providerSessionId)
    const { turns } = this.#tracker
    for (const event of step.events) this.#tracker.take(event)
    if (this.#leaving === undefined) await this.#report(step.events)
    const { begun } = this.#collector
    const ended = this.#collect(step, this.#tracker.turns > turns || step.beginsTurn === true)
    const isNewTurn = this.#collector.begun > begun
    this.#tools.take(step, isNewTurn)
    const wasLeaving = this.#leaving !== undefined
    if (!wasLeaving && ended.length > 0) await this.#record(ended, {})
    if (this.#leaving?.type === 'restart') {
      const said = wasLeaving ? [...ended.flatMap(({ messages }) => messages)] : []
      await this.#afterwards.add(this.#leaving.handoff, [...said, ...this.#collector.drain()])
    }
    if (step.totals !== undefined) await this.#account(step.totals)
  }

  /** The prompt is on record, or will be; some runtimes say it again. */
  #collect({ events, texts }: Pick<RuntimeStep<unknown>, 'events' | 'texts'>, isNewTurn: boolean) {
    const echo = texts.findIndex(({ role, text }) => role === 'user' && text.trim() === this.#echo)
    if (echo !== -1) this.#echo = undefined
    const said = texts.filter((_, index) => index !== echo)
    return this.#collector.take({ events, texts: said, isNewTurn, tracker: this.#tracker })
  }

  /** Records what is still open when the agent has come to rest: its work is done, or will not go on here. */
  async finish(): Promise<void> {
    const turns = this.#collector.last()
    if (turns.length > 0) await this.#record(turns, { withholdRestart: true })
  }

  /** Records what it can when the agent was left in the middle: what was passed on is on record too. */
  async leave(): Promise<void> {
    if (this.#leaving === undefined && this.#run.held.session.state === 'active')
      await this.finish().catch(() => undefined)
  }

  /** Whether the agent has answered again since the session was to be left. */
  get hasMore(): boolean {
    return this.#afterwards.hasAnswer
  }

  /** Stays after all: the handoff was called off. */
  stay(): void {
    this.#leaving = undefined
  }

  async #attach(named: string | undefined): Promise<void> {
    const providerSessionId = keptName(named)
    const { held, deps } = this.#run
    const { state, progress, providerSessionId: known } = held.session
    // What was launched again before anything was recorded goes by its new name.
    const isSettled = known === providerSessionId || (known !== undefined && progress.turns > 0)
    if (providerSessionId === undefined || isSettled || state !== 'active') return
    const request = { ...held, providerSessionId }
    const attached = await this.#run.steadily((command) => deps.handoffs.attachSession({ ...request, ...command }))
    this.#run.update(this.#mine(attached))
  }

  /** Tells the monitor of a compaction, after the turn that came before it. While it lasts, nothing is handed off. */
  async #report(events: readonly WindowEvent[]): Promise<void> {
    for (const event of events) {
      const report = reportOf(event)
      if (report === undefined) continue
      const before = this.#collector.rest()
      if (before.length > 0) await this.#record(before, { withholdRestart: true })
      const { session } = this.#run.held
      const reported = await this.#run.steadily((named) => this.#run.deps.context.report({ session, report, ...named }))
      const { outcome, monitor } = this.#mine(reported)
      this.#run.update({ session, monitor })
      if (report.type !== 'compaction' || outcome !== 'compaction_logged') continue
      const { trigger, preTokens = null } = report
      this.#run.emit({ type: 'context:compaction', sessionId: session.id, trigger, preTokens })
    }
  }

  async #record(inputs: readonly TurnInput[], options: { readonly withholdRestart?: true }): Promise<void> {
    const { held, deps, span } = this.#run
    const window = this.#tracker.windowParts()
    const turns = inputs.map((turn) => ({ ...turn, ...(Object.keys(window).length > 0 && { window }) }))
    const traceContext = span?.traceContext
    // Where hooks decide about a full window, the turn does not.
    const withholdRestart = options.withholdRestart ?? (hasHooks(this.#run, 'on_context_threshold') || undefined)
    const request = { ...held, turns, ...defined({ traceContext, withholdRestart }) }
    const keep = () => this.#run.steadily((named) => deps.handoffs.recordTurns({ ...request, ...named }))
    const recorded = this.#mine(await keep())
    this.#run.update(recorded)
    this.#run.tally.turns += recorded.turns.length
    this.#tell(recorded)
    await this.#decide(recorded, options.withholdRestart === true)
  }

  #tell(recorded: RecordedTurns): void {
    const { session, turns, signals = [] } = recorded
    const figures = this.#run.figures()
    const now = performance.now()
    this.#run.model = this.#tracker.history().model ?? this.#run.model
    for (const turn of turns) {
      const toolCalls = turn.toolCalls.map(({ callId, toolName }) => ({ callId, toolName }))
      this.#run.emit({ type: 'turn:recorded', sessionId: session.id, turn: turn.number, toolCalls, ...figures })
      const { usage } = turn
      const tokens =
        usage.state === 'metered' ? { inputTokens: usage.promptTokens, outputTokens: usage.outputTokens } : {}
      const toolNames = toolCalls.map(({ toolName }) => toolName)
      const { model } = this.#run
      this.#run.span?.turn({
        number: turn.number,
        ...defined({ model }),
        ...tokens,
        toolNames,
        durationMs: now - this.#lastTurnMs,
      })
    }
    this.#lastTurnMs = now
    for (const { milestone, recipientId } of signals)
      if (milestone !== undefined && recipientId === session.id)
        this.#run.emit({ type: 'context:milestone', sessionId: session.id, milestone, ...figures })
  }

  async #decide(recorded: RecordedTurns, isWithheld: boolean): Promise<void> {
    const { handoff, refusedBy, session, signals = [] } = recorded
    if (handoff !== undefined) this.#leaving = { type: 'restart', handoff }
    else if (refusedBy !== undefined) {
      tellRefused(this.#run, refusedBy)
      this.#exhausted(refusedBy)
    } else if (
      !isWithheld &&
      signals.some(({ milestone, aboutId }) => milestone === RESTART && aboutId === session.id)
    ) {
      const decided = await decideByHooks(this.#run)
      if (decided?.handoff !== undefined) this.#leaving = { type: 'restart', handoff: decided.handoff }
      if (decided?.refusedBy !== undefined) this.#exhausted(decided.refusedBy)
    }
  }

  #exhausted(limit: BudgetLimit): void {
    if (this.#run.conversation.restartBudget.whenExhausted === 'stop') this.#leaving = { type: 'exhausted', limit }
  }

  async #account(totals: UsageTotals): Promise<void> {
    const { held, deps } = this.#run
    const { totals: known = this.#before, state } = held.session
    const now = addTotals(this.#before, totals)
    this.#run.account(differenceOf(now, known))
    // What has ended keeps the figures it had: nobody may write to it any more.
    if (state === 'active' || state === 'paused')
      this.#run.update(
        this.#mine(
          await this.#run.steadily((named) => deps.handoffs.accountSession({ ...held, totals: now, ...named })),
        ),
      )
  }

  /** The answer, unless somebody else has the session now. */
  #mine<T>(
    answer: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: RefusedError['refusal'] },
  ): T {
    if (answer.ok) return answer.value
    if (['session.superseded', 'session.not_active', 'session.illegal_transition'].includes(answer.error.code))
      throw this.#run.overtaken()
    throw new RefusedError(answer.error)
  }
}

const differenceOf = (now: UsageTotals, before: UsageTotals): UsageTotals =>
  defined({
    inputTokens: Math.max(0, now.inputTokens - before.inputTokens),
    outputTokens: Math.max(0, now.outputTokens - before.outputTokens),
    requests: now.requests === undefined ? undefined : Math.max(0, now.requests - (before.requests ?? 0)),
    costUsd: now.costUsd === undefined ? undefined : Math.max(0, now.costUsd - (before.costUsd ?? 0)),
  })
