import { defined } from '../../../domain/kernel/defined.ts'
import { refusedOnce } from '../../../domain/run/refused-tools.ts'
import { threadOffer } from '../../../domain/thread/thread-offer.ts'
import { keptArgument } from '../../../domain/turn/tool-argument.ts'
import { type ContextMonitor, monitoredPressure } from '../../../domain/window/context-monitor.ts'
import { usableWindow } from '../../../domain/window/context-pressure.ts'
import type { WindowGauge } from '../../../domain/window/window-gauge.ts'
import type { RuntimeStep } from '../../../ports/agent/agent-runtime.ts'
import type { RecordedTurns } from '../../commands/answers.ts'
import type { RunInProgress } from '../run-in-progress.ts'
import { policyOf } from '../run-window.ts'

/** The events about one launched agent: its turns, with the duration of each, and the milestones that they reached. */
export class TurnNews {
  readonly #run: Pick<RunInProgress, 'held' | 'news' | 'log' | 'spans' | 'deps' | 'conversation'>
  #lastTurnMs = performance.now()

  constructor(run: Pick<RunInProgress, 'held' | 'news' | 'log' | 'spans' | 'deps' | 'conversation'>) {
    this.#run = run
  }

  /** Emits the recorded turns, which this model answered. */
  emit(recorded: RecordedTurns, model: string | undefined): void {
    this.#run.held.answeredBy(model)
    const now = performance.now()
    emitTurns(this.#run, recorded, now - this.#lastTurnMs)
    this.#lastTurnMs = now
    emitMilestones(this.#run, recorded)
  }
}

/** Emits the recorded turns to listeners, log and telemetry. */
const emitTurns = (
  run: Pick<RunInProgress, 'held' | 'news' | 'log' | 'spans'>,
  { session, turns }: RecordedTurns,
  durationMs: number,
): void => {
  const figures = run.held.figures()
  const { id: sessionId } = session
  for (const { number, toolCalls: calls, usage } of turns) {
    const toolCalls = calls.map(({ callId, toolName }) => ({ callId, toolName }))
    run.news.emit({ type: 'turn:recorded', sessionId, turn: number, toolCalls, ...figures })
    if (usage.state === 'unknown') run.log.missing('usage', { sessionId, turn: number })
    const tokens =
      usage.state === 'metered' ? { inputTokens: usage.promptTokens, outputTokens: usage.outputTokens } : {}
    const toolNames = toolCalls.map(({ toolName }) => toolName)
    run.spans.turn({ number, ...defined({ model: run.held.answeringModel }), ...tokens, toolNames, durationMs })
  }
}

/** Emits the milestones that the recorded turns have reached. */
const emitMilestones = (
  run: Pick<RunInProgress, 'held' | 'news' | 'deps' | 'conversation'>,
  { session, signals = [] }: RecordedTurns,
): void => {
  for (const { milestone, recipientId } of signals) {
    if (milestone === undefined || recipientId !== session.id) continue
    run.news.emit({ type: 'context:milestone', sessionId: session.id, milestone, ...run.held.figures() })
    if (milestone !== run.deps.threads?.offerAt) continue
    const message = threadOffer(run.conversation.id, milestone)
    run.news.emit({ type: 'run:warning', code: 'thread.offered', message })
  }
}

/** Emits that the usable window is smaller than believed, if a compaction has shown that. */
export const emitLoweredWindow = (
  run: Pick<RunInProgress, 'held' | 'news'>,
  before: ContextMonitor | undefined,
): void => {
  const { monitor, session } = run.held
  const toTokens = monitor?.window.compactedAt
  if (toTokens === undefined || toTokens === before?.window.compactedAt) return
  const fromTokens = usableWindow(before?.window ?? {})?.tokens ?? null
  run.news.emit({ type: 'context:window:lowered', sessionId: session.id, fromTokens, toTokens })
}

/** Emits, once in a run, that the level of the window is unknown: a restart that is due cannot be seen. */
export const emitUnknownWindow = (
  run: Pick<RunInProgress, 'request' | 'deps' | 'held' | 'news'>,
  gauge: WindowGauge,
): void => {
  const hasRead = gauge.history().lastContext !== undefined
  const { monitor, session } = run.held
  if (policyOf(run) !== 'auto' || monitor?.isEnabled !== true) return
  const pressure = monitoredPressure(monitor)
  // After a compaction there is no reading for a while; that needs no event.
  if (pressure.state === 'known' || (pressure.why === 'no_reading' && hasRead)) return
  const model = run.held.model ?? null
  run.news.emitOnce({ type: 'context:window:unknown', sessionId: session.id, why: pressure.why, model })
}

/** Counts the refused tool calls and the ones that changed files, and emits each refusal. */
export const countRefusedTools = (
  { account, deps, held, news, request }: Pick<RunInProgress, 'account' | 'deps' | 'held' | 'news' | 'request'>,
  { refused = [], writes = 0 }: Pick<RuntimeStep<unknown>, 'refused' | 'writes'>,
): void => {
  account.wrote(writes)
  for (const call of refused) {
    const { toolName, isWrite, allowedBy = null } = call
    account.toolRefused(refusedOnce(request.agent.trim(), call))
    const shown = call.argument === undefined ? null : keptArgument(deps.redact?.(call.argument) ?? call.argument)
    const sessionId = held.session.id
    news.emit({ type: 'tool:refused', sessionId, toolName, argument: shown, isWrite, allowedBy })
  }
}
