import type { AgentSession, WorkingSession } from '../domain/agent-session.ts'
import type { ContextMonitor } from '../domain/context-monitor.ts'
import type { ContextWindowSnapshot } from '../domain/context-snapshot.ts'
import type { Conversation } from '../domain/conversation.ts'
import type { RestartBegun } from '../domain/decisions/begin-restart.ts'
import type { SessionResumed } from '../domain/decisions/change-session.ts'
import type { OpenConversation } from '../domain/decisions/open-conversation.ts'
import type { ThreadOpened } from '../domain/decisions/open-thread.ts'
import type { TurnsRecorded } from '../domain/decisions/record-turns.ts'
import type { HandoffAccepted, HandoffCompleted } from '../domain/decisions/settle-handoff.ts'
import type { SessionStartedAnswer, StartSession } from '../domain/decisions/start-session.ts'
import type { HandoffMetadata } from '../domain/handoff.ts'
import type { MetadataTypes } from '../domain/metadata.ts'
import type { Refusal } from '../domain/refusal.ts'
import { ok, type Result } from '../domain/result.ts'
import type { Notifier } from '../ports/notifier.ts'
import type { Store } from '../ports/store.ts'
import type { HandoffAndSource, RecordedTurns, Reply } from './answers.ts'
import { CommandRunner } from './command-runner.ts'
import type { Surroundings } from './commands/command-context.ts'
import * as conversations from './commands/conversation-commands.ts'
import * as handoffs from './commands/handoff-commands.ts'
import * as restarts from './commands/restart-commands.ts'
import * as sessions from './commands/session-commands.ts'
import * as turns from './commands/turn-commands.ts'
import { standingOfWindow } from './context-service.ts'
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
  ConversationMetadataRequest,
  EndRequest,
  FailSessionRequest,
  HandoffMetadataRequest,
  HooksRequest,
  InitiateRequest,
  KeepCheckpointRequest,
  OnConversation,
  OnSession,
  PrepareRequest,
  RecordTurnRequest,
  RecordTurnsRequest,
  Repeatable,
  RestartRequest,
  ResumeRequest,
  SessionMetadataRequest,
  SnapshotRequest,
  TakeOverRequest,
  ThreadRequest,
} from './requests.ts'

/** What the service needs around it. */
export interface HandoffServiceDeps extends Surroundings {
  readonly store: Store
  /** Is told of what recorded turns say about their windows. */
  readonly notifier?: Notifier
}

const POLL_MS = 250

/** A conversation, with the caller's own kind of note. */
type ConversationReply<Notes extends MetadataTypes> = Reply<{
  readonly conversation: Conversation<Notes['conversation']>
}>

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
export class HandoffService<Notes extends MetadataTypes = MetadataTypes> extends HandoffHistory<Notes> {
  readonly #runner: CommandRunner
  readonly #notifier: Notifier | undefined

  constructor(deps: HandoffServiceDeps) {
    super(deps)
    this.#runner = new CommandRunner(deps)
    this.#notifier = deps.notifier
  }

  /** Opens a conversation. Opening one external key again gives the conversation that has it. */
  openConversation(
    request: OpenConversation & Repeatable & { readonly metadata?: Notes['conversation'] },
  ): ConversationReply<Notes> {
    return this.#runner.run(conversations.openConversation, request) as ConversationReply<Notes>
  }

  /** Closes a conversation whose work is done: no session starts in it until it is reopened. */
  closeConversation(request: OnConversation): ConversationReply<Notes> {
    return this.#runner.run(conversations.closeConversation, request) as ConversationReply<Notes>
  }

  /** Opens a closed conversation again. */
  reopenConversation(request: OnConversation): ConversationReply<Notes> {
    return this.#runner.run(conversations.reopenConversation, request) as ConversationReply<Notes>
  }

  /** Puts the caller's own note on a conversation, in the place of the one before; an empty one takes it away. */
  setConversationMetadata(
    request: ConversationMetadataRequest & { readonly metadata: Notes['conversation'] },
  ): ConversationReply<Notes> {
    return this.#runner.run(conversations.setConversationMetadata, request) as ConversationReply<Notes>
  }

  /** Puts the caller's own note on a session, whatever its state. */
  setSessionMetadata(
    request: SessionMetadataRequest & { readonly metadata: Notes['session'] },
  ): Reply<{ readonly session: AgentSession<Notes['session']> }> {
    return this.#runner.run(sessions.setSessionMetadata, request) as Reply<{ session: AgentSession<Notes['session']> }>
  }

  /** Puts the caller's own note on a handoff, whatever its status. */
  setHandoffMetadata(
    request: HandoffMetadataRequest & { readonly metadata: Notes['handoff'] },
  ): Reply<{ readonly handoff: HandoffMetadata<Notes['handoff']> }> {
    return this.#runner.run(handoffs.setHandoffMetadata, request) as Reply<{
      handoff: HandoffMetadata<Notes['handoff']>
    }>
  }

  /** Starts a session and makes the caller its holder. Refused while another session has the conversation's baton. */
  startSession(
    request: StartSession & Repeatable & { readonly metadata?: Notes['session'] },
  ): Reply<SessionStartedAnswer> {
    return this.#runner.run(sessions.startSession, request)
  }

  /** Pauses a session by hand; another may start meanwhile. */
  pauseSession(request: OnSession): Reply<{ readonly session: AgentSession }> {
    return this.#runner.run(sessions.pauseSession, request)
  }

  /** Resumes a session that was paused by hand. Refused while another has the baton. With a lease, the caller holds it. */
  resumeSession(request: ResumeRequest): Reply<SessionResumed> {
    return this.#runner.run(sessions.resumeSession, request)
  }

  /** Ends a session whose work is done. */
  completeSession(request: OnSession): Reply<{ readonly session: AgentSession }> {
    return this.#runner.run(sessions.completeSession, request)
  }

  /** Ends a session that cannot go on, with the reason. */
  failSession(request: FailSessionRequest): Reply<{ readonly session: AgentSession }> {
    return this.#runner.run(sessions.failSession, request)
  }

  /** Makes the caller the holder of a session. Whoever held it before can no longer write to it. */
  takeOverSession(request: TakeOverRequest): Reply<WorkingSession & { readonly monitor?: ContextMonitor }> {
    return this.#runner.run(sessions.takeOverSession, request)
  }

  /** Says under which name the runtime has launched a session. Said again, it changes nothing. */
  attachSession(request: AttachRequest): Reply<{ readonly session: AgentSession }> {
    return this.#runner.run(sessions.attachSession, request)
  }

  /** Says what a session used in sum so far, as its runtime counts: accounting, for the budget and for people. */
  accountSession(request: AccountRequest): Reply<{ readonly session: AgentSession }> {
    return this.#runner.run(sessions.accountSession, request)
  }

  /**
   * Records one turn. Pass back the session and the monitor this answers with, beside the holder's token: then the next
   * turn costs one round trip.
   */
  async recordTurn(request: RecordTurnRequest): Reply<RecordedTurns> {
    return this.#recorded(await this.#runner.run(turns.recordTurn, request))
  }

  /**
   * Records several turns, all of them or none, and answers with how full the window is. Under the policy `auto` the
   * turn that crosses the restart milestone leaves the session held by a `context_restart` handoff, answered as well.
   */
  async recordTurns(request: RecordTurnsRequest): Reply<RecordedTurns> {
    return this.#recorded(await this.#runner.run(turns.recordTurns, request))
  }

  async #recorded(recorded: Result<TurnsRecorded, Refusal>): Reply<RecordedTurns> {
    if (!recorded.ok) return recorded
    await announce(this.#notifier, recorded.value.signals ?? [])
    return ok({ ...recorded.value, ...standingOfWindow(recorded.value.monitor) })
  }

  /** Takes a picture of a session's window. */
  async captureSnapshot(request: SnapshotRequest): Reply<{ readonly snapshot: ContextWindowSnapshot }> {
    const captured = await this.#runner.run(sessions.captureSnapshot, request)
    return captured.ok ? ok({ snapshot: await findSnapshot(captured.value.snapshot.id, this.store) }) : captured
  }

  /** Initiates a handoff: captures the window, pauses the source, and names the turn and tool calls that led to it. */
  initiateHandoff(request: InitiateRequest & { readonly metadata?: Notes['handoff'] }): Reply<HandoffAndSource> {
    return this.#runner.run(handoffs.initiateHandoff, request)
  }

  /**
   * Restarts a session in a fresh window: a `context_restart` handoff, if the budget of the conversation has one left.
   * Otherwise it answers with what stands against it, and the session is failed or left to carry on, as the budget says.
   */
  restartSession(request: RestartRequest): Reply<RestartBegun> {
    return this.#runner.run(restarts.restartSession, request)
  }

  /** Keeps what the outgoing agent left for its successor, or that it left nothing, before anyone takes over. */
  keepCheckpoint(request: KeepCheckpointRequest): Reply<HandoffAccepted> {
    return this.#runner.run(restarts.keepCheckpoint, request)
  }

  /** Keeps what the successor is to open with, and which session it will be, before there is one. */
  prepareHandoff(request: PrepareRequest): Reply<HandoffAccepted> {
    return this.#runner.run(restarts.prepareHandoff, request)
  }

  /** Logs that hooks were called, and how it went. */
  recordHooks(request: HooksRequest): Reply<{ readonly conversation: Conversation }> {
    return this.#runner.run(conversations.recordHookCalls, request)
  }

  /** Claims a handoff for one claimant until a deadline by the store's clock. */
  acceptHandoff(request: AcceptRequest): Reply<HandoffAccepted> {
    return this.#runner.run(handoffs.acceptHandoff, request)
  }

  /** Lets a claim last longer, from now on. Its claimant may ask until somebody else has claimed the handoff. */
  renewClaim(request: AcceptRequest): Reply<HandoffAccepted> {
    return this.#runner.run(handoffs.renewClaim, request)
  }

  /**
   * Claims the oldest handoff that waits for an agent; while others claim at the same time, one of the oldest. Answers
   * without one when none waits, unless asked to wait.
   */
  async claimNext(request: ClaimNextRequest): Reply<Partial<HandoffAccepted>> {
    const asked = this.#runner.read(handoffs.claimNext, request)
    if (!asked.ok) return asked
    const { wait = false, pollMs = POLL_MS, signal } = asked.value
    for (;;) {
      signal?.throwIfAborted()
      const claimed = await this.#runner.run(handoffs.claimNext, asked.value)
      if (!claimed.ok || claimed.value.handoff !== undefined || !wait) return claimed
      await pauseFor(pollMs, signal)
    }
  }

  /** Completes a handoff: the source is handed off and a new session works on, in one commit. Pass back what accepting answered with: then it costs one round trip. */
  completeHandoff(request: CompleteRequest): Reply<HandoffCompleted> {
    return this.#runner.run(handoffs.completeHandoff, request)
  }

  /** Calls a handoff off: the source is active again. */
  cancelHandoff(request: EndRequest): Reply<HandoffAndSource> {
    return this.#runner.run(handoffs.cancelHandoff, request)
  }

  /** Gives a handoff up because it could not be carried out: the source is active again. */
  failHandoff(request: EndRequest): Reply<HandoffAndSource> {
    return this.#runner.run(handoffs.failHandoff, request)
  }

  /** Opens a child conversation from a session, active or ended, without changing that session. */
  openThread(request: ThreadRequest): Reply<ThreadOpened> {
    return this.#runner.run(handoffs.openThread, request)
  }
}
