import { defined } from '../../domain/defined.ts'
import type { HandoffMetadata } from '../../domain/handoff.ts'
import { RESTART } from '../../domain/milestone.ts'
import { type BudgetLimit, mayCarryOn } from '../../domain/restart-budget.ts'
import type { TurnInput } from '../../domain/turn.ts'
import { RefusedError } from '../../domain/unwrap.ts'
import type { WindowEvent } from '../../domain/window-event.ts'
import { reportOf } from '../../domain/window-report.ts'
import { WindowTracker } from '../../domain/window-tracker.ts'
import type { RuntimeStep } from '../../ports/agent-runtime.ts'
import type { RecordedTurns } from '../answers.ts'
import { TurnCollector } from '../turn-collector.ts'
import { hasHooks } from './call-hooks.ts'
import { LaunchAccount } from './launch-account.ts'
import { isOutOfMoney, tellReached } from './limits.ts'
import type { RunInProgress } from './run-in-progress.ts'
import { decideByHooks, tellRefused } from './threshold.ts'
import { TurnLimit } from './turn-limit.ts'

/** Why a session is left: for a fresh window, because there is none to be had, or because its cost cannot be told. */
export type Leaving =
  | { readonly type: 'restart'; readonly handoff: HandoffMetadata }
  | { readonly type: 'exhausted'; readonly limit: BudgetLimit }
  | { readonly type: 'unpriced'; readonly model: string }

/** Records what one launched agent says: turns, tool calls, readings, compactions, and what it used. */
export class TurnDesk {
  readonly #run: RunInProgress
  readonly #tracker: WindowTracker
  readonly #collector = new TurnCollector((reading) => reading)
  readonly #accounts: LaunchAccount
  readonly #limit: TurnLimit
  #lastTurnMs = performance.now()
  #leaving: Leaving | undefined
  /** Tools of the last recorded turn that have not answered yet: they are not cut off. */
  #awaited = 0
  #hasMovedOn = false
  /** Turns that ended after the session was to be left. */
  readonly #unrecorded: TurnInput[] = []
  /** What the agent was launched with, until it was said again. */
  #echo: string | undefined

  constructor(run: RunInProgress, { prompt, isNew }: { readonly prompt: string; readonly isNew: boolean }) {
    this.#run = run
    this.#echo = prompt.trim()
    const { believedWindow: believed } = run.deps
    const runtime = run.request.runtime.backend
    this.#tracker = new WindowTracker(defined({ milestones: [], runtime, believed }))
    this.#accounts = new LaunchAccount(run)
    this.#limit = new TurnLimit(run)
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
    if (this.#leaving === undefined) return false
    // Money is not spent while a tool is waited for, but with the request that follows it.
    const isAboutMoney = 'model' in this.#leaving || ('limit' in this.#leaving && this.#leaving.limit === 'cost')
    return isAboutMoney || this.#awaited <= 0 || this.#hasMovedOn
  }

  /** Takes the next thing the agent said. What it says after the session is to be left waits for {@link finish}. */
  async take(step: RuntimeStep<unknown>): Promise<void> {
    await this.#attach(step.providerSessionId)
    const { turns } = this.#tracker
    for (const event of step.events) this.#tracker.take(event)
    const isNewTurn = this.#tracker.turns > turns || step.beginsTurn === true
    if (this.#leaving === undefined) await this.#report(step.events)
    // Before the turn is recorded: a restart that this turn leads to is decided on what it has cost.
    await this.#account(step)
    const ended = this.#collect(step, isNewTurn)
    if (this.#leaving === undefined && ended.length > 0) await this.#record(ended, {})
    else if (this.#leaving !== undefined) this.#unrecorded.push(...ended)
    const answered = step.texts.filter(({ role }) => role === 'tool').length
    this.#awaited -= answered
    this.#hasMovedOn ||= this.#leaving !== undefined && isNewTurn
    if (this.#limit.take(step, isNewTurn)) this.#reached('turns')
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
    const turns = [...this.#unrecorded.splice(0), ...this.#collector.last()]
    if (turns.length > 0) await this.#record(turns, { withholdRestart: true })
  }

  /** Records what it can when the agent was left in the middle: what was passed on is on record too. */
  async leave(): Promise<void> {
    if (this.#leaving === undefined && this.#run.held.session.state === 'active')
      await this.finish().catch(() => undefined)
  }

  /** Whether something was said that is not recorded, because the session was to be left. */
  get hasMore(): boolean {
    return this.#unrecorded.length > 0 || this.#hasMovedOn
  }

  /** Stays after all: the handoff was called off. */
  stay(): void {
    this.#leaving = undefined
  }

  async #attach(providerSessionId: string | undefined): Promise<void> {
    const { held, deps } = this.#run
    const { state, progress, providerSessionId: known } = held.session
    // What was launched again before anything was recorded goes by its new name.
    const isSettled = known === providerSessionId || (known !== undefined && progress.turns > 0)
    if (providerSessionId === undefined || isSettled || state !== 'active') return
    const request = { ...held, providerSessionId }
    const attached = await this.#run.steadily((named) => deps.handoffs.attachSession({ ...request, ...named }))
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
    this.#awaited = recorded.turns.at(-1)?.toolCalls.length ?? 0
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
    if (!mayCarryOn(limit, this.#run.conversation.restartBudget)) this.#leaving = { type: 'exhausted', limit }
  }

  /** Leaves for a limit of the run itself, unless the session is left already. */
  #reached(limit: BudgetLimit): void {
    if (this.#leaving !== undefined) return
    tellReached(this.#run, limit)
    this.#leaving = { type: 'exhausted', limit }
  }

  async #account(step: RuntimeStep<unknown>): Promise<void> {
    const { session } = this.#run.held
    const model = this.#tracker.history().model ?? this.#run.model ?? session.model
    const totals = this.#accounts.take(step, model)
    // What has ended keeps the figures it had: nobody may write to it any more.
    if (totals !== undefined && (session.state === 'active' || session.state === 'paused')) {
      const request = { ...this.#run.held, totals }
      const keep = () => this.#run.steadily((named) => this.#run.deps.handoffs.accountSession({ ...request, ...named }))
      this.#run.update(this.#mine(await keep()))
    }
    const { unpriced } = this.#accounts
    if (isOutOfMoney(this.#run)) this.#reached('cost')
    else if (unpriced !== undefined) this.#leaving ??= { type: 'unpriced', model: unpriced }
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
