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
import type { RecoverRequest, RecoveryGate } from '../recover/recover.ts'
import { RunCancelled } from '../run-errors.ts'
import { checkRequest, DEFAULT_LEASE_MS, type RunSettings } from '../run-request.ts'
import type { RunnerDeps } from '../run-terms.ts'
import { Claims, giveBack, isClaimedTooOften } from './claims.ts'
import { Slots } from './slots.ts'
import { POLL, WorkWait, type WaitingBy } from './work-wait.ts'

export type { WaitingBy } from './work-wait.ts'

/** A request to work for agents: to take up what is handed to them, until the signal says to stop. */
export interface WorkRequest {
  /** The agents to work for, by their names. */
  readonly agents: Cast
  /** How many handoffs to work on at the same time, lost sessions that are resumed included; 1 unless given. */
  readonly concurrency?: number
  /** Stops taking up work; what is under way is finished first. */
  readonly signal?: AbortSignal
  /**
   * How long to finish what is under way once `signal` has aborted; as long as it takes unless given. After that it is
   * handed back: its agents are interrupted, and its sessions stay active without a holder, for another worker to resume.
   */
  readonly drainMs?: number
  /** Stops, and cancels what is under way as well: its sessions are paused, until a person resumes them. */
  readonly cancel?: AbortSignal
  /** How the work is run. */
  readonly run?: RunSettings
  /**
   * How long to wait before looking again when nothing waits: the shortest time, and the longest. Unless given 250 ms, and
   * 5 s; 30 s where the store wakes the worker.
   */
  readonly pollMs?: { readonly least: number; readonly most: number }
  /** How often a handoff may be claimed without being taken up, before it is failed; 5 unless given. */
  readonly maxClaims?: number
  readonly onEvent?: (event: RunEvent) => void
  /** Is told how the worker waits for work, when that is known and whenever it changes. */
  readonly onWaiting?: (waiting: WaitingBy) => void
}

/** The work that was done. */
export interface WorkSummary {
  /** Handoffs that were taken up and lost sessions that were resumed, by how their runs ended. */
  readonly ended: Readonly<Partial<Record<RunSummary['outcome'], number>>>
  /** Handoffs that were failed, because nobody who claimed them came to take them up. */
  readonly poisoned: number
}

/** The parts of the runner that a worker uses. */
export interface WorkerRunner {
  readonly takeUp: (handoff: HandoffMetadata, claimant: string, signal: AbortSignal) => Promise<RunSummary>
  readonly recover: (request: RecoverRequest, gate: RecoveryGate) => Promise<unknown>
}

const MAX_CLAIMS = 5

/** Works for agents until it is told to stop. Safe to kill, and to run on many machines at once. */
export class Worker {
  readonly #deps: RunnerDeps
  readonly #request: WorkRequest
  readonly #runner: WorkerRunner
  readonly #claimant: string
  readonly #agents: readonly string[]
  readonly #claims: Claims
  readonly #slots: Slots
  readonly #signal: AbortSignal
  /** Hands back what is under way, when it takes too long to finish it. */
  readonly #handBack = new AbortController()
  readonly #cancel: AbortSignal
  readonly #running = new Set<Promise<void>>()
  readonly #ended: Partial<Record<RunSummary['outcome'], number>> = {}
  /** Stops, because the store was set back: whatever this worker does from here on is built on less than it knows. */
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
    const recovering = this.#recoverNowAndThen()
    await this.#claimAndBegin()
    using _draining = this.#draining()
    await Promise.all([...this.#running, recovering])
    this.#failed.signal.throwIfAborted()
    return { ended: this.#ended, poisoned: this.#poisoned }
  }

  /** Takes up one handoff after the other, and waits where there is none. */
  async #claimAndBegin(): Promise<void> {
    const signal = this.#signal
    using waiting = new WorkWait(this.#deps, { ...this.#request, agents: this.#agents })
    for (;;) {
      if (this.#hasFailed) {
        // What one handoff failed of, others may fail of as well.
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
    // It was claimed in the moment in which the worker was stopped.
    if (this.#signal.aborted) return giveBack(this.#deps, handoff)
    if (await isClaimedTooOften(this.#deps, handoff, this.#maxClaims)) return this.#fail(handoff)
    const summary = await this.#runner.takeUp(handoff, this.#claimant, this.#cancel)
    if (this.#count(summary)) return
    if (!this.#cancel.aborted) throw new Error(summary.reason ?? summary.outcome)
    await giveBack(this.#deps, handoff)
  }

  /** Counts a run. One that ended before it had a session has taken nothing up. */
  #count({ outcome, lastSessionId }: RunSummary): boolean {
    if (lastSessionId === undefined) return false
    this.#ended[outcome] = (this.#ended[outcome] ?? 0) + 1
    return true
  }

  /** Fails a handoff that kills whoever claims it, and its source with it, so that nobody is to resume that and try again. */
  async #fail(handoff: HandoffMetadata): Promise<void> {
    const reason = `It was claimed ${counted(this.#maxClaims, 'time')}, and whoever claimed it was lost before taking it up.`
    const by = this.#claimant
    try {
      await giveUp(this.#deps, handoff.sourceSessionId, { reason, by, signal: this.#cancel })
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error
      // Nobody may take the source over: it has no lease, or somebody has one. It is left as it is.
      const failed = await this.#deps.handoffs.failHandoff({ handoff: handoff.id, reason, by })
      if (!failed.ok) return
    }
    this.#poisoned += 1
    this.#deps.logger?.error({ handoffId: handoff.id, reason }, 'a handoff was failed')
  }

  /** Sessions of these agents whose worker was lost are resumed here, now and then, in the same places as handoffs. */
  async #recoverNowAndThen(): Promise<void> {
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

  /** Hands back what is under way when it is not finished in time. */
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

/** Refuses agents and settings that no run could begin with, before anything is claimed. @throws TypeError, RefusedError */
const checkAgents = (deps: RunnerDeps, { agents: given, run }: WorkRequest): void => {
  const agents = given ?? {}
  const [start = ''] = Object.keys(agents)
  const runAgents = new RunAgents({ ...run, agents, start, prompt: '' }, deps.agents)
  for (const agent of [start.trim(), ...runAgents.others]) checkRequest(runAgents.requestFor(agent) ?? runAgents.request)
}
