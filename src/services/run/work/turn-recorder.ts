import { keptName } from '../../../domain/kernel/cut-text.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { RecordTurns } from '../../../domain/recording/record-turns.ts'
import { type Channel, originOn } from '../../../domain/turn/channel.ts'
import { type KnownPrompt, metPrompt, type PromptWords, withPrompt } from '../../../domain/turn/known-prompts.ts'
import type { MessageInput, TurnInput } from '../../../domain/turn/turn.ts'
import type { MonitorReport } from '../../../domain/window/monitor-reports.ts'
import { WindowGauge } from '../../../domain/window/window-gauge.ts'
import type { RuntimeStep } from '../../../ports/agent/agent-runtime.ts'
import type { RecordedText } from '../../../ports/agent/window-reader.ts'
import { TurnCollector } from '../../window/turn-collector.ts'
import { hasHookFor } from '../hooks/hook-calls.ts'
import { outsideHandoffAfter, unlessTakenOver } from '../lease.ts'
import { emitLoweredWindow, emitUnknownWindow, TurnNews } from '../news/agent-news.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import { openThreads, submitThreadWishes } from '../threads/open-threads.ts'
import type { HeardStep } from './launch-watch.ts'
import { RunningTools } from './running-tools.ts'
import { type Leaving, SessionLeaving } from './session-leaving.ts'
import { initiateTransfer } from './session-outcome.ts'
import { SoftLanding } from './soft-landing.ts'
import { TurnExtender } from './turn-extender.ts'

/** How turns are recorded. */
interface Recording extends Pick<RecordTurns, 'handOver'> {
  readonly withholdRestart?: true
}

/** The launch whose agent is recorded. */
interface RecordedLaunch {
  /** All that the agent is sent. */
  readonly prompt: string
  /** The parts of it that are not on record yet: they belong to the turn that answers them. */
  readonly unrecorded: readonly RecordedText[]
  /** Why the session is left already, where it is. */
  readonly leaving?: Leaving
  readonly channel?: Channel
}

/** Records the work of one launched agent: turns, tool calls, readings, compactions and usage. */
export class TurnRecorder {
  readonly #run: RunInProgress
  readonly #gauge: WindowGauge
  readonly #collector: TurnCollector
  readonly #news: TurnNews
  readonly #leaving: SessionLeaving
  readonly #tools = new RunningTools()
  readonly #extender: TurnExtender
  readonly #landing: SoftLanding
  readonly #origins: TextOrigins

  constructor(run: RunInProgress, { prompt, unrecorded, leaving, channel = 'stream' }: RecordedLaunch) {
    this.#run = run
    this.#news = new TurnNews(run)
    this.#leaving = new SessionLeaving(run, leaving)
    this.#extender = new TurnExtender(run)
    this.#landing = new SoftLanding(run)
    this.#origins = new TextOrigins(run.deps, channel)
    this.#origins.sent(prompt)
    const { believedWindow: believed, sha256, redact } = run.deps
    this.#collector = new TurnCollector({ keep: (reading) => reading, sha256, redact })
    this.#gauge = new WindowGauge(defined({ runtime: run.request.runtime.backend, believed }))
    // The opening of a session is on record already. A later prompt belongs to the turn that answers it.
    this.#collector.take({ events: [], texts: unrecorded, isNewTurn: false, reading: this.#gauge.reading() })
  }

  /** Why the session is to be left; undefined while it is not. */
  get leaving(): Leaving | undefined {
    return this.#leaving.why
  }

  /** Whether the agent is to be interrupted, and no running tool would be interrupted with it. */
  get mayInterrupt(): boolean {
    return this.leaving !== undefined && (this.#leaving.isAboutMoney || !this.#tools.areRunning)
  }

  /** Takes a step that is on record already: it counts for the level of the window only. */
  skip({ events }: Pick<RuntimeStep<unknown>, 'events'>): void {
    this.#gauge.take(events)
  }

  /** Records the open turn after a transcript was read back. Unlike {@link finish}, this may lead to a restart. */
  async settle(): Promise<void> {
    // In a session that a restart holds no turn is open: every message was added to the turn before.
    if (this.leaving?.type === 'restart') return
    const turns = this.#collector.last()
    if (turns.length > 0) await this.#record(turns, this.leaving === undefined ? {} : { withholdRestart: true })
  }

  /** Takes the next step of the agent. Once a restart holds the session, its messages are added to the turn before. */
  async take(heard: HeardStep<unknown>): Promise<void> {
    await attachProviderSession(this.#run, heard.step.providerSessionId)
    const { events, reports, isNewTurn: hasRequest } = this.#gauge.take(heard.step.events)
    const step = { ...heard.step, events }
    if (this.leaving === undefined) await this.#report(reports)
    // Before the turn is recorded: a restart that the turn leads to is decided with its cost.
    await this.#account(heard)
    for (const { role, text } of step.texts) if (role === 'assistant') this.#landing.hear(text)
    const { begun } = this.#collector
    const ended = this.#collect(step, hasRequest || step.beginsTurn === true)
    const isNewTurn = this.#collector.begun > begun
    this.#tools.take(step, isNewTurn)
    const before = this.leaving
    // A session that a restart holds takes no more turns. One that is left for a limit does, until it has ended.
    const mayRecord = before?.type !== 'restart' && this.#run.held.session.state === 'active'
    if (mayRecord && step.asksTransfer !== undefined) this.#run.transferWish.submit(step.asksTransfer)
    if (mayRecord) await submitThreadWishes(this.#run, step.asksThreads)
    // The handoff waits until the tools of the turn have answered, so that the turn is complete.
    if (mayRecord && before === undefined && this.#run.transferWish.isOpen && !this.#tools.areRunning)
      await this.#handOver(ended)
    else if (mayRecord) await this.#recordEnded(ended, before === undefined ? {} : { withholdRestart: true })
    if (this.leaving?.type === 'restart') {
      const late = before?.type === 'restart' ? ended.flatMap(({ messages }) => messages) : []
      await this.#extender.add(this.leaving.handoff, [...late, ...this.#collector.drain()])
    }
    if (heard.isOutOfTurns) this.#leaving.reached('turns')
  }

  /** Hands the work to another agent, in the same commit as the turn in which the agent wished for that. */
  async #handOver(ended: readonly TurnInput[]): Promise<void> {
    const wish = this.#run.transferWish.take()
    // The results of tools belong to the turn that called them.
    const turns = ended.length > 0 ? ended : this.#collector.last()
    const handOver = wish && defined({ targetAgent: wish.to, reason: wish.reason, document: wish.document })
    if (turns.length > 0) return this.#record(turns, defined({ withholdRestart: true as const, handOver }))
    const handoff = wish && (await initiateTransfer(this.#run, wish))
    if (handoff !== undefined) this.#leaving.leaveFor(handoff)
  }

  /** Records turns that have ended, and then opens the threads that the agent wished for in them. */
  async #recordEnded(ended: readonly TurnInput[], options: Recording): Promise<void> {
    const delegates = this.#run.threads.hasWishes && !this.#tools.areRunning
    const turns = delegates && ended.length === 0 ? this.#collector.last() : ended
    if (turns.length > 0) await this.#record(turns, options)
    if (delegates) await openThreads(this.#run)
  }

  #collect({ events, texts }: Pick<RuntimeStep<unknown>, 'events' | 'texts'>, isNewTurn: boolean) {
    const attributed = this.#origins.take(texts)
    return this.#collector.take({ events, texts: attributed, isNewTurn, reading: this.#gauge.reading() })
  }

  /** Records the open turn when the agent has stopped: its work is done, or does not continue in this session. */
  async finish(): Promise<void> {
    const isHandedOver = this.#run.transferWish.isOpen && this.leaving === undefined
    const turns = this.#collector.last()
    if (isHandedOver && this.#run.held.session.state === 'active') await this.#handOver(turns)
    else if (turns.length > 0) await this.#record(turns, { withholdRestart: true })
    await openThreads(this.#run)
    if (this.#run.account.turns > 0) emitUnknownWindow(this.#run, this.#gauge)
  }

  /**
   * Records what it can when the agent was interrupted in a turn: every step that was read, whether or not it was
   * passed on.
   */
  async leave(unheard: readonly HeardStep<unknown>[] = []): Promise<void> {
    try {
      for (const heard of unheard) await this.take(heard)
      if (this.leaving?.type !== 'restart' && this.#run.held.session.state === 'active') await this.finish()
    } catch {
      // The store is away, or another process has taken the session over: recovery reads the rest back from the
      // transcript.
    }
  }

  /** The soft landing for the agent, if one is due. An agent whose session is to be left gets none. */
  takeLanding(): string | undefined {
    const text = this.#landing.takeDue()
    return this.leaving === undefined ? text : undefined
  }

  /** Records the soft landing that the agent was sent. It is a text of ours and no prompt, so it begins no turn. */
  recordLanding(text: string): void {
    this.#collector.note(text)
    this.#origins.sent(text)
    this.#landing.delivered()
  }

  /** Whether the agent has stopped for a fresh window, and not because its task is done. */
  get hasLanded(): boolean {
    return this.#landing.hasLanded
  }

  /** Whether the agent has answered again since the session was to be left. */
  get hasMore(): boolean {
    return this.#extender.hasAnswer
  }

  /** The session continues after all: the handoff was cancelled. */
  stay(): void {
    this.#leaving.stay()
  }

  /**
   * Reports a compaction to the monitor, after the turn that came before it. During a compaction nothing is handed off.
   */
  async #report(reports: readonly MonitorReport[]): Promise<void> {
    for (const report of reports) {
      // The sample of a reading is recorded with its turn.
      if (report.type === 'sample') continue
      const before = this.#collector.rest()
      if (before.length > 0) await this.#record(before, { withholdRestart: true })
      await reportWindow(this.#run, report)
    }
  }

  async #record(inputs: readonly TurnInput[], { handOver, ...options }: Recording): Promise<void> {
    const { held, deps, spans } = this.#run
    const window = this.#gauge.windowParts()
    const turns = inputs.map((turn) => ({ ...turn, ...(Object.keys(window).length > 0 && { window }) }))
    const { traceContext } = spans
    // The turn begins no restart where hooks decide about full windows, nor where the work is handed to another agent.
    const isHandedOver = this.#run.transferWish.isOpen
    const withholdRestart =
      options.withholdRestart ?? (isHandedOver || hasHookFor(this.#run, 'on_context_threshold') || undefined)
    // A session that is refused a fresh window is failed later, when its tools have answered, so that their results are
    // recorded.
    const request = { ...held.working, turns, failLater: true, ...defined({ traceContext, withholdRestart, handOver }) }
    const answer = await this.#run.retryThroughOutage((named) => deps.handoffs.recordTurns({ ...request, ...named }))
    const handoff = answer.ok ? undefined : await outsideHandoffAfter(this.#run, answer.error)
    if (handoff !== undefined) {
      // Another caller has handed the session off meanwhile: the messages since then belong to the turn before.
      this.#leaving.leaveFor(handoff)
      return this.#extender.add(
        handoff,
        inputs.flatMap(({ messages }) => messages),
      )
    }
    const recorded = unlessTakenOver(this.#run, answer)
    this.#run.held.update(recorded)
    // Turns of tool results alone, or of a text of ours, do not count: the agent was asked nothing in them.
    const isAsked = ({ role }: MessageInput): boolean => role !== 'tool' && role !== 'system'
    this.#run.account.turnsRecorded(inputs.filter(({ messages }) => messages.some(isAsked)).length)
    this.#news.emit(recorded, this.#gauge.history().model)
    // A runtime may report its window only after the first turn.
    if (recorded.session.progress.turns > 1) emitUnknownWindow(this.#run, this.#gauge)
    this.#landing.consider(recorded)
    await this.#leaving.decide(recorded, isHandedOver || options.withholdRestart === true)
  }

  async #account({ totals, money }: HeardStep<unknown>): Promise<void> {
    const { state } = this.#run.held.session
    // A session that has ended keeps its figures: nobody may write to it.
    if (totals !== undefined && (state === 'active' || state === 'paused')) {
      const request = { ...this.#run.held.working, totals }
      const keep = () =>
        this.#run.retryThroughOutage((named) => this.#run.deps.handoffs.accountSession({ ...request, ...named }))
      this.#run.held.update(unlessTakenOver(this.#run, await keep()))
    }
    if (money?.type === 'exhausted') this.#leaving.reached(money.limit)
    else if (money !== undefined) this.#leaving.uncounted(money.uncounted)
  }
}

/** Finds out who wrote the texts of a session, by their channel and by the prompts that the agent was sent. */
class TextOrigins {
  readonly #how: PromptWords
  readonly #channel: Channel
  /** The prompts that the agent was sent: they are recorded elsewhere, with the origins of their parts. */
  #sent: readonly KnownPrompt[] = []

  constructor(how: PromptWords, channel: Channel) {
    this.#how = how
    this.#channel = channel
  }

  /** Notes a prompt that the agent was sent. */
  sent(text: string): void {
    this.#sent = withPrompt(this.#sent, { by: `prompt ${this.#sent.length + 1}`, text }, this.#how)
  }

  /**
   * The texts with the origins that their channel allows. A runtime that repeats a prompt does not get it recorded
   * twice.
   */
  take(texts: readonly RecordedText[]): readonly RecordedText[] {
    return texts.flatMap((recorded) => {
      if (recorded.role !== 'user') return [recorded]
      const rest = metPrompt(this.#sent, recorded.text, this.#how)
      if (rest === undefined) return [{ ...recorded, origin: originOn(this.#channel, recorded.origin) }]
      this.#sent = rest
      return []
    })
  }
}

/** Stores the runtime's own id of the session, as soon as the runtime has reported it. */
const attachProviderSession = async (
  run: Pick<RunInProgress, 'deps' | 'held' | 'retryThroughOutage'>,
  named: string | undefined,
): Promise<void> => {
  const providerSessionId = keptName(named)
  const { held, deps } = run
  const { state, progress, providerSessionId: stored } = held.session
  // A session that was launched again before its first turn takes the new id.
  const isSettled = stored === providerSessionId || (stored !== undefined && progress.turns > 0)
  if (providerSessionId === undefined || isSettled || state !== 'active') return
  const request = { ...held.working, providerSessionId }
  run.held.update(
    unlessTakenOver(
      run,
      await run.retryThroughOutage((command) => deps.handoffs.attachSession({ ...request, ...command })),
    ),
  )
}

/** Reports to the monitor of the session what the runtime says about the window, and emits compactions. */
const reportWindow = async (run: RunInProgress, report: MonitorReport): Promise<void> => {
  const { session, monitor: before } = run.held
  const reported = await run.retryThroughOutage((named) => run.deps.context.report({ session, report, ...named }))
  const { outcome, monitor } = unlessTakenOver(run, reported)
  run.held.update({ session, monitor })
  if (report.type !== 'compaction' || outcome !== 'compaction_logged') return
  const { trigger, preTokens = null } = report
  run.news.emit({ type: 'context:compaction', sessionId: session.id, trigger, preTokens })
  emitLoweredWindow(run, before)
}
