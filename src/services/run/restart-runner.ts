import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { AgentSessionId } from '../../domain/kernel/ids.ts'
import type { RunSummary } from '../../domain/run/run-summary.ts'
import { heldBy } from '../../domain/session/agent-session.ts'
import { RefusedError } from '../../domain/unwrap.ts'
import type { AgentRuntime } from '../../ports/agent/agent-runtime.ts'
import type { HeldLease } from '../../ports/store/session-leases.ts'
import { safeLogger } from '../commands/safe-logger.ts'
import { AgentRun, type RunWatch } from './agent-run.ts'
import { type Cast, type CastMessage, type CastRunRequest, RunAgents } from './cast.ts'
import { endingOf, endRun, type RunEnding } from './end/end-run.ts'
import { mustKnowRecovery, mustKnowRun, mustKnowWork } from './known-requests.ts'
import { startHeartbeat } from './lease.ts'
import { clearBlocks, endFirstExchange } from './open/cleared-blocks.ts'
import { beginFirst, conversationFor, takeOver, takeOverBaton } from './open/open-run.ts'
import { afterTakeover, openBudget } from './open/used-budget.ts'
import { warnAtStart } from './open/warnings.ts'
import { placesOf } from './open/work-places.ts'
import { replaceLostSession } from './recover/lost-session.ts'
import { readBackSource, readBackUnderHandoff } from './recover/read-back.ts'
import { type Recovered, type RecoverRequest, recoverAll, waitingSessions } from './recover/recovery.ts'
import { carryOutRestart, handOver } from './restart/carry-out-restart.ts'
import type { SharedSpending } from './run-account.ts'
import { messageOf, RunCancelled } from './run-errors.ts'
import { newRun, type RunInProgress } from './run-in-progress.ts'
import { BEFORE_SUCCESSOR } from './run-items.ts'
import { checkRequest, type RunRequest } from './run-request.ts'
import type { RunnerDeps } from './run-terms.ts'
import { startAdopting } from './threads/adopt-threads.ts'
import { joinThreads } from './threads/join-threads.ts'
import { endedThread, threadsOf } from './threads/thread-runs.ts'
import { type Launcher, relaunch, startSuccessor } from './work/launch.ts'
import { mustBePriced, startDeadline, throwIfSpent } from './work/limits.ts'
import type { SessionOutcome } from './work/session-outcome.ts'
import { workSession } from './work/work-session.ts'
import { takeUp } from './worker/take-up.ts'
import { Worker, type WorkerRunner, type WorkRequest, type WorkSummary } from './worker/worker.ts'

const LEFT = 'The caller left the run before it was over.'

/**
 * Runs agents so that they never run out of window: it records what they say, sees when a window fills up, asks
 * for a checkpoint and continues in a fresh session: once, even if the process dies in the middle.
 *
 * @example
 * ```ts
 * const store = new MemoryStore({ clock: systemClock })
 * const deps = { store, clock: systemClock, ids: uuidV7Ids }
 * const [handoffs, context] = [new HandoffService(deps), new ContextService(deps)]
 * const history = new HandoffHistory(deps)
 * const runner = new RestartRunner({ ...deps, sha256, handoffs, history, context })
 * const windows = [
 *   { turns: [{ text: 'Half of it.', promptTokens: 900, tools: ['edit'] }], checkpoint: 'Half is done.' },
 *   { turns: [{ text: 'All of it.', promptTokens: 100 }] },
 * ]
 * const runtime = new ScriptedRuntime({ windows, windowTokens: 1_000 })
 * const run = runner.run({ runtime, agent: 'claude-code', prompt: 'Fix the flaky test', policy: 'auto' })
 * for await (const message of run) console.log(message.text) // => Half of it.
 * // => All of it.
 * const { outcome, sessions, restarts } = await run.summary
 * console.log(outcome, sessions, restarts) // => completed 2 1
 * ```
 */
export class RestartRunner {
  readonly #deps: RunnerDeps

  constructor(deps: RunnerDeps) {
    this.#deps = { ...deps, ...(deps.logger !== undefined && { logger: safeLogger(deps.logger) }) }
  }

  /**
   * Runs a prompt. Iterate the run to get every message of the agent. A run of a conversation that an earlier run
   * left unfinished continues from the record.
   *
   * @throws RefusedError, from the iteration, when a process that is alive works the conversation
   */
  run<Message>(request: RunRequest<Message>): AgentRun<Message>
  /**
   * Runs a prompt with several agents: a handoff to one of them, however it was initiated, is carried out like a
   * restart.
   */
  run<const Agents extends Cast>(request: CastRunRequest<Agents>): AgentRun<CastMessage<Agents>>
  run(request: RunRequest | CastRunRequest): AgentRun<unknown> {
    return new AgentRun((watch) => this.#work(request, watch))
  }

  /**
   * Finishes the orphaned work of processes that have ended: restarts that were under way, and sessions whose lease has
   * expired. A session is resumed if its runtime is given; otherwise it is failed, with that reason.
   *
   * @returns the outcome of each orphaned session, once all of them are over
   */
  async recover(request: RecoverRequest = {}): Promise<readonly Recovered[]> {
    mustKnowRecovery(request)
    return recoverAll(this.#deps, request, (sessionId, by) => this.#resume(sessionId, by, request))
  }

  /** Claims and carries out handoffs to these agents, until the signal aborts. */
  async work(request: WorkRequest): Promise<WorkSummary> {
    mustKnowWork(request)
    const takeUp = (handoff: HandoffMetadata, claimant: string, cancel: AbortSignal): Promise<RunSummary> => {
      const { conversationId, targetAgent: start } = handoff
      const about = { ...request.run, agents: request.agents, start, conversationId, prompt: '', signal: cancel }
      const run = new AgentRun((watch) => this.#work(about, watch, { claimed: { handoff, claimant } }))
      if (request.onEvent !== undefined) run.on(request.onEvent)
      return run.finish()
    }
    const recover: WorkerRunner['recover'] = (recovery, gate) =>
      recoverAll(this.#deps, recovery, (sessionId, by) => this.#resume(sessionId, by, recovery), gate)
    return new Worker(this.#deps, request, { takeUp, recover }).work()
  }

  /** Sessions whose leases have not expired: until then their holders may be alive. The first to expire comes first. */
  waiting(): Promise<readonly HeldLease[]> {
    return waitingSessions(this.#deps)
  }

  async #resume(
    sessionId: AgentSessionId,
    by: AgentRuntime | Cast,
    { signal, onEvent, ...settings }: RecoverRequest,
  ): Promise<RunSummary> {
    const session = await this.#deps.history.session(sessionId)
    if (session === undefined) throw new RefusedError({ code: 'session.not_found', sessionId })
    const { conversationId, agentName: agent } = session
    const about = { conversationId, prompt: '', ...defined({ signal }) }
    const runner =
      typeof by.start === 'function' ? { runtime: by as AgentRuntime, agent } : { agents: by as Cast, start: agent }
    // Milestones and budget are on record since the first run, hooks are not. In a cast each agent has its own hooks.
    const hooks = 'agents' in runner ? undefined : this.#deps.agents?.get(agent)?.hooks
    const run = new AgentRun((watch) =>
      this.#work({ ...defined({ hooks }), ...settings.run, ...about, ...runner }, watch, { abandoned: sessionId }),
    )
    if (onEvent !== undefined) run.on(onEvent)
    return run.finish()
  }

  /** The story of one run: open it, work it session by session, and end it, whatever has happened. */
  async *#work<Message>(
    given: RunRequest<Message> | CastRunRequest,
    watch: RunWatch,
    pending: PendingWork = {},
  ): AsyncGenerator<Message | typeof BEFORE_SUCCESSOR, void> {
    mustKnowRun(given)
    const deps = this.#deps
    const agents = new RunAgents(given, pending.abandoned === undefined || 'agents' in given ? deps.agents : undefined)
    const { request } = agents
    for (const agent of [request.agent, ...agents.others]) checkRequest(agents.requestFor(agent) ?? request)
    request.signal?.throwIfAborted()
    const { budget: _, ...rest } = request
    const conversation = await conversationFor(deps, { ...rest, ...budgetFor(given, request, pending) })
    const runThread = threadsOf(given, conversation, (about, spending) => this.#thread(about, spending))
    const places = await placesOf(deps, agents, conversation)
    const parts = { conversation, places, emit: watch.emit, spending: pending.spending, runThread }
    const run = newRun<Message>(deps, agents, parts)
    await using _tools = run.tools
    using _heartbeat = startHeartbeat(run)
    using _adopting = startAdopting(run)
    let ending: RunEnding | undefined = { outcome: 'cancelled', reason: LEFT }
    try {
      using _cancelling = onAbort(request.signal, (reason) =>
        run.stop(
          reason instanceof RunCancelled ? reason : new RunCancelled(`The run was cancelled: ${messageOf(reason)}`),
        ),
      )
      using _leaving = onAbort(watch.left, () => run.stop(new RunCancelled(LEFT)))
      using _deadline = await startDeadline(run)
      ending = yield* this.#sessions(run, watch, pending)
    } catch (error) {
      // The run was refused the session, because a living process works it: this run has nothing to end.
      const isRefused = !run.held.isThere && error instanceof RefusedError
      ending = isRefused ? undefined : endingOf(run.signal.aborted ? run.signal.reason : error)
      if (ending === undefined) throw error
    } finally {
      await run.threads.stop()
      if (ending !== undefined) await endRun(run, ending)
    }
  }

  /** The run of a thread, beside the run that delegated it and on the same budget. */
  #thread(about: CastRunRequest, spending: SharedSpending): AgentRun<unknown> {
    return new AgentRun((watch) => this.#work(about, watch, { spending }))
  }

  /** Launches one session after the other, until one ends with the work over instead of a restart. */
  async *#sessions<Message>(
    run: RunInProgress<Message>,
    watch: RunWatch,
    pending: PendingWork,
  ): AsyncGenerator<Message | typeof BEFORE_SUCCESSOR, RunEnding> {
    await clearBlocks(run)
    let next: Launcher<Message> | SessionOutcome = await this.#begin(run, pending)
    warnAtStart(run)
    run.signal.throwIfAborted()
    for (;;) {
      if ('start' in next) {
        run.signal.throwIfAborted()
        // A launch costs as much as its window holds.
        throwIfSpent(run)
        watch.enter(run.held.session.id)
        if (run.held.session.epoch > 1 || run.agents.isCast) await run.tools.serve()
        const outcome: SessionOutcome = yield* workSession(run, next)
        await endFirstExchange(run, outcome)
        next = (await replaceLostSession(run, next, outcome)) ?? (await joinThreads(run, outcome)) ?? outcome
      } else if (next.type === 'restart' && !run.agents.carriesOut(next.handoff)) {
        const ending = await handOver(run, next.handoff)
        // A worker may take the handoff up from now on. That must not stop this run, which still has threads to finish.
        run.held.beginToEnd()
        // They are finished here, because that worker may not have their agents.
        await run.threads.rest()
        return ending
      } else if (next.type === 'restart') {
        next = startSuccessor(run, await carryOutRestart(run, next.handoff))
        yield BEFORE_SUCCESSOR
      } else return next
    }
  }

  /** The first step of a run: take up pending work, recover an orphaned session, or begin a session. */
  async #begin<Message>(
    run: RunInProgress<Message>,
    { abandoned, claimed, spending }: PendingWork,
  ): Promise<Launcher<Message> | SessionOutcome> {
    const { history } = this.#deps
    if (claimed !== undefined) {
      mustBePriced(run, run.request.model)
      await openBudget(run)
      return takeUp(run, claimed.handoff, claimed.claimant)
    }
    run.signal.throwIfAborted()
    const orphan = abandoned === undefined ? undefined : await history.session(abandoned)
    mustBePriced(run, run.request.model ?? orphan?.model)
    const isTakenOver = orphan === undefined ? await takeOverBaton(run) : await takeOver(run, orphan)
    const use = await openBudget(run)
    if (!isTakenOver) return (spending && (await endedThread(run))) ?? beginFirst(run, use)
    run.account.sessionBegun()
    const ended = await afterTakeover(run, use)
    if (ended !== undefined) return ended
    const handoffId = heldBy(run.held.session)
    const handoff = handoffId === undefined ? undefined : await history.handoff(handoffId)
    if (handoff === undefined) {
      await readBackSource(run)
      return relaunch(run)
    }
    await readBackUnderHandoff(run, handoff)
    return { type: 'restart', handoff }
  }
}

/** Calls `act` once the signal aborts, or now if it has aborted already; never after it was disposed of. */
const onAbort = (signal: AbortSignal | undefined, act: (reason: unknown) => void): Disposable => {
  const abort = (): void => act(signal?.reason)
  if (signal?.aborted === true) abort()
  else signal?.addEventListener('abort', abort, { once: true })
  return { [Symbol.dispose]: () => signal?.removeEventListener('abort', abort) }
}

/** Work that waits for a run: an orphaned session, a handoff that this process has claimed, or a thread. */
interface PendingWork {
  readonly abandoned?: AgentSessionId
  readonly claimed?: { readonly handoff: HandoffMetadata; readonly claimant: string }
  /** The money of the run that delegated a thread. */
  readonly spending?: SharedSpending
}

/** The budget that a run may change. Pending work has its budget on record, and no settings of an agent change that. */
const budgetFor = (
  given: Pick<RunRequest, 'budget'>,
  request: Pick<RunRequest, 'budget'>,
  { abandoned, claimed, spending }: PendingWork,
): Pick<RunRequest, 'budget'> => {
  if (claimed !== undefined) return {}
  const isPending = abandoned !== undefined || spending !== undefined
  return defined({ budget: isPending ? given.budget : request.budget })
}
