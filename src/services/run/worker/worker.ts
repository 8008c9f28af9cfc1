import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import { counted } from '../../../domain/kernel/counted.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import type { RunEvent } from '../../../domain/run/run-event.ts'
import type { RunSummary } from '../../../domain/run/run-summary.ts'
import { RefusedError } from '../../../domain/unwrap.ts'
import { pauseFor } from '../../commands/pause-for.ts'
import { errorFields } from '../../commands/safe-logger.ts'
import { isSetBack } from '../../commands/set-back.ts'
import { type Cast, RunAgents } from '../cast.ts'
import { giveUp } from '../recover/give-up.ts'
import type { RecoverRequest, RecoveryGate } from '../recover/recovery.ts'
import { RunCancelled } from '../run-errors.ts'
import { checkRequest, DEFAULT_LEASE_MS, type RunSettings } from '../run-request.ts'
import type { RunnerDeps } from '../run-terms.ts'
import { Claims, giveBack, isClaimedTooOften } from './claims.ts'
import { Slots } from './slots.ts'
import { POLL, type WaitingBy, WorkWait } from './work-wait.ts'

export type { WaitingBy } from './work-wait.ts'

/** A request to work for agents: to carry out the handoffs to them, until the signal aborts. */
export interface WorkRequest {
  /** The agents to work for, by their names. */
  readonly agents: Cast
  /** How many handoffs and orphaned sessions to work on at the same time; 1 unless given. */
  readonly concurrency?: number
  /** Aborting it stops the worker: it takes up nothing more, and finishes the work under way. */
  readonly signal?: AbortSignal
  /**
   * How long the work under way may take once `signal` has aborted; without limit unless given. After that it is handed
   * back: its agents are interrupted, and its sessions stay active without a holder, so that another worker resumes
   * them.
   */
  readonly drainMs?: number
  /**
   * Aborting it stops the worker and cancels the work under way: its sessions are paused until a person resumes them.
   */
  readonly cancel?: AbortSignal
  /** The settings of its runs. */
  readonly run?: RunSettings
  /**
   * The shortest and the longest wait before the worker looks for work again. Unless given, 250 ms and 5 s; 30 s where
   * the store wakes the worker.
   */
  readonly pollMs?: { readonly least: number; readonly most: number }
  /** How often a handoff may be claimed without being carried out before it is failed; 5 unless given. */
  readonly maxClaims?: number
  readonly onEvent?: (event: RunEvent) => void
  /** Called with how the worker waits for work, at first and after each change. */
  readonly onWaiting?: (waiting: WaitingBy) => void
}

/** The result of a worker. */
export interface WorkSummary {
  /**
   * How many runs ended with each outcome: of handoffs that were carried out and orphaned sessions that were resumed.
   */
  readonly ended: Readonly<Partial<Record<RunSummary['outcome'], number>>>
  /** Handoffs that were failed, because every process that claimed them was lost before it carried them out. */
  readonly poisoned: number
}

/** The parts of the runner that a worker uses. */
export interface WorkerRunner {
  readonly takeUp: (handoff: HandoffMetadata, claimant: string, signal: AbortSignal) => Promise<RunSummary>
  readonly recover: (request: RecoverRequest, gate: RecoveryGate) => Promise<unknown>
}

const MAX_CLAIMS = 5

/** Works for agents until its signal aborts. It is safe to kill, and to run on many machines at once. */
export class Worker {
  readonly #deps: RunnerDeps
  readonly #request: WorkRequest
  readonly #runner: WorkerRunner
  readonly #claimant: string
  readonly #agents: readonly string[]
  readonly #claims: Claims
  readonly #slots: Slots
  readonly #signal: AbortSignal
  /** Aborts when the work under way is to be handed back, because it has taken too long. */
  readonly #handBack = new AbortController()
  readonly #cancel: AbortSignal
  readonly #running = new Set<Promise<void>>()
  readonly #ended: Partial<Record<RunSummary['outcome'], number>> = {}
  /** Aborts when the store was set back: the store has lost facts that this worker builds on. */
  readonly #failed = new AbortController()
  #poisoned = 0
  #hasFailed = false

  constructor(deps: RunnerDeps, request: WorkRequest, runner: WorkerRunner) {
    const { concurrency = 1, agents, signal = new AbortController().signal, cancel } = request
    if (!Number.isSafeInteger(concurrency) || concurrency < 1)
      throw new TypeError('concurrency is a whole number from 1 up.')
    checkAgents(deps, request)
    this.#deps = deps
    this.#request = request
    this.#runner = runner
    this.#claimant = `worker-${deps.ids.next()}`
    this.#agents = Object.keys(agents).map((name) => name.trim())
    this.#claims = new Claims(deps, { agents: this.#agents, claimant: this.#claimant, claimMs: this.#leaseMs })
    this.#slots = new Slots(concurrency)
    const stops = [signal, this.#failed.signal]
    this.#signal = AbortSignal.any(cancel === undefined ? stops : [...stops, cancel])
    this.#cancel = cancel === undefined ? this.#handBack.signal : AbortSignal.any([cancel, this.#handBack.signal])
  }

  async work(): Promise<WorkSummary> {
    const recovering = this.#recoverRepeatedly()
    await this.#claimAndBegin()
    using _draining = this.#draining()
    await Promise.all([...this.#running, recovering])
    this.#failed.signal.throwIfAborted()
    return { ended: this.#ended, poisoned: this.#poisoned }
  }

  /** Claims and begins one handoff after the other, and waits when there is none. */
  async #claimAndBegin(): Promise<void> {
    const signal = this.#signal
    using waiting = new WorkWait(this.#deps, { ...this.#request, agents: this.#agents })
    for (;;) {
      if (this.#hasFailed) {
        // The cause of one failed handoff may fail others as well.
        this.#hasFailed = false
        await pauseFor(this.#request.pollMs?.most ?? POLL.most, signal).catch(() => undefined)
      }
      const place = await this.#slots.take(signal)
      if (place === undefined) return
      const handoff = this.#hasFailed ? undefined : await this.#claim()
      if (handoff !== undefined) {
        waiting.found()
        this.#begin(handoff, place)
        continue
      }
      place[Symbol.dispose]()
      if (!this.#hasFailed) await waiting.pause(signal, this.#claims.isAnyHeld)
    }
  }

  async #claim(): Promise<HandoffMetadata | undefined> {
    try {
      return await this.#claims.next()
    } catch (error) {
      this.#stopIfSetBack(error)
      this.#deps.logger?.warn({ ...errorFields(error, this.#deps.redact) }, 'a worker could not look for work')
      return undefined
    }
  }

  #begin(handoff: HandoffMetadata, place: Disposable): void {
    const done = this.#carryOut(handoff)
      .catch((error: unknown) => {
        this.#hasFailed = true
        this.#stopIfSetBack(error)
        const fields = { handoffId: handoff.id, ...errorFields(error, this.#deps.redact) }
        this.#deps.logger?.warn(fields, 'a handoff was not taken up; it can be claimed again once the claim is over')
      })
      .finally(() => {
        this.#running.delete(done)
        place[Symbol.dispose]()
      })
    this.#running.add(done)
  }

  #stopIfSetBack(error: unknown): void {
    if (isSetBack(error)) this.#failed.abort(error)
  }

  async #carryOut(handoff: HandoffMetadata): Promise<void> {
    // The worker was stopped while it claimed this handoff.
    if (this.#signal.aborted) return giveBack(this.#deps, handoff)
    if (await isClaimedTooOften(this.#deps, handoff, this.#maxClaims)) return this.#fail(handoff)
    const summary = await this.#runner.takeUp(handoff, this.#claimant, this.#cancel)
    if (this.#count(summary)) return
    if (!this.#cancel.aborted) throw new Error(summary.reason ?? summary.outcome)
    await giveBack(this.#deps, handoff)
  }

  /** Counts a run. @returns false when it ended before it had a session, and so carried nothing out */
  #count({ outcome, lastSessionId }: RunSummary): boolean {
    if (lastSessionId === undefined) return false
    this.#ended[outcome] = (this.#ended[outcome] ?? 0) + 1
    return true
  }

  /**
   * Fails a handoff that kills every process that claims it. Its source fails too, so that nobody resumes it and tries
   * again.
   */
  async #fail(handoff: HandoffMetadata): Promise<void> {
    const reason = `It was claimed ${counted(this.#maxClaims, 'time')}, and each process that claimed it was lost before it carried it out.`
    const by = this.#claimant
    try {
      await giveUp(this.#deps, handoff.sourceSessionId, { reason, by, signal: this.#cancel })
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error
      // The source has no lease, or a living process holds it: then nobody may take it over, and it stays as it is.
      const failed = await this.#deps.handoffs.failHandoff({ handoff: handoff.id, reason, by })
      if (!failed.ok) return
    }
    this.#poisoned += 1
    this.#deps.logger?.error({ handoffId: handoff.id, reason }, 'a handoff was failed')
  }

  /** Resumes orphaned sessions of these agents from time to time, in the same places as handoffs. */
  async #recoverRepeatedly(): Promise<void> {
    const { concurrency: atOnce = 1, run, onEvent } = this.#request
    const agents = Object.fromEntries(Object.entries(this.#request.agents).map(([name, given]) => [name.trim(), given]))
    const about = { agents, leaveOthers: true, atOnce, signal: this.#cancel, ...defined({ run, onEvent }) }
    const gate: RecoveryGate = { enter: () => this.#slots.take(this.#signal), ended: (summary) => this.#count(summary) }
    while (!this.#signal.aborted) {
      try {
        await this.#runner.recover({ ...about, stop: this.#signal }, gate)
      } catch (error) {
        if (this.#cancel.aborted) return
        this.#stopIfSetBack(error)
        this.#deps.logger?.warn({ ...errorFields(error, this.#deps.redact) }, 'a worker could not look for lost work')
      }
      await pauseFor(this.#leaseMs, this.#signal).catch(() => undefined)
    }
  }

  /** Hands the work under way back when it is not finished in time. */
  #draining(): Disposable {
    const { drainMs } = this.#request
    if (drainMs === undefined) return { [Symbol.dispose]: () => undefined }
    const reason = 'The worker was stopped before the work was done; another one resumes it.'
    const timer = setTimeout(() => this.#handBack.abort(new RunCancelled(reason, { isHandedBack: true })), drainMs)
    return { [Symbol.dispose]: () => clearTimeout(timer) }
  }

  get #maxClaims(): number {
    return this.#request.maxClaims ?? MAX_CLAIMS
  }

  get #leaseMs(): number {
    return this.#request.run?.leaseMs ?? this.#deps.settings?.leaseMs ?? DEFAULT_LEASE_MS
  }
}

/** Refuses invalid agents and settings before anything is claimed. @throws TypeError, RefusedError */
const checkAgents = (deps: RunnerDeps, { agents: given, run }: WorkRequest): void => {
  const agents = given ?? {}
  const [start = ''] = Object.keys(agents)
  const runAgents = new RunAgents({ ...run, agents, start, prompt: '' }, deps.agents)
  for (const agent of [start.trim(), ...runAgents.others])
    checkRequest(runAgents.requestFor(agent) ?? runAgents.request)
}
