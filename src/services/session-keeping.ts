import type { Conversation } from '../domain/conversation/conversation.ts'
import type { OpenConversation } from '../domain/conversation/open-conversation.ts'
import { defined } from '../domain/kernel/defined.ts'
import type { MetadataTypes } from '../domain/kernel/metadata.ts'
import { ok, type Result } from '../domain/kernel/result.ts'
import type { Refusal } from '../domain/refusal.ts'
import type { TurnsRecorded } from '../domain/restart/record-turns.ts'
import { type AgentSession, isTerminal, type WorkingSession } from '../domain/session/agent-session.ts'
import type { SessionResumed } from '../domain/session/change-session.ts'
import type { ContextWindowSnapshot } from '../domain/session/context-snapshot.ts'
import type { SessionStartedAnswer } from '../domain/session/start-session.ts'
import type { Store } from '../ports/store/store.ts'
import type { CommandTelemetry } from '../ports/system/command-telemetry.ts'
import type { Logger } from '../ports/system/logger.ts'
import type { Notifier } from '../ports/system/notifier.ts'
import type { AfterCommit } from './commands/after-commit.ts'
import type { MaybeHeld, RecordedTurns, Reply, Unnamed } from './commands/answers.ts'
import type { Surroundings } from './commands/command-context.ts'
import { CommandRunner } from './commands/command-runner.ts'
import * as conversations from './commands/conversation-commands.ts'
import { findSnapshot } from './commands/receipts.ts'
import type {
  AccountRequest,
  AsHolder,
  AskRequest,
  AttachRequest,
  BudgetRequest,
  ChangeSessionRequest,
  ConversationMetadataRequest,
  FailSessionRequest,
  LookBackRecordRequest,
  OnConversation,
  RecordTurnRequest,
  RecordTurnsRequest,
  Repeatable,
  ResumeRequest,
  SessionMetadataRequest,
  SnapshotRequest,
  StartRequest,
  TakeOverRequest,
  TurnOptions,
} from './commands/requests.ts'
import { safeLogger } from './commands/safe-logger.ts'
import * as sessions from './commands/session-commands.ts'
import * as turns from './commands/turn-commands.ts'
import { standingOfWindow } from './window/context-service.ts'
import { announce } from './window/notifying.ts'
import { TurnLog } from './window/turn-log.ts'

/** The dependencies of the service. */
export interface HandoffServiceDeps extends Surroundings {
  readonly store: Store
  /** Gets the signals that recorded turns cause. */
  readonly notifier?: Notifier
  /** Gets log lines; nothing is logged unless given. */
  readonly logger?: Logger
  /** Shows and counts commands; nobody does unless given. */
  readonly telemetry?: CommandTelemetry
}

/** A conversation, with the caller's own kind of note. */
type ConversationReply<Notes extends MetadataTypes> = Reply<{
  readonly conversation: Conversation<Notes['conversation']>
}>

/** Opens conversations, keeps sessions and records their turns. {@link HandoffService} passes them on as well. */
export class SessionKeeping<Notes extends MetadataTypes = MetadataTypes> {
  readonly #store: Store
  protected readonly runner: CommandRunner
  readonly #notifying: Parameters<typeof announce>[0]
  readonly #turnLog: TurnLog
  readonly #afterCommit: AfterCommit | undefined

  constructor(deps: HandoffServiceDeps, afterCommit?: AfterCommit) {
    this.#store = deps.store
    this.#afterCommit = afterCommit
    this.runner = new CommandRunner({ ...deps, ...defined({ afterCommit }) })
    const logger = deps.logger && safeLogger(deps.logger)
    this.#notifying = { notifier: deps.notifier, logger }
    this.#turnLog = new TurnLog(logger)
  }

  /** Opens a conversation. Opening the same external key again gives the conversation that has it. */
  openConversation(
    request: OpenConversation & Repeatable & { readonly metadata?: Notes['conversation'] },
  ): ConversationReply<Notes> {
    return this.runner.run(conversations.openConversation, request) as ConversationReply<Notes>
  }

  /** Closes a conversation whose work is done: no session starts in it until it is reopened. */
  closeConversation(request: OnConversation): ConversationReply<Notes> {
    return this.runner.run(conversations.closeConversation, request) as ConversationReply<Notes>
  }

  /** Opens a closed conversation again. */
  reopenConversation(request: OnConversation): ConversationReply<Notes> {
    return this.runner.run(conversations.reopenConversation, request) as ConversationReply<Notes>
  }

  /** Changes parts of a conversation's budget. A number is the new total; what is not named stays as it is. */
  setBudget(request: BudgetRequest): ConversationReply<Notes> {
    return this.runner.run(conversations.setBudget, request) as ConversationReply<Notes>
  }

  /**
   * Stores the prompt of a person. With a prompt that differs from the one before it, restarts and takeovers are
   * counted from 0 again.
   */
  askConversation(request: AskRequest): ConversationReply<Notes> {
    return this.runner.run(conversations.askConversation, request) as ConversationReply<Notes>
  }

  /** Puts the caller's own note on a conversation and replaces the old one; an empty note removes it. */
  setConversationMetadata(
    request: ConversationMetadataRequest & { readonly metadata: Notes['conversation'] },
  ): ConversationReply<Notes> {
    return this.runner.run(conversations.setConversationMetadata, request) as ConversationReply<Notes>
  }

  /** Puts the caller's own note on a session, whatever its state. */
  setSessionMetadata(
    request: SessionMetadataRequest & { readonly metadata: Notes['session'] },
  ): Reply<{ readonly session: AgentSession<Notes['session']> }> {
    return this.runner.run(sessions.setSessionMetadata, request) as Reply<{ session: AgentSession<Notes['session']> }>
  }

  /** Puts on record what a session asked when it looked back. It changes nothing else. */
  recordLookBack(request: LookBackRecordRequest): Reply<{ readonly session: AgentSession }> {
    return this.runner.run(sessions.recordLookBack, request)
  }

  /** Starts a session and makes the caller its holder. Refused while another session has the conversation's baton. */
  startSession(request: StartRequest & { readonly metadata?: Notes['session'] } & Unnamed): Reply<SessionStartedAnswer>
  startSession(request: StartRequest & { readonly metadata?: Notes['session'] }): Reply<MaybeHeld<SessionStartedAnswer>>
  startSession(
    request: StartRequest & { readonly metadata?: Notes['session'] },
  ): Reply<MaybeHeld<SessionStartedAnswer>> {
    return this.runner.run(sessions.startSession, request)
  }

  /** Pauses a session; another may start meanwhile. Asked by its holder, who shows the token, or by hand, as every change. */
  pauseSession(request: ChangeSessionRequest): Reply<{ readonly session: AgentSession }> {
    return this.runner.run(sessions.pauseSession, request)
  }

  /** Resumes a session that was paused, not one that a handoff holds. Refused while another has the baton. With a lease, the caller holds it. */
  resumeSession(request: ResumeRequest): Reply<SessionResumed> {
    return this.runner.run(sessions.resumeSession, request)
  }

  /** Ends a session whose work is done. */
  completeSession(request: ChangeSessionRequest): Reply<{ readonly session: AgentSession }> {
    return this.runner.run(sessions.completeSession, request)
  }

  /** Ends a session that cannot continue, with the reason. */
  failSession(request: FailSessionRequest): Reply<{ readonly session: AgentSession }> {
    return this.runner.run(sessions.failSession, request)
  }

  /** Makes the caller the holder of a session. The earlier holder can no longer write to it. */
  takeOverSession(request: TakeOverRequest & Unnamed): Reply<WorkingSession>
  takeOverSession(request: TakeOverRequest): Reply<MaybeHeld<WorkingSession>>
  takeOverSession(request: TakeOverRequest): Reply<MaybeHeld<WorkingSession>> {
    return this.runner.run(sessions.takeOverSession, request)
  }

  /** Stores the runtime's own name of a launched session. Repeating it changes nothing. */
  attachSession(request: AttachRequest): Reply<{ readonly session: AgentSession }> {
    return this.runner.run(sessions.attachSession, request)
  }

  /** Stores the total usage of a session so far, as its runtime counts: accounting, for the budget and for people. */
  accountSession(request: AccountRequest): Reply<{ readonly session: AgentSession }> {
    return this.runner.run(sessions.accountSession, request)
  }

  /**
   * Records one turn. Pass back what this answers with, the token included: then the next turn costs one round trip, and
   * `initiateHandoff({ ...worked, targetAgent })` is asked by the session's holder.
   */
  async recordTurn(request: RecordTurnRequest): Reply<RecordedTurns> {
    return this.#recorded(request, await this.runner.run(turns.recordTurn, request))
  }

  /**
   * Records several turns, all of them or none, and answers with how full the window is. Under the policy `auto` the
   * turn that crosses the restart milestone leaves the session held by a `context_restart` handoff, answered as well.
   */
  async recordTurns(request: RecordTurnsRequest): Reply<RecordedTurns> {
    return this.#recorded(request, await this.runner.run(turns.recordTurns, request))
  }

  async #recorded(
    asked: TurnOptions & Pick<AsHolder, 'holder'>,
    recorded: Result<TurnsRecorded, Refusal>,
  ): Reply<RecordedTurns> {
    if (!recorded.ok) return recorded
    const tell = async (): Promise<void> => {
      // A run fails its session later, and tells its log itself.
      if (asked.failLater !== true) this.#turnLog.take(recorded.value)
      await announce(this.#notifying, recorded.value.signals ?? [])
    }
    if (this.#afterCommit) this.#afterCommit.wait(tell)
    else await tell()
    const { session, monitor, refusedBy } = recorded.value
    const standing = standingOfWindow(monitor, defined({ hasEnded: isTerminal(session), refusedBy }))
    const state = session.state === 'failed' || session.state === 'paused' ? session.state : ('active' as const)
    const exhausted = refusedBy && { limit: refusedBy, state }
    // The token goes with the answer, so that `{ ...worked }` is what the next command needs. No receipt has it.
    return ok({ ...recorded.value, holder: asked.holder, ...standing, ...defined({ exhausted }) })
  }

  /** Takes a snapshot of a session's window. */
  async captureSnapshot(request: SnapshotRequest): Reply<{ readonly snapshot: ContextWindowSnapshot }> {
    const captured = await this.runner.run(sessions.captureSnapshot, request)
    return captured.ok ? ok({ snapshot: await findSnapshot(captured.value.snapshot.id, this.#store) }) : captured
  }
}
