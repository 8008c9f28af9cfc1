import type { Conversation } from '../domain/conversation/conversation.ts'
import type { OpenConversation } from '../domain/conversation/open-conversation.ts'
import type { HandoffMetadata } from '../domain/handoff/handoff.ts'
import type { HandoffAccepted, HandoffCompleted } from '../domain/handoff/settle-handoff.ts'
import { defined } from '../domain/kernel/defined.ts'
import type { MetadataTypes } from '../domain/kernel/metadata.ts'
import { err, ok, type Result } from '../domain/kernel/result.ts'
import type { TurnsRecorded } from '../domain/recording/record-turns.ts'
import type { Refusal } from '../domain/refusal.ts'
import type { RestartBegun } from '../domain/restart/begin-restart.ts'
import { type AgentSession, isTerminal, type WorkingSession } from '../domain/session/agent-session.ts'
import type { SessionResumed } from '../domain/session/change-session.ts'
import type { ContextWindowSnapshot } from '../domain/session/context-snapshot.ts'
import type { SessionStartedAnswer } from '../domain/session/start-session.ts'
import type { ThreadOpened } from '../domain/thread/open-thread.ts'
import { standingOfWindow } from '../domain/window/context-monitor.ts'
import type { CallerTransaction } from '../ports/store/caller-transaction.ts'
import type { Store } from '../ports/store/store.ts'
import type { CommandTelemetry } from '../ports/system/command-telemetry.ts'
import type { Logger } from '../ports/system/logger.ts'
import type { Notifier } from '../ports/system/notifier.ts'
import { AfterCommit } from './commands/after-commit.ts'
import type { HandoffAndSource, MaybeHeld, RecordedTurns, Reply, Unnamed } from './commands/answers.ts'
import type { Surroundings } from './commands/command-context.ts'
import { findSnapshot } from './commands/command-receipts.ts'
import { CommandRunner } from './commands/command-runner.ts'
import * as conversations from './commands/conversation-commands.ts'
import * as handoffs from './commands/handoff-commands.ts'
import { pauseFor } from './commands/pause-for.ts'
import type {
  AcceptRequest,
  AccountRequest,
  AsHolder,
  AskRequest,
  AttachRequest,
  BudgetRequest,
  ChangeSessionRequest,
  ClaimNextRequest,
  CompleteRequest,
  ConversationMetadataRequest,
  EndRequest,
  ExtendTurnRequest,
  ExtractRequest,
  FailSessionRequest,
  HandoffMetadataRequest,
  HooksRequest,
  InitiateRequest,
  KeepCheckpointRequest,
  LookBackRecordRequest,
  OnConversation,
  PrepareRequest,
  RecordTurnRequest,
  RecordTurnsRequest,
  Repeatable,
  RestartRequest,
  ResumeRequest,
  SessionMetadataRequest,
  SnapshotRequest,
  StartRequest,
  TakeOverRequest,
  ThreadRequest,
  TurnOptions,
} from './commands/requests.ts'
import * as restarts from './commands/restart-commands.ts'
import { safeLogger } from './commands/safe-logger.ts'
import * as sessions from './commands/session-commands.ts'
import * as turns from './commands/turn-commands.ts'
import { announce, TurnLog } from './window/notices.ts'

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
export class HandoffService<Notes extends MetadataTypes = MetadataTypes> {
  readonly #deps: HandoffServiceDeps
  readonly #runner: CommandRunner
  readonly #notifying: Parameters<typeof announce>[0]
  readonly #turnLog: TurnLog
  readonly #afterCommit: AfterCommit | undefined

  constructor(deps: HandoffServiceDeps, afterCommit?: AfterCommit) {
    this.#deps = deps
    this.#afterCommit = afterCommit
    this.#runner = new CommandRunner({ ...deps, ...defined({ afterCommit }) })
    const logger = deps.logger && safeLogger(deps.logger)
    this.#notifying = { notifier: deps.notifier, logger }
    this.#turnLog = new TurnLog(logger)
  }

  /** Opens a conversation. Opening the same external key again gives the conversation that has it. */
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

  /** Changes parts of a conversation's budget. A number is the new total; what is not named stays as it is. */
  setBudget(request: BudgetRequest): ConversationReply<Notes> {
    return this.#runner.run(conversations.setBudget, request) as ConversationReply<Notes>
  }

  /**
   * Stores the prompt of a person. With a prompt that differs from the one before it, restarts and takeovers are
   * counted from 0 again.
   */
  askConversation(request: AskRequest): ConversationReply<Notes> {
    return this.#runner.run(conversations.askConversation, request) as ConversationReply<Notes>
  }

  /** Puts the caller's own note on a conversation and replaces the old one; an empty note removes it. */
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

  /** Puts on record what a session asked when it looked back. It changes nothing else. */
  recordLookBack(request: LookBackRecordRequest): Reply<{ readonly session: AgentSession }> {
    return this.#runner.run(sessions.recordLookBack, request)
  }

  /** Starts a session and makes the caller its holder. Refused while another session has the conversation's baton. */
  startSession(request: StartRequest & { readonly metadata?: Notes['session'] } & Unnamed): Reply<SessionStartedAnswer>
  startSession(request: StartRequest & { readonly metadata?: Notes['session'] }): Reply<MaybeHeld<SessionStartedAnswer>>
  startSession(
    request: StartRequest & { readonly metadata?: Notes['session'] },
  ): Reply<MaybeHeld<SessionStartedAnswer>> {
    return this.#runner.run(sessions.startSession, request)
  }

  /** Pauses a session; another may start meanwhile. Asked by its holder, who shows the token, or by hand, as every change. */
  pauseSession(request: ChangeSessionRequest): Reply<{ readonly session: AgentSession }> {
    return this.#runner.run(sessions.pauseSession, request)
  }

  /** Resumes a session that was paused, not one that a handoff holds. Refused while another has the baton. With a lease, the caller holds it. */
  resumeSession(request: ResumeRequest): Reply<SessionResumed> {
    return this.#runner.run(sessions.resumeSession, request)
  }

  /** Ends a session whose work is done. */
  completeSession(request: ChangeSessionRequest): Reply<{ readonly session: AgentSession }> {
    return this.#runner.run(sessions.completeSession, request)
  }

  /** Ends a session that cannot continue, with the reason. */
  failSession(request: FailSessionRequest): Reply<{ readonly session: AgentSession }> {
    return this.#runner.run(sessions.failSession, request)
  }

  /** Makes the caller the holder of a session. The earlier holder can no longer write to it. */
  takeOverSession(request: TakeOverRequest & Unnamed): Reply<WorkingSession>
  takeOverSession(request: TakeOverRequest): Reply<MaybeHeld<WorkingSession>>
  takeOverSession(request: TakeOverRequest): Reply<MaybeHeld<WorkingSession>> {
    return this.#runner.run(sessions.takeOverSession, request)
  }

  /** Stores the runtime's own name of a launched session. Repeating it changes nothing. */
  attachSession(request: AttachRequest): Reply<{ readonly session: AgentSession }> {
    return this.#runner.run(sessions.attachSession, request)
  }

  /** Stores the total usage of a session so far, as its runtime counts: accounting, for the budget and for people. */
  accountSession(request: AccountRequest): Reply<{ readonly session: AgentSession }> {
    return this.#runner.run(sessions.accountSession, request)
  }

  /**
   * Records one turn. Pass back what this answers with, the token included: then the next turn costs one round trip, and
   * `initiateHandoff({ ...worked, targetAgent })` is asked by the session's holder.
   */
  async recordTurn(request: RecordTurnRequest): Reply<RecordedTurns> {
    return this.#recorded(request, await this.#runner.run(turns.recordTurn, request))
  }

  /**
   * Records several turns, all of them or none, and answers with how full the window is. Under the policy `auto` the
   * turn that crosses the restart milestone leaves the session held by a `context_restart` handoff, answered as well.
   */
  async recordTurns(request: RecordTurnsRequest): Reply<RecordedTurns> {
    return this.#recorded(request, await this.#runner.run(turns.recordTurns, request))
  }

  /** Takes a snapshot of a session's window. */
  async captureSnapshot(request: SnapshotRequest): Reply<{ readonly snapshot: ContextWindowSnapshot }> {
    const captured = await this.#runner.run(sessions.captureSnapshot, request)
    return captured.ok ? ok({ snapshot: await findSnapshot(captured.value.snapshot.id, this.#deps.store) }) : captured
  }

  /** Puts the caller's own note on a handoff, whatever its status. */
  setHandoffMetadata(
    request: HandoffMetadataRequest & { readonly metadata: Notes['handoff'] },
  ): Reply<{ readonly handoff: HandoffMetadata<Notes['handoff']> }> {
    return this.#runner.run(handoffs.setHandoffMetadata, request) as Reply<{
      handoff: HandoffMetadata<Notes['handoff']>
    }>
  }

  /** Initiates a handoff: captures the window, pauses the source, and names the turn and tool calls that led to it. */
  initiateHandoff(request: InitiateRequest & { readonly metadata?: Notes['handoff'] }): Reply<HandoffAndSource> {
    return this.#runner.run(handoffs.initiateHandoff, request)
  }

  /**
   * Restarts a session in a fresh window: a `context_restart` handoff, if the budget of the conversation has one
   * left. Otherwise it answers with the limit that refused it, and the session fails or carries on, as the budget
   * says.
   */
  restartSession(request: RestartRequest): Reply<RestartBegun> {
    return this.#runner.run(restarts.restartSession, request)
  }

  /**
   * Adds messages to the turn that led to a handoff: results of its tools, and texts until the agent was
   * interrupted. The holder of the source may do so until the checkpoint is stored. The handoff, its tool calls and
   * its snapshot stay as they are.
   */
  extendTurn(request: ExtendTurnRequest): Reply<HandoffAccepted> {
    return this.#runner.run(restarts.extendTurn, request)
  }

  /** Stores the checkpoint of the outgoing agent, or that there is none, before the handoff is claimed. */
  keepCheckpoint(request: KeepCheckpointRequest): Reply<HandoffAccepted> {
    return this.#runner.run(restarts.keepCheckpoint, request)
  }

  /**
   * Stores an extract with a handoff: work of its source that was not recorded, and can no longer be added to its
   * turns.
   */
  keepExtract(request: ExtractRequest): Reply<{ readonly handoff: HandoffMetadata }> {
    return this.#runner.run(restarts.keepExtract, request)
  }

  /** Stores the opening of the successor, and the id that its session will have, before it exists. */
  prepareHandoff(request: PrepareRequest): Reply<HandoffAccepted> {
    return this.#runner.run(restarts.prepareHandoff, request)
  }

  /** Logs that hooks were called, and their results. */
  recordHooks(request: HooksRequest): Reply<{ readonly conversation: Conversation }> {
    return this.#runner.run(conversations.recordHooks, request)
  }

  /** Claims a handoff for one claimant until a deadline by the store's clock. */
  acceptHandoff(request: AcceptRequest): Reply<HandoffAccepted> {
    return this.#runner.run(handoffs.acceptHandoff, request)
  }

  /** Extends a claim, from now on. Its claimant may do so until another claimant has claimed the handoff. */
  renewClaim(request: AcceptRequest): Reply<HandoffAccepted> {
    return this.#runner.run(handoffs.renewClaim, request)
  }

  /**
   * Claims the oldest handoff that waits for an agent; while others claim at the same time, one of the oldest. If no
   * handoff is waiting, it answers without one, unless asked to wait.
   */
  async claimNext(request: ClaimNextRequest): Reply<Partial<HandoffAccepted>> {
    const parsed = this.#runner.read(handoffs.claimNext, request)
    if (!parsed.ok) return parsed
    const { wait = false, pollMs = POLL_MS, signal } = parsed.value
    // However often it looks, it is one command to an observer.
    return this.#runner.watched(handoffs.claimNext.name, async () => {
      for (;;) {
        signal?.throwIfAborted()
        const claimed = await this.#runner.attempt(handoffs.claimNext, parsed.value)
        if (!claimed.ok || claimed.value.handoff !== undefined || !wait) return claimed
        await pauseFor(pollMs, signal)
      }
    })
  }

  /**
   * Completes a handoff: the source is handed off and a new session is active, in one commit. Pass back the answer
   * of `acceptHandoff`: then it costs one round trip, and one more if the person's words must be read for the
   * opening.
   */
  completeHandoff(request: CompleteRequest & Unnamed): Reply<HandoffCompleted>
  completeHandoff(request: CompleteRequest): Reply<MaybeHeld<HandoffCompleted>>
  completeHandoff(request: CompleteRequest): Reply<MaybeHeld<HandoffCompleted>> {
    return this.#runner.run(handoffs.completeHandoff, request)
  }

  /** Cancels a handoff: the source is active again. */
  cancelHandoff(request: EndRequest): Reply<HandoffAndSource> {
    return this.#runner.run(handoffs.cancelHandoff, request)
  }

  /** Fails a handoff that could not be carried out: the source is active again. */
  failHandoff(request: EndRequest): Reply<HandoffAndSource> {
    return this.#runner.run(handoffs.failHandoff, request)
  }

  /** Opens a child conversation from a session, active or ended, without changing that session. */
  openThread(request: ThreadRequest & Unnamed): Reply<ThreadOpened>
  openThread(request: ThreadRequest): Reply<MaybeHeld<ThreadOpened>>
  openThread(request: ThreadRequest): Reply<MaybeHeld<ThreadOpened>> {
    return this.#runner.run(handoffs.openThread, request)
  }

  /**
   * The same commands inside a transaction of the caller: what they store is committed, or rolled back, with the rows of
   * the caller. Each command is one read and one write in it. A conflict is refused as `transaction.conflict`, and leaves the
   * transaction usable; a failure leaves it to be rolled back.
   *
   * @throws TypeError when this is no open transaction, or the store is not on a Postgres server
   */
  with(transaction: CallerTransaction): HandoffsInTransaction<Notes> {
    const { store } = this.#deps
    if (store.within === undefined)
      throw new TypeError(
        'This store has no connections that you could begin a transaction on: it is embedded, or in memory. Use a store ' +
          'on a Postgres server, or record without a transaction of your own.',
      )
    const inside = { ...this.#deps, store: store.within(transaction) }
    return new HandoffsInTransaction<Notes>(this, inside, new AfterCommit(store))
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
}

/**
 * The commands of a {@link HandoffService} inside a transaction of the caller. Nobody is told of anything before
 * {@link committed}: no notifier, no log, no metric.
 *
 * @example
 * ```ts
 * const escalate = async (handoffs: HandoffService, client: ClientInTransaction, working: WorkingSession) => {
 *   await client.query('begin')
 *   const inside = handoffs.with(client)
 *   const handed = await inside.initiateHandoff({ ...working, targetAgent: 'reviewer', reason: 'Needs a second look' })
 *   await client.query(handed.ok ? 'commit' : 'rollback')
 *   await inside.committed()
 * }
 * console.log(typeof escalate) // => function
 * ```
 */
export class HandoffsInTransaction<Notes extends MetadataTypes = MetadataTypes> extends HandoffService<Notes> {
  readonly #outside: HandoffService<Notes>
  readonly #afterCommit: AfterCommit

  constructor(outside: HandoffService<Notes>, inside: HandoffServiceDeps, afterCommit: AfterCommit) {
    super(inside, afterCommit)
    this.#outside = outside
    this.#afterCommit = afterCommit
  }

  /**
   * To be called after the commit: tells the notifier, the log and the metrics what the commands did. It looks first whether
   * the latest command is on record, with one read, and answers whether it is; after a rollback it tells nothing. If it is
   * never called, signals still wait in their queues.
   */
  committed(): Promise<boolean> {
    return this.#afterCommit.tell()
  }

  override with(transaction: CallerTransaction): HandoffsInTransaction<Notes> {
    return this.#outside.with(transaction)
  }

  /** Claims at once or not at all: a transaction that waits keeps others waiting. */
  override async claimNext(request: ClaimNextRequest): Reply<Partial<HandoffAccepted>> {
    if (request.wait !== true) return super.claimNext(request)
    const problem = 'a transaction of yours would stay open meanwhile; wait outside of it'
    return err({ code: 'input.invalid', fields: [{ field: 'wait', problem }] })
  }
}
