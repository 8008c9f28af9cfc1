import type { MetadataTypes } from '../domain/kernel/metadata.ts'
import type { HeldLease } from '../ports/store/session-leases.ts'
import type { AuditService } from '../services/audit/audit-service.ts'
import type { HandoffService } from '../services/handoff-service.ts'
import type { HandoffHistory } from '../services/history/handoff-history.ts'
import type { LookBack } from '../services/history/look-back-service.ts'
import type { AgentRun } from '../services/run/agent-run.ts'
import type { Cast, CastMessage, CastRunRequest } from '../services/run/cast.ts'
import type { Recovered, RecoverRequest } from '../services/run/recover/recovery.ts'
import type { RunRequest } from '../services/run/run-request.ts'
import type { WorkRequest, WorkSummary } from '../services/run/worker/worker.ts'
import type { ThreadHandoffService } from '../services/thread/thread-handoff-service.ts'
import type { ContextService } from '../services/window/context-service.ts'
import type { CreateOptions } from './options.ts'

/** Batonpass, put together and ready. Close it, or leave its `await using` block, when done. */
export interface Batonpass<Notes extends MetadataTypes = MetadataTypes> extends AsyncDisposable {
  /** Opens conversations, records turns and passes work on. */
  readonly handoffs: HandoffService<Notes>
  /** Answers questions about what happened, and changes nothing. */
  readonly history: HandoffHistory<Notes>
  readonly context: ContextService
  readonly audit: AuditService
  /** Lets a session look back at what the earlier windows of its conversation said and did. */
  readonly lookBack: LookBack
  /** Opens new threads with a short summary that a person has approved. */
  readonly threads: ThreadHandoffService
  /** Runs an agent, in as many windows as it takes. Iterate the answer for its messages. */
  run<Message>(request: RunRequest<Message>): AgentRun<Message>
  /** Runs several agents that hand the work to each other, each in as many windows as it takes. */
  run<const Agents extends Cast>(request: CastRunRequest<Agents>): AgentRun<CastMessage<Agents>>
  /**
   * Works for agents: takes up what is handed to them and runs it, until the signal says to stop. Safe to kill, and to
   * run in many processes on one server.
   */
  work(request: WorkRequest): Promise<WorkSummary>
  /** Finishes, or fails, the orphaned work of lost processes. */
  recover(request?: RecoverRequest): Promise<readonly Recovered[]>
  /** Sessions that cannot be recovered yet: their leases have not expired, so their holders may live. Soonest first. */
  waiting(): Promise<readonly HeldLease[]>
  close(): Promise<void>
}

/**
 * Puts Batonpass together, for programs that do not use a container.
 *
 * Without a store in its options it uses the one that every command in the same folder uses, and names it once: what a
 * variable names, else the project store, else the person's own in the home folder, which it makes and migrates itself.
 *
 * A program that lives long forgets commands older than a week, a few now and then; `commandRetentionMs` says otherwise.
 *
 * @throws StoreFailure when the store cannot be opened
 * @throws ConfigurationError when an option cannot be used
 * @example
 * ```ts
 * await using batonpass = await createBatonpass({ store: 'memory' })
 * const { conversation } = unwrap(await batonpass.handoffs.openConversation({ originalTask: 'Fix the flaky test' }))
 * console.log(conversation.originalTask) // => Fix the flaky test
 * ```
 */
export const createBatonpass = async <Notes extends MetadataTypes = MetadataTypes>(
  options: CreateOptions = {},
): Promise<Batonpass<Notes>> => {
  // Loaded when it is used: a program that imports us starts about as fast as one that does not.
  const { compose } = await import('./composition.ts')
  return (await compose(options)) as Batonpass<Notes>
}
