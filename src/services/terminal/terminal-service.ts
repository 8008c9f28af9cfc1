import { defined } from '../../domain/kernel/defined.ts'
import { type AgentSessionId, agentSessionId } from '../../domain/kernel/ids.ts'
import { HOOKS_WITH_VARIABLES } from '../../ports/terminal/wire.ts'
import { derivedCommand } from '../commands/derived-command.ts'
import { AfterCompaction } from './after-compaction.ts'
import { CandidateEvents } from './candidate-events.ts'
import { CandidateSuccession } from './candidate-succession.ts'
import { Candidates } from './candidates.ts'
import { Cards } from './cards.ts'
import type { FollowedSession } from './followed-session.ts'
import {
  type HookAnswer,
  type HookEventName,
  type HookOutcome,
  redactedEvent,
  type TerminalHookEvent,
} from './hook-event.ts'
import { PendingDocuments } from './pending-documents.ts'
import { isTask, notePrompts } from './seen-prompts.ts'
import { SerialQueue } from './serial-queue.ts'
import { Summaries } from './summaries.ts'
import { Sweep } from './sweep.ts'
import type { TerminalDeps } from './terminal-deps.ts'
import { type TerminalSession, TerminalSessions } from './terminal-sessions.ts'
import { TerminalSignals } from './terminal-signals.ts'
import { TurnImport } from './turn-import.ts'
import { Compactions, outcomeOf, reported, Samples, triggerIn } from './window-reports.ts'

/** Events after which there may be more to give back after a compaction, or to the session that comes next. */
const REFRESHING: readonly HookEventName[] = [
  'session-start',
  'user-prompt-submit',
  'pre-compact',
  'stop',
  'session-end',
]

const UNKNOWN: HookAnswer = { outcome: 'unknown_session', signals: [] }

/**
 * Takes the events of terminal sessions, in which a person works and hooks report. It decides nothing: it registers,
 * finds, reports, imports and passes signals on, and the domain says what that means.
 *
 * The events of one session are taken one after the other. An event that is delivered again changes nothing.
 */
export class TerminalService {
  readonly sessions: TerminalSessions
  readonly signals: TerminalSignals
  readonly cards: Cards
  readonly compactions: Compactions
  readonly samples: Samples
  readonly turns: TurnImport
  readonly documents: PendingDocuments
  readonly #candidates: CandidateEvents
  readonly #afterCompaction: AfterCompaction
  readonly #sweep: Sweep
  readonly #summaries: Summaries
  readonly #deps: TerminalDeps
  readonly #queue = new SerialQueue()

  constructor(deps: TerminalDeps) {
    this.#deps = deps
    this.sessions = new TerminalSessions(deps)
    this.signals = new TerminalSignals(deps, this.sessions)
    this.#afterCompaction = new AfterCompaction(deps)
    this.cards = new Cards(deps, this.#afterCompaction)
    this.compactions = new Compactions(deps)
    this.samples = new Samples(deps)
    this.turns = new TurnImport(deps, this.sessions, this.compactions)
    this.documents = new PendingDocuments(deps, this.sessions)
    this.#summaries = new Summaries(deps)
    const candidates = new Candidates(deps, this.sessions, this.documents)
    const { sessions, documents, turns } = this
    const inTurn: TerminalService['inTurn'] = (id, work) => this.inTurn(id, work)
    const parts = { sessions, documents, turns, candidates, inTurn }
    const succession = new CandidateSuccession(deps, parts)
    this.#candidates = new CandidateEvents({ ...parts, succession })
    this.#sweep = new Sweep(deps, { ...parts, succession })
  }

  /** Whether an event is being taken now. */
  get isBusy(): boolean {
    return this.#queue.isBusy
  }

  /** Takes an event. Everything it means is stored when this answers. */
  async take(event: TerminalHookEvent): Promise<HookAnswer> {
    // A session that starts may continue a conversation whose last terminal was killed: nobody works it any more.
    if (event.event === 'session-start') await this.#sweep.endGone()
    return this.inTurn(event.input.providerSessionId, async () => {
      const answer = await this.#take(redactedEvent(event, this.#deps.redact))
      this.#deps.onTaken?.(event.input.hiddenByHook ?? 0)
      return answer
    })
  }

  /** Does something about a session while nothing else happens to it here. */
  inTurn<T>(providerSessionId: string, work: () => Promise<T>): Promise<T> {
    return this.#queue.run(providerSessionId, work)
  }

  /** Makes a session of a candidate that somebody asks about, in its turn: its agent is at work. */
  async settle(providerSessionId: string): Promise<void> {
    await this.#candidates.settle(providerSessionId)
  }

  /** Ends the sessions whose agent is gone, though nobody said so. Never from inside a session's turn. */
  endGone(): Promise<void> {
    return this.#sweep.endGone()
  }

  /** Finishes what was interrupted, and ends what has waited long enough. Never from inside a session's turn. */
  sweep(): Promise<void> {
    return this.#sweep.run()
  }

  async #take(event: TerminalHookEvent): Promise<HookAnswer> {
    const { input } = event
    const isSubagent = input.agentId !== undefined
    const begins = event.event === 'session-start' && !isSubagent
    const stuck = begins ? await this.#summaries.clear(input.cwd) : undefined
    const asCandidate = isSubagent ? undefined : await this.#candidates.take(event)
    if (asCandidate !== undefined) return asCandidate
    const at = begins ? await this.#register(event) : await this.#find(event)
    if (at === undefined) return begins ? { outcome: 'not_registered', signals: [] } : UNKNOWN
    const sessionId = at.session.id
    // A subagent has a window of its own, and nothing of it is said about this one.
    if (isSubagent) return { outcome: 'ok', sessionId, signals: [] }
    const outcome = at.hasTaken(event.commandId) ? 'repeated' : await this.#handle(at, event)
    await this.#summaries.at(at, event.event)
    if (stuck !== undefined) at.keep({ notice: stuck })
    if (event.event !== 'statusline') at.remember(event.commandId)
    const signals = await this.signals.at(at, event.event)
    this.#summaries.offer(at, signals)
    const { notice } = at.tracking
    if (event.event === 'user-prompt-submit') at.keep({ notice: undefined })
    await this.#prepare(at, event)
    await this.sessions.keep(at)
    await this.cards.write(at, event.event === 'statusline' ? undefined : signals)
    const isCompacted = event.event === 'session-start' && input.source === 'compact'
    const given = isCompacted ? await this.#afterCompaction.textFor(at) : undefined
    const notices = [notice, given?.notice].filter((each) => each !== undefined)
    const forPerson = { notice: notices.length === 0 ? undefined : notices.join('\n') }
    return defined({ outcome, sessionId: at.session.id, signals, inject: given?.text, ...forPerson })
  }

  /** Makes the texts anew that later sessions, or this one after a compaction, are given while no service may run. */
  async #prepare(at: FollowedSession, { event }: TerminalHookEvent): Promise<void> {
    if (!REFRESHING.includes(event)) return
    await this.#afterCompaction.refresh(at)
    await this.documents.refresh(at)
  }

  async #handle(at: FollowedSession, event: TerminalHookEvent): Promise<HookOutcome> {
    const { input } = event
    if (input.transcriptPath !== undefined && input.transcriptPath !== at.tracking.transcriptPath)
      at.keep({ transcriptPath: input.transcriptPath })
    if (event.event === 'statusline') return this.#sample(at, event)
    if (HOOKS_WITH_VARIABLES.some((hook) => hook === event.event)) at.keep({ variables: input.variables })
    this.samples.forget(at.providerSessionId)
    switch (event.event) {
      case 'session-start':
        return this.#started(at, event)
      case 'user-prompt-submit':
        await this.#noteTask(at, event)
        await this.turns.take(at, { isAtRest: true })
        return 'ok'
      case 'post-tool-use':
        await this.turns.take(at, defined({ isAtRest: false, upTo: input.toolCalls, waitMs: event.waitMs }))
        return 'ok'
      case 'pre-compact':
        await this.turns.take(at, { isAtRest: true })
        return this.compactions.begin(at, triggerIn(input.trigger), event.at)
      case 'post-compact':
        return this.#compacted(at, event, 'post')
      case 'stop':
        await this.turns.take(at, defined({ isAtRest: true, upTo: 'answer' as const, waitMs: event.waitMs }))
        return 'ok'
      case 'session-end':
        await this.turns.take(at, { isAtRest: true })
        await this.documents.endSession(at, event.commandId)
        return 'ok'
      case 'ack':
        await this.#deps.context.acknowledge(at.session.id, input.signals ?? [])
        return 'ok'
      default:
        return event.event satisfies never
    }
  }

  #find({ event, input: { providerSessionId } }: TerminalHookEvent): Promise<FollowedSession | undefined> {
    return event === 'statusline'
      ? this.sessions.findForSample(providerSessionId)
      : this.sessions.find(providerSessionId)
  }

  async #register({ runtime, input }: TerminalHookEvent): Promise<FollowedSession | undefined> {
    const { providerSessionId, model, cwd } = input
    const parentSessionId = await this.#parentIn(input.parentSessionId)
    const start: TerminalSession = defined({ runtime, providerSessionId, model, cwd, parentSessionId })
    const registered = await this.sessions.register(start)
    if (registered.ok) return registered.value
    this.#deps.logger.warn({ refusal: registered.error.code }, 'a terminal session was not registered')
    return undefined
  }

  /** The environment may name a session that is not here: of another store, or long gone. */
  async #parentIn(text: string | undefined): Promise<AgentSessionId | undefined> {
    try {
      return text === undefined ? undefined : (await this.#deps.store.sessions.find(agentSessionId(text)))?.id
    } catch (error) {
      if (error instanceof TypeError) return undefined
      throw error
    }
  }

  async #started(at: FollowedSession, event: TerminalHookEvent): Promise<HookOutcome> {
    const { source, cwd } = event.input
    const isNoted = (this.#deps.agentOf?.(at.providerSessionId) ?? 'unknown') !== 'unknown'
    at.keep({ cwd: cwd ?? at.tracking.cwd, hasEnded: undefined, isNoted: isNoted || undefined })
    if (source === 'compact') return this.#compacted(at, event, 'start')
    if (source !== 'clear' || at.isNew) return 'ok'
    const command = derivedCommand(this.#deps.sha256, event.commandId, 'cleared')
    return outcomeOf(
      await reported(this.#deps, at, defined({ type: 'cleared' as const, producedAt: event.at }), command),
    )
  }

  async #compacted(at: FollowedSession, event: TerminalHookEvent, by: 'start' | 'post'): Promise<HookOutcome> {
    await this.turns.take(at, { isAtRest: true })
    const trigger = triggerIn(event.input.trigger)
    return this.compactions.tell(at, by, defined({ trigger, producedAt: event.at }))
  }

  async #sample(at: FollowedSession, { input, at: producedAt }: TerminalHookEvent): Promise<HookOutcome> {
    const { costUsd } = input
    if (costUsd !== undefined && costUsd !== at.tracking.costUsd) at.keep({ costUsd })
    return this.samples.take(at, input.raw, producedAt)
  }

  /** A prompt is the person's word, and the task of the conversation. What a runtime asks itself is neither. */
  async #noteTask(at: FollowedSession, { commandId, input: { prompt = '' } }: TerminalHookEvent): Promise<void> {
    notePrompts(this.#deps, at, [{ by: commandId, text: prompt }])
    const isOwn = this.#deps.readers.transcripts(at.runtime).isOwnPrompt?.(prompt) === true
    if (at.tracking.holder === undefined || isOwn || !isTask(prompt)) return
    const named = derivedCommand(this.#deps.sha256, commandId, 'prompt')
    await this.#deps.handoffs.askConversation({ conversation: at.session.conversationId, prompt, commandId: named })
  }
}
