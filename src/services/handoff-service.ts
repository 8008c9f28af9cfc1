import type { Conversation } from '../domain/conversation/conversation.ts'
import type { HandoffMetadata } from '../domain/handoff/handoff.ts'
import type { HandoffAccepted, HandoffCompleted } from '../domain/handoff/settle-handoff.ts'
import type { MetadataTypes } from '../domain/kernel/metadata.ts'
import type { Refusal } from '../domain/refusal.ts'
import type { RestartBegun } from '../domain/restart/begin-restart.ts'
import type { ThreadOpened } from '../domain/thread/open-thread.ts'
import type { HandoffAndSource, Reply } from './answers.ts'
import * as conversations from './commands/conversation-commands.ts'
import * as handoffs from './commands/handoff-commands.ts'
import * as restarts from './commands/restart-commands.ts'
import { pauseFor } from './pause-for.ts'
import type {
  AcceptRequest,
  ClaimNextRequest,
  CompleteRequest,
  EndRequest,
  ExtendTurnRequest,
  ExtractRequest,
  HandoffMetadataRequest,
  HooksRequest,
  InitiateRequest,
  KeepCheckpointRequest,
  PrepareRequest,
  RestartRequest,
  ThreadRequest,
} from './requests.ts'
import { SessionKeeping } from './session-keeping.ts'

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
export class HandoffService<Notes extends MetadataTypes = MetadataTypes> extends SessionKeeping<Notes> {
  /** Puts the caller's own note on a handoff, whatever its status. */
  setHandoffMetadata(
    request: HandoffMetadataRequest & { readonly metadata: Notes['handoff'] },
  ): Reply<{ readonly handoff: HandoffMetadata<Notes['handoff']> }> {
    return this.runner.run(handoffs.setHandoffMetadata, request) as Reply<{
      handoff: HandoffMetadata<Notes['handoff']>
    }>
  }

  /** Initiates a handoff: captures the window, pauses the source, and names the turn and tool calls that led to it. */
  initiateHandoff(request: InitiateRequest & { readonly metadata?: Notes['handoff'] }): Reply<HandoffAndSource> {
    return this.runner.run(handoffs.initiateHandoff, request)
  }

  /**
   * Restarts a session in a fresh window: a `context_restart` handoff, if the budget of the conversation has one left.
   * Otherwise it answers with what stands against it, and the session is failed or left to carry on, as the budget says.
   */
  restartSession(request: RestartRequest): Reply<RestartBegun> {
    return this.runner.run(restarts.restartSession, request)
  }

  /**
   * Adds to the turn that led to a handoff what was said after it: results of its tools, and words until the agent was
   * interrupted. Its holder may, until the checkpoint is kept. The handoff, its tool calls and its snapshot stay.
   */
  extendTurn(request: ExtendTurnRequest): Reply<HandoffAccepted> {
    return this.runner.run(restarts.extendTurn, request)
  }

  /** Keeps what the outgoing agent left for its successor, or that it left nothing, before anyone takes over. */
  keepCheckpoint(request: KeepCheckpointRequest): Reply<HandoffAccepted> {
    return this.runner.run(restarts.keepCheckpoint, request)
  }

  /** Keeps with a handoff what its source did and nobody had heard, when that can no longer be added to its turns. */
  keepExtract(request: ExtractRequest): Reply<{ readonly handoff: HandoffMetadata }> {
    return this.runner.run(restarts.keepExtract, request)
  }

  /** Keeps what the successor is to open with, and which session it will be, before there is one. */
  prepareHandoff(request: PrepareRequest): Reply<HandoffAccepted> {
    return this.runner.run(restarts.prepareHandoff, request)
  }

  /** Logs that hooks were called, and how it went. */
  recordHooks(request: HooksRequest): Reply<{ readonly conversation: Conversation }> {
    return this.runner.run(conversations.recordHooks, request)
  }

  /** Claims a handoff for one claimant until a deadline by the store's clock. */
  acceptHandoff(request: AcceptRequest): Reply<HandoffAccepted> {
    return this.runner.run(handoffs.acceptHandoff, request)
  }

  /** Lets a claim last longer, from now on. Its claimant may ask until somebody else has claimed the handoff. */
  renewClaim(request: AcceptRequest): Reply<HandoffAccepted> {
    return this.runner.run(handoffs.renewClaim, request)
  }

  /**
   * Claims the oldest handoff that waits for an agent; while others claim at the same time, one of the oldest. Answers
   * without one when none waits, unless asked to wait.
   */
  async claimNext(request: ClaimNextRequest): Reply<Partial<HandoffAccepted>> {
    const asked = this.runner.read(handoffs.claimNext, request)
    if (!asked.ok) return asked
    const { wait = false, pollMs = POLL_MS, signal } = asked.value
    for (;;) {
      signal?.throwIfAborted()
      const claimed = await this.runner.run(handoffs.claimNext, asked.value)
      if (!claimed.ok || claimed.value.handoff !== undefined || !wait) return claimed
      await pauseFor(pollMs, signal)
    }
  }

  /**
   * Completes a handoff: the source is handed off and a new session works on, in one commit. Pass back what accepting
   * answered with: then it costs one round trip, and one more if the person's words are to be read for its opening.
   */
  completeHandoff(request: CompleteRequest): Reply<HandoffCompleted> {
    return this.runner.run(handoffs.completeHandoff, request)
  }

  /** Calls a handoff off: the source is active again. */
  cancelHandoff(request: EndRequest): Reply<HandoffAndSource> {
    return this.runner.run(handoffs.cancelHandoff, request)
  }

  /** Gives a handoff up because it could not be carried out: the source is active again. */
  failHandoff(request: EndRequest): Reply<HandoffAndSource> {
    return this.runner.run(handoffs.failHandoff, request)
  }

  /** Opens a child conversation from a session, active or ended, without changing that session. */
  openThread(request: ThreadRequest): Reply<ThreadOpened> {
    return this.runner.run(handoffs.openThread, request)
  }
}
