import { keptName } from '../../../domain/kernel/cut-text.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { RecordTurns } from '../../../domain/restart/record-turns.ts'
import { type Channel, originOn } from '../../../domain/turn/channel.ts'
import { type KnownPrompt, metPrompt, type PromptWords, withPrompt } from '../../../domain/turn/known-prompts.ts'
import type { MessageInput, TurnInput } from '../../../domain/turn/turn.ts'
import type { MonitorReport } from '../../../domain/window/monitor-reports.ts'
import { WindowGauge } from '../../../domain/window/window-gauge.ts'
import type { RuntimeStep } from '../../../ports/agent/agent-runtime.ts'
import type { RecordedText } from '../../../ports/agent/window-reader.ts'
import { TurnCollector } from '../../window/turn-collector.ts'
import { hasHooks } from '../hooks/hook-calls.ts'
import { unlessTakenOver, outsideHandoffAfter } from '../lease.ts'
import { TurnNews, tellLoweredWindow, tellUnknownWindow } from '../news/agent-news.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import { submitThreadWishes, openThreads } from '../threads/open-threads.ts'
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

/** Records what one launched agent says: turns, tool calls, readings, compactions, and what it used. */
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
    // What a session opens with is on record; what it is asked later belongs to the turn that answers it.
    this.#collector.take({ events: [], texts: unrecorded, isNewTurn: false, reading: this.#gauge.reading() })
  }

  /** Why the session is to be left, once that is so. */
  get leaving(): Leaving | undefined {
    return this.#leaving.why
  }

  /** Whether the agent can be interrupted without cutting a tool off. */
  get mayInterrupt(): boolean {
    return this.leaving !== undefined && (this.#leaving.isAboutMoney || !this.#tools.areRunning)
  }

  /** Takes what is on record already: only the window is followed by it. */
  skip({ events }: Pick<RuntimeStep<unknown>, 'events'>): void {
    this.#gauge.take(events)
  }

  /** Records what is still open of what others have heard: unlike work that is done, it may lead to a restart. */
  async settle(): Promise<void> {
    // Held by a restart, it has nothing open: that was added to the turn before.
    if (this.leaving?.type === 'restart') return
    const turns = this.#collector.last()
    if (turns.length > 0) await this.#record(turns, this.leaving === undefined ? {} : { withholdRestart: true })
  }

  /** Takes the next thing the agent said. What it says once the session is to be left is added to the turn before. */
  async take(heard: HeardStep<unknown>): Promise<void> {
    const { step: said } = heard
    await attachTo(this.#run, said.providerSessionId)
    const { events, reports, isNewTurn: hasRequest } = this.#gauge.take(said.events)
    const step = { ...said, events }
    if (this.leaving === undefined) await this.#report(reports)
    // Before the turn is recorded: a restart that this turn leads to is decided on what it has cost.
    await this.#account(heard)
    for (const { role, text } of step.texts) if (role === 'assistant') this.#landing.hear(text)
    const { begun } = this.#collector
    const ended = this.#collect(step, hasRequest || step.beginsTurn === true)
    const isNewTurn = this.#collector.begun > begun
    this.#tools.take(step, isNewTurn)
    const before = this.leaving
    // Held by a restart, a session takes no more turns; what is left for a limit does, until it has ended.
    const mayRecord = before?.type !== 'restart' && this.#run.held.session.state === 'active'
    if (mayRecord && said.asksTransfer !== undefined) this.#run.transferWish.submit(said.asksTransfer)
    if (mayRecord) await submitThreadWishes(this.#run, said.asksThreads)
    // Its tools have answered, so that the turn is whole.
    if (mayRecord && before === undefined && this.#run.transferWish.isOpen && !this.#tools.areRunning)
      await this.#handOver(ended)
    else if (mayRecord) await this.#recordEnded(ended, before === undefined ? {} : { withholdRestart: true })
    if (this.leaving?.type === 'restart') {
      const said = before?.type === 'restart' ? ended.flatMap(({ messages }) => messages) : []
      await this.#extender.add(this.leaving.handoff, [...said, ...this.#collector.drain()])
    }
    if (heard.isOutOfTurns) this.#leaving.reached('turns')
  }

  /** Hands the work to the agent that was asked for, in the same commit as the turn that asked for it. */
  async #handOver(ended: readonly TurnInput[]): Promise<void> {
    const wish = this.#run.transferWish.take()
    // What its tools answered is added to the turn that called them.
    const turns = ended.length > 0 ? ended : this.#collector.last()
    const handOver = wish && defined({ targetAgent: wish.to, reason: wish.reason, document: wish.document })
    if (turns.length > 0) return this.#record(turns, defined({ withholdRestart: true as const, handOver }))
    const handoff = wish && (await initiateTransfer(this.#run, wish))
    if (handoff !== undefined) this.#leaving.leaveFor(handoff)
  }

  /** Records turns that have ended, and opens the threads that were asked for after the turn that did. */
  async #recordEnded(ended: readonly TurnInput[], options: Recording): Promise<void> {
    const delegates = this.#run.threads.hasWishes && !this.#tools.areRunning
    const turns = delegates && ended.length === 0 ? this.#collector.last() : ended
    if (turns.length > 0) await this.#record(turns, options)
    if (delegates) await openThreads(this.#run)
  }

  #collect({ events, texts }: Pick<RuntimeStep<unknown>, 'events' | 'texts'>, isNewTurn: boolean) {
    const said = this.#origins.take(texts)
    return this.#collector.take({ events, texts: said, isNewTurn, reading: this.#gauge.reading() })
  }

  /** Records what is still open when the agent has come to rest: its work is done, or will not go on here. */
  async finish(): Promise<void> {
    const isPassedOn = this.#run.transferWish.isOpen && this.leaving === undefined
    const turns = this.#collector.last()
    if (isPassedOn && this.#run.held.session.state === 'active') await this.#handOver(turns)
    else if (turns.length > 0) await this.#record(turns, { withholdRestart: true })
    await openThreads(this.#run)
    if (this.#run.account.turns > 0) tellUnknownWindow(this.#run, this.#gauge)
  }

  /** Records what it can when the agent was left in the middle: what was passed on, or read, is on record too. */
  async leave(unheard: readonly HeardStep<unknown>[] = []): Promise<void> {
    try {
      for (const heard of unheard) await this.take(heard)
      if (this.leaving?.type !== 'restart' && this.#run.held.session.state === 'active') await this.finish()
    } catch {
      // The store is away, or somebody else has the session: whoever recovers it reads back what they can.
    }
  }

  /** The text for the agent at work now, if any. An agent that is being left is told nothing. */
  takeLanding(): string | undefined {
    const text = this.#landing.takeDue()
    return this.leaving === undefined ? text : undefined
  }

  /** Records what was said to the agent at work, as ours: it is no prompt, and begins no exchange. */
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

  /** Stays after all: the handoff was cancelled. */
  stay(): void {
    this.#leaving.stay()
  }

  /** Tells the monitor of a compaction, after the turn that came before it. While it lasts, nothing is handed off. */
  async #report(reports: readonly MonitorReport[]): Promise<void> {
    for (const report of reports) {
      // A sample is what the turn says that is recorded.
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
    // Where hooks decide about a full window, the turn does not; nor where the work goes to another agent.
    const isLeft = this.#run.transferWish.isOpen
    const withholdRestart =
      options.withholdRestart ?? (isLeft || hasHooks(this.#run, 'on_context_threshold') || undefined)
    // Refused a fresh window, it is failed once its tools have answered: what was shown is on record.
    const request = { ...held.working, turns, failLater: true, ...defined({ traceContext, withholdRestart, handOver }) }
    const kept = await this.#run.retryThroughOutage((named) => deps.handoffs.recordTurns({ ...request, ...named }))
    const handoff = kept.ok ? undefined : await outsideHandoffAfter(this.#run, kept.error)
    if (handoff !== undefined) {
      // Somebody handed it on meanwhile: what was said since belongs to the turn before.
      this.#leaving.leaveFor(handoff)
      return this.#extender.add(
        handoff,
        inputs.flatMap(({ messages }) => messages),
      )
    }
    const recorded = unlessTakenOver(this.#run, kept)
    this.#run.held.update(recorded)
    // Results alone, or what we said, are on record as a turn, and nobody was asked for it.
    const isAsked = ({ role }: MessageInput): boolean => role !== 'tool' && role !== 'system'
    this.#run.account.turnsRecorded(inputs.filter(({ messages }) => messages.some(isAsked)).length)
    this.#news.tell(recorded, this.#gauge.history().model)
    // A runtime that is asked for its window may answer after the first turn.
    if (recorded.session.progress.turns > 1) tellUnknownWindow(this.#run, this.#gauge)
    this.#landing.consider(recorded)
    await this.#leaving.decide(recorded, isLeft || options.withholdRestart === true)
  }

  async #account({ totals, money }: HeardStep<unknown>): Promise<void> {
    const { state } = this.#run.held.session
    // What has ended keeps the figures it had: nobody may write to it any more.
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

/** Tells whose words an agent's texts are, by their channel and by the prompts that the agent was sent. */
export class TextOrigins {
  readonly #how: PromptWords
  readonly #channel: Channel
  /** On record already, or to be, with the origins of their parts. */
  #sent: readonly KnownPrompt[] = []

  constructor(how: PromptWords, channel: Channel) {
    this.#how = how
    this.#channel = channel
  }

  /** Notes a prompt that the agent was sent. */
  sent(text: string): void {
    this.#sent = withPrompt(this.#sent, { by: `prompt ${this.#sent.length + 1}`, text }, this.#how)
  }

  /** Texts with the origins that their channel allows. A prompt of ours that a runtime says again is left out, once. */
  take(texts: readonly RecordedText[]): readonly RecordedText[] {
    return texts.flatMap((said) => {
      if (said.role !== 'user') return [said]
      const left = metPrompt(this.#sent, said.text, this.#how)
      if (left === undefined) return [{ ...said, origin: originOn(this.#channel, said.origin) }]
      this.#sent = left
      return []
    })
  }
}

/** Keeps the runtime's own name of the session, as soon as it is known. */
export const attachTo = async (
  run: Pick<RunInProgress, 'deps' | 'held' | 'retryThroughOutage'>,
  named: string | undefined,
): Promise<void> => {
  const providerSessionId = keptName(named)
  const { held, deps } = run
  const { state, progress, providerSessionId: known } = held.session
  // What was launched again before anything was recorded goes by its new name.
  const isSettled = known === providerSessionId || (known !== undefined && progress.turns > 0)
  if (providerSessionId === undefined || isSettled || state !== 'active') return
  const request = { ...held.working, providerSessionId }
  run.held.update(
    unlessTakenOver(run, await run.retryThroughOutage((command) => deps.handoffs.attachSession({ ...request, ...command }))),
  )
}

/** Tells the monitor of the session what its runtime says of the window beside its turns, and others of a compaction. */
export const reportWindow = async (run: RunInProgress, report: MonitorReport): Promise<void> => {
  const { session, monitor: known } = run.held
  const reported = await run.retryThroughOutage((named) => run.deps.context.report({ session, report, ...named }))
  const { outcome, monitor } = unlessTakenOver(run, reported)
  run.held.update({ session, monitor })
  if (report.type !== 'compaction' || outcome !== 'compaction_logged') return
  const { trigger, preTokens = null } = report
  run.news.emit({ type: 'context:compaction', sessionId: session.id, trigger, preTokens })
  tellLoweredWindow(run, known)
}
