import { defined } from '../../domain/kernel/defined.ts'
import type { AgentSessionId } from '../../domain/kernel/ids.ts'
import type { RunSummary } from '../../domain/run/run-summary.ts'
import { heldBy } from '../../domain/session/agent-session.ts'
import { RefusedError } from '../../domain/unwrap.ts'
import type { AgentRuntime } from '../../ports/agent-runtime.ts'
import type { HeldLease } from '../../ports/session-leases.ts'
import { safeLogger } from '../safe-logger.ts'
import { AgentRun, type RunWatch } from './agent-run.ts'
import { endingOf, endRun, type RunEnding } from './end/end-run.ts'
import { afterTakeover, openBudget } from './open/begin-budget.ts'
import { beginFirst, conversationFor, takeOver, takeOverBaton } from './open/open-run.ts'
import { warnAtStart } from './open/warnings.ts'
import { insteadOfLost } from './recover/lost-session.ts'
import { readBackLeft, readBackSource } from './recover/read-back.ts'
import { type Recovered, type RecoverRequest, recoverAll, waitingSessions } from './recover/recover.ts'
import { carryOutRestart } from './restart/carry-out-restart.ts'
import { messageOf, RunCancelled, RunTimedOut } from './run-errors.ts'
import { RunInProgress, type RunnerDeps } from './run-in-progress.ts'
import { BETWEEN } from './run-items.ts'
import { checkRequest, type RunRequest, withAgent } from './run-request.ts'
import { startHeartbeat } from './work/heartbeat.ts'
import { relaunch, startSuccessor } from './work/launch.ts'
import { mustBePriced, throwIfSpent } from './work/limits.ts'
import { type Launcher, type SessionOutcome, workSession } from './work/work-session.ts'

/**
 * Runs agents so that they never run out of window: it records what they say, notices a window filling, gets a
 * checkpoint and goes on in a fresh session, once, even if the process dies in the middle.
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
   * Runs a prompt. Iterate what it answers with: it passes every message of the agent on. A run of a conversation that an
   * earlier one left unfinished goes on from the record.
   *
   * @throws RefusedError, from the iteration, when the conversation is worked by a process that is alive
   */
  run<Message>(request: RunRequest<Message>): AgentRun<Message> {
    return new AgentRun((watch) => this.#work(withAgent(request, this.#deps.agents), watch))
  }

  /**
   * Finishes the orphaned work of processes that are gone: restarts that were under way, and sessions whose holder was not
   * heard of in time. A session is resumed if its runtime is given; otherwise it is failed, with that reason.
   *
   * @returns what became of each, once all of them are over
   */
  recover(request: RecoverRequest = {}): Promise<readonly Recovered[]> {
    return recoverAll(this.#deps, request, (sessionId, runtime) => this.#resume(sessionId, runtime, request))
  }

  /** Sessions whose leases are not over: whether their holders are gone cannot be known before. Soonest over first. */
  waiting(): Promise<readonly HeldLease[]> {
    return waitingSessions(this.#deps)
  }

  async #resume(
    sessionId: AgentSessionId,
    runtime: AgentRuntime,
    { signal, onEvent, ...settings }: RecoverRequest,
  ): Promise<RunSummary> {
    const session = await this.#deps.history.session(sessionId)
    if (session === undefined) throw new RefusedError({ code: 'session.not_found', sessionId })
    const { conversationId, agentName: agent } = session
    const about = { runtime, agent, conversationId, prompt: '', ...defined({ signal }) }
    // Milestones and budget are on record since the first run; hooks are not.
    const hooks = this.#deps.agents?.get(agent)?.hooks
    const run = new AgentRun((watch) =>
      this.#work({ ...defined({ hooks }), ...settings.run, ...about }, watch, sessionId),
    )
    if (onEvent !== undefined) run.on(onEvent)
    return run.finish()
  }

  async *#work<Message>(
    request: RunRequest<Message>,
    watch: RunWatch,
    abandoned?: AgentSessionId,
  ): AsyncGenerator<Message | typeof BETWEEN, void> {
    const deps = this.#deps
    checkRequest(request)
    request.signal?.throwIfAborted()
    const conversation = await conversationFor(deps, request)
    const run = new RunInProgress({ deps, request, conversation, emit: watch.emit })
    const cancel = (): void => run.stop(new RunCancelled(`The run was cancelled: ${messageOf(request.signal?.reason)}`))
    request.signal?.addEventListener('abort', cancel, { once: true })
    if (request.signal?.aborted === true) cancel()
    const leave = (): void => run.stop(new RunCancelled(LEFT))
    watch.left.addEventListener('abort', leave, { once: true })
    if (watch.left.aborted) leave()
    using _ = startHeartbeat(run)
    let timer: ReturnType<typeof setTimeout> | undefined
    let ending: RunEnding | undefined
    let isRefused = false
    try {
      timer = await startDeadline(run)
      ending = yield* this.#sessions(run, watch, abandoned)
    } catch (error) {
      // A session that is worked by a living process is none of ours: there is nothing to end.
      isRefused = !run.hasSession && error instanceof RefusedError
      if (isRefused) throw error
      ending = endingOf(run.signal.aborted ? run.signal.reason : error)
    } finally {
      clearTimeout(timer)
      request.signal?.removeEventListener('abort', cancel)
      if (!isRefused) await endRun(run, ending ?? { outcome: 'cancelled', reason: LEFT })
    }
  }

  async *#sessions<Message>(
    run: RunInProgress<Message>,
    watch: RunWatch,
    abandoned: AgentSessionId | undefined,
  ): AsyncGenerator<Message | typeof BETWEEN, RunEnding> {
    let next: Launcher<Message> | SessionOutcome = await this.#begin(run, abandoned)
    warnAtStart(run)
    for (;;) {
      run.throwIfStopped()
      if ('start' in next) {
        // A launch costs as much as its window holds.
        throwIfSpent(run)
        watch.enter(run.held.session.id)
      }
      const outcome: SessionOutcome = 'start' in next ? yield* workSession(run, next) : next
      const instead = 'start' in next ? await insteadOfLost(run, next, outcome) : undefined
      if (instead !== undefined) {
        next = instead
        continue
      }
      if (outcome.type === 'over') return outcome
      next = startSuccessor(run, await carryOutRestart(run, outcome.handoff))
      yield BETWEEN
    }
  }

  /** The first step of a run: resume orphaned work, or begin. */
  async #begin<Message>(
    run: RunInProgress<Message>,
    abandoned: AgentSessionId | undefined,
  ): Promise<Launcher<Message> | SessionOutcome> {
    run.throwIfStopped()
    const { history } = this.#deps
    const left = abandoned === undefined ? undefined : await history.session(abandoned)
    mustBePriced(run, run.request.model ?? left?.model)
    const isTakenOver = left === undefined ? await takeOverBaton(run) : await takeOver(run, left)
    const use = await openBudget(run)
    if (!isTakenOver) return beginFirst(run, use)
    run.tally.sessions += 1
    const ended = await afterTakeover(run, use)
    if (ended !== undefined) return ended
    const handoffId = heldBy(run.held.session)
    const handoff = handoffId === undefined ? undefined : await history.handoff(handoffId)
    if (handoff === undefined) {
      await readBackSource(run)
      return relaunch(run)
    }
    await readBackLeft(run, handoff)
    return { type: 'restart', handoff }
  }
}

const LEFT = 'The caller left the run before it was over.'

/** Stops a run when the time of its conversation is over. Carrying on is about windows, and not about time. */
const startDeadline = async (run: RunInProgress): Promise<ReturnType<typeof setTimeout> | undefined> => {
  const remaining = await run.remainingMs()
  if (remaining === undefined) return undefined
  const over = (): void => run.stop(new RunTimedOut('The time of the conversation is over.'))
  if (remaining <= 0) over()
  const timer = setTimeout(over, Math.min(Math.max(0, remaining), 2_147_483_647))
  timer.unref()
  return timer
}
