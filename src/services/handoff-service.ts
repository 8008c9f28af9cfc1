import type { AgentSession, WorkingSession } from '../domain/agent-session.ts'
import type { ContextMonitor } from '../domain/context-monitor.ts'
import type { ContextWindowSnapshot } from '../domain/context-snapshot.ts'
import type { Conversation } from '../domain/conversation.ts'
import type { RestartBegun } from '../domain/decisions/begin-restart.ts'
import type { SessionResumed } from '../domain/decisions/change-session.ts'
import type { OpenConversation } from '../domain/decisions/open-conversation.ts'
import type { ThreadOpened } from '../domain/decisions/open-thread.ts'
import type { HandoffAccepted, HandoffCompleted } from '../domain/decisions/settle-handoff.ts'
import type { SessionStartedAnswer, StartSession } from '../domain/decisions/start-session.ts'
import { defined } from '../domain/defined.ts'
import type { Refusal } from '../domain/refusal.ts'
import { ok } from '../domain/result.ts'
import type { Notifier } from '../ports/notifier.ts'
import type { Store } from '../ports/store.ts'
import type { HandoffAndSource, RecordedTurns, Reply } from './answers.ts'
import { ClaimSpread } from './claim-spread.ts'
import type { CommandContext } from './command-inputs.ts'
import { CommandRunner } from './command-runner.ts'
import { standingOfWindow } from './context-service.ts'
import {
  acceptingHandoff,
  claimingNext,
  completingHandoff,
  endingHandoff,
  initiatingHandoff,
  openingThread,
} from './handoff-commands.ts'
import { HandoffHistory } from './handoff-history.ts'
import { announce } from './notifying.ts'
import { pauseFor } from './pause-for.ts'
import { findSnapshot } from './receipts.ts'
import type {
  AcceptRequest,
  AccountRequest,
  AttachRequest,
  ClaimNextRequest,
  CompleteRequest,
  EndRequest,
  FailSessionRequest,
  HooksRequest,
  InitiateRequest,
  KeepCheckpointRequest,
  OnSession,
  PrepareRequest,
  RecordTurnRequest,
  RecordTurnsRequest,
  Repeatable,
  RestartRequest,
  ResumeRequest,
  TakeOverRequest,
  ThreadRequest,
} from './requests.ts'
import { beginningRestart, keepingCheckpoint, preparingHandoff, recordingHooks } from './restart-commands.ts'
import {
  accountingSession,
  attachingSession,
  capturingSnapshot,
  completingSession,
  failingSession,
  openingConversation,
  pausingSession,
  recordingTurns,
  resumingSession,
  startingSession,
  takingOverSession,
} from './session-commands.ts'

/** What the service needs around it. */
export interface HandoffServiceDeps extends Omit<CommandContext, 'storeNow'> {
  readonly store: Store
  /** Is told of what recorded turns say about their windows. */
  readonly notifier?: Notifier
}

const POLL_MS = 250

/**
 * Records turns, snapshots and session transitions, and passes conversations on.
 *
 * Every command answers with a value or a {@link Refusal}, takes an optional `commandId` that makes repeating it safe,
 * and throws `StoreFailure` only when the store broke.
 *
 * @example
 * ```ts
 * const store = new MemoryStore({ clock: new FixedClock() })
 * const service = new HandoffService({ store, clock: new FixedClock(), ids: new CountingIds() })
 *
 * const { conversation } = unwrap(await service.openConversation({ originalTask: 'Fix the flaky test' }))
 * const agent = { agentName: 'claude-code', backend: 'claude_agent_sdk' }
 * const working = unwrap(await service.startSession({ conversationId: conversation.id, ...agent }))
 * const toolCalls = [{ callId: 'toolu_01', toolName: 'run_tests' }]
 * const messages = [{ role: 'assistant' as const, text: 'It fails one time in ten.', toolCalls }]
 * const worked = unwrap(await service.recordTurn({ ...working, messages }))
 *
 * const { handoff } = unwrap(await service.initiateHandoff({ ...worked, targetAgent: 'opus', reason: 'Out of ideas' }))
 * console.log(handoff.triggeringToolCalls[0]?.toolName) // => run_tests
 * const next = unwrap(await service.completeHandoff({ handoff }))
 * console.log(next.session.agentName, next.session.epoch) // => opus 2
 * ```
 */
export class HandoffService extends HandoffHistory {
  readonly #runner: CommandRunner
  readonly #context: CommandContext
  readonly #notifier: Notifier | undefined
  readonly #spread = new ClaimSpread()

  constructor(deps: HandoffServiceDeps) {
    super(deps)
    this.#runner = new CommandRunner(deps.store)
    this.#notifier = deps.notifier
    this.#context = { ...deps, storeNow: () => deps.store.unitOfWork.estimateNow() }
  }

  /** Opens a conversation. Opening one external key again gives the conversation that has it. */
  openConversation(request: OpenConversation & Repeatable): Reply<{ readonly conversation: Conversation }> {
    return this.#runner.run(openingConversation(request, this.#context))
  }

  /** Starts a session and makes the caller its holder. Refused while another session has the conversation's baton. */
  startSession(request: StartSession & Repeatable): Reply<SessionStartedAnswer> {
    return this.#runner.run(startingSession(request, this.#context))
  }

  /** Pauses a session by hand; another may start meanwhile. */
  pauseSession(request: OnSession): Reply<{ readonly session: AgentSession }> {
    return this.#runner.run(pausingSession(request, this.#context))
  }

  /** Resumes a session that was paused by hand. Refused while another has the baton. With a lease, the caller holds it. */
  resumeSession(request: ResumeRequest): Reply<SessionResumed> {
    return this.#runner.run(resumingSession(request, this.#context))
  }

  /** Ends a session whose work is done. */
  completeSession(request: OnSession): Reply<{ readonly session: AgentSession }> {
    return this.#runner.run(completingSession(request, this.#context))
  }

  /** Ends a session that cannot go on, with the reason. */
  failSession(request: FailSessionRequest): Reply<{ readonly session: AgentSession }> {
    return this.#runner.run(failingSession(request, this.#context))
  }

  /** Makes the caller the holder of a session. Whoever held it before can no longer write to it. */
  takeOverSession(request: TakeOverRequest): Reply<WorkingSession & { readonly monitor?: ContextMonitor }> {
    return this.#runner.run(takingOverSession(request, this.#context))
  }

  /** Says under which name the runtime has launched a session. Said again, it changes nothing. */
  attachSession(request: AttachRequest): Reply<WorkingSession> {
    return this.#runner.run(attachingSession(request, this.#context))
  }

  /** Says what a session used in sum so far, as its runtime counts: accounting, for the budget and for people. */
  accountSession(request: AccountRequest): Reply<WorkingSession> {
    return this.#runner.run(accountingSession(request, this.#context))
  }

  /** Records one turn. Pass back the session this answers with: then the next turn costs one round trip. */
  recordTurn({ messages, usage, window, producedAt, ...rest }: RecordTurnRequest): Reply<RecordedTurns> {
    return this.recordTurns({ ...rest, turns: [defined({ messages, usage, window, producedAt })] })
  }

  /**
   * Records several turns, all of them or none, and answers with how full the window is. Under the policy `auto` the
   * turn that crosses the restart milestone leaves the session held by a `context_restart` handoff, answered as well.
   */
  async recordTurns(request: RecordTurnsRequest): Reply<RecordedTurns> {
    const recorded = await this.#runner.run(recordingTurns(request, this.#context))
    if (!recorded.ok) return recorded
    await announce(this.#notifier, recorded.value.signals ?? [])
    return ok({ ...recorded.value, ...standingOfWindow(recorded.value.monitor) })
  }

  /** Takes a picture of a session's window. */
  async captureSnapshot(request: OnSession): Reply<{ readonly snapshot: ContextWindowSnapshot }> {
    const captured = await this.#runner.run(capturingSnapshot(request, this.#context))
    return captured.ok ? ok({ snapshot: await findSnapshot(captured.value.snapshot.id, this.store) }) : captured
  }

  /** Initiates a handoff: captures the window, pauses the source, and names the turn and tool calls that led to it. */
  initiateHandoff(request: InitiateRequest): Reply<HandoffAndSource> {
    return this.#runner.run(initiatingHandoff(request, this.#context))
  }

  /**
   * Restarts a session in a fresh window: a `context_restart` handoff, if the budget of the conversation has one left.
   * Otherwise it answers with what stands against it, and the session is failed or left to carry on, as the budget says.
   */
  restartSession(request: RestartRequest): Reply<RestartBegun> {
    return this.#runner.run(beginningRestart(request, this.#context))
  }

  /** Keeps what the outgoing agent left for its successor, or that it left nothing, before anyone takes over. */
  keepCheckpoint(request: KeepCheckpointRequest): Reply<HandoffAccepted> {
    return this.#runner.run(keepingCheckpoint(request, this.#context))
  }

  /** Keeps what the successor is to open with, and which session it will be, before there is one. */
  prepareHandoff(request: PrepareRequest): Reply<HandoffAccepted> {
    return this.#runner.run(preparingHandoff(request, this.#context))
  }

  /** Logs that hooks were called, and how it went. */
  recordHooks(request: HooksRequest): Reply<{ readonly conversation: Conversation }> {
    return this.#runner.run(recordingHooks(request, this.#context))
  }

  /** Claims a handoff for one claimant until a deadline by the store's clock. */
  acceptHandoff(request: AcceptRequest): Reply<HandoffAccepted> {
    return this.#runner.run(acceptingHandoff(request, this.#context))
  }

  /**
   * Claims the oldest handoff that waits for an agent; while others claim at the same time, one of the oldest. Answers
   * without one when none waits, unless asked to wait.
   */
  async claimNext(request: ClaimNextRequest): Reply<Partial<HandoffAccepted>> {
    const { wait = false, pollMs = POLL_MS, signal } = request
    for (;;) {
      signal?.throwIfAborted()
      const claimed = await this.#runner.run(claimingNext(request, this.#context, this.#spread))
      if (!claimed.ok || claimed.value.handoff !== undefined || !wait) return claimed
      await pauseFor(pollMs, signal)
    }
  }

  /** Completes a handoff: the source is handed off and a new session works on, in one commit. Pass back what accepting answered with: then it costs one round trip. */
  completeHandoff(request: CompleteRequest): Reply<HandoffCompleted> {
    return this.#runner.run(completingHandoff(request, this.#context))
  }

  /** Calls a handoff off: the source is active again. */
  cancelHandoff(request: EndRequest): Reply<HandoffAndSource> {
    return this.#runner.run(endingHandoff('cancel', request, this.#context))
  }

  /** Gives a handoff up because it could not be carried out: the source is active again. */
  failHandoff(request: EndRequest): Reply<HandoffAndSource> {
    return this.#runner.run(endingHandoff('fail', request, this.#context))
  }

  /** Opens a child conversation from a session, active or ended, without changing that session. */
  openThread(request: ThreadRequest): Reply<ThreadOpened> {
    return this.#runner.run(openingThread(request, this.#context))
  }
}
