import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import type { RunEvent } from '../../../domain/run/run-event.ts'
import type { RunSummary } from '../../../domain/run/run-summary.ts'
import { pauseFor } from '../../pause-for.ts'
import { errorFields } from '../../safe-logger.ts'
import { type Cast, Seat } from '../cast.ts'
import { DEFAULT_LEASE_MS } from '../lease.ts'
import type { RecoverRequest } from '../recover/recover.ts'
import type { RunnerDeps } from '../run-in-progress.ts'
import { checkRequest, type RunSettings } from '../run-request.ts'
import { Claims } from './claims.ts'

/** A request to work for agents: to take up what is handed to them, until the signal says to stop. */
export interface WorkRequest {
  /** The agents to work for, by their names. */
  readonly agents: Cast
  /** How many handoffs to work on at the same time; 1 unless given. */
  readonly concurrency?: number
  /** Stops taking up work; what is under way is finished first. */
  readonly signal?: AbortSignal
  /** Cancels what is under way as well: its sessions are paused, so that they can be resumed. */
  readonly cancel?: AbortSignal
  /** How the work is run. */
  readonly run?: RunSettings
  /** How long to wait before looking again when nothing waits: the shortest time, and the longest. 250 ms and 5 s unless given. */
  readonly pollMs?: { readonly least: number; readonly most: number }
  /** How often a handoff may be claimed without being taken up, before it is failed; 5 unless given. */
  readonly maxClaims?: number
  readonly onEvent?: (event: RunEvent) => void
}

/** The work that was done. */
export interface WorkSummary {
  /** Handoffs that were taken up, by how their runs ended. */
  readonly ended: Readonly<Partial<Record<RunSummary['outcome'], number>>>
  /** Handoffs that were failed, because nobody who claimed them came to take them up. */
  readonly poisoned: number
}

/** The parts of the runner that a worker uses. */
export interface WorkerRunner {
  readonly takeUp: (handoff: HandoffMetadata, claimant: string, signal: AbortSignal) => Promise<RunSummary>
  readonly recover: (request: RecoverRequest) => Promise<unknown>
}

const POLL = { least: 250, most: 5_000 }
const SLOWER = 1.6
const MAX_CLAIMS = 5

/** Works for agents until it is told to stop. Safe to kill, and to run on many machines at once. */
export class Worker {
  readonly #deps: RunnerDeps
  readonly #request: WorkRequest
  readonly #runner: WorkerRunner
  readonly #claimant: string
  readonly #claims: Claims
  readonly #running = new Set<Promise<void>>()
  readonly #ended: Partial<Record<RunSummary['outcome'], number>> = {}
  readonly #never = new AbortController().signal
  #poisoned = 0
  #hasFailed = false

  constructor(deps: RunnerDeps, request: WorkRequest, runner: WorkerRunner) {
    const { concurrency = 1, agents } = request
    if (!Number.isSafeInteger(concurrency) || concurrency < 1)
      throw new TypeError('concurrency is a whole number from 1 up.')
    checkAgents(deps, request)
    this.#deps = deps
    this.#request = request
    this.#runner = runner
    this.#claimant = `worker-${deps.ids.next()}`
    const names = Object.keys(agents).map((name) => name.trim())
    this.#claims = new Claims(deps, { agents: names, claimant: this.#claimant, claimMs: this.#leaseMs })
  }

  async work(): Promise<WorkSummary> {
    const { concurrency = 1, signal = this.#never, pollMs = POLL } = this.#request
    const recovering = this.#recoverNowAndThen()
    let waitMs = pollMs.least
    while (!signal.aborted) {
      if (this.#running.size >= concurrency) {
        await firstOf(this.#running, signal)
        continue
      }
      if (this.#hasFailed) {
        // What one handoff failed of, others may fail of as well.
        this.#hasFailed = false
        await pauseFor(pollMs.most, signal).catch(() => undefined)
        continue
      }
      const handoff = await this.#claim()
      if (handoff !== undefined) {
        waitMs = pollMs.least
        this.#begin(handoff)
        continue
      }
      await pauseFor(waitMs, signal).catch(() => undefined)
      waitMs = Math.min(pollMs.most, Math.ceil(waitMs * SLOWER))
    }
    await Promise.all(this.#running)
    await recovering
    return { ended: this.#ended, poisoned: this.#poisoned }
  }

  async #claim(): Promise<HandoffMetadata | undefined> {
    try {
      return await this.#claims.next()
    } catch (error) {
      this.#deps.logger?.warn({ ...errorFields(error, this.#deps.redact) }, 'a worker could not look for work')
      return undefined
    }
  }

  #begin(handoff: HandoffMetadata): void {
    const work = this.#isPoisoned(handoff) ? this.#fail(handoff) : this.#takeUp(handoff)
    const done = work
      .catch((error: unknown) => {
        this.#hasFailed = true
        const fields = { handoffId: handoff.id, ...errorFields(error, this.#deps.redact) }
        this.#deps.logger?.warn(fields, 'a handoff was not taken up; it can be claimed again once the claim is over')
      })
      .finally(() => this.#running.delete(done))
    this.#running.add(done)
  }

  async #takeUp(handoff: HandoffMetadata): Promise<void> {
    const cancel = this.#request.cancel ?? this.#never
    const { outcome, reason = outcome, lastSessionId } = await this.#runner.takeUp(handoff, this.#claimant, cancel)
    // A run that ended before it had a session has taken nothing up.
    if (lastSessionId === undefined) throw new Error(reason)
    this.#ended[outcome] = (this.#ended[outcome] ?? 0) + 1
  }

  /** Each claim is a step of the handoff; its other steps before it is completed are its beginning and its checkpoint. */
  #isPoisoned({ version, checkpoint }: HandoffMetadata): boolean {
    const claims = version - 1 - (checkpoint === undefined ? 0 : 1)
    return claims > (this.#request.maxClaims ?? MAX_CLAIMS)
  }

  async #fail({ id: handoff }: HandoffMetadata): Promise<void> {
    const most = this.#request.maxClaims ?? MAX_CLAIMS
    const reason = `It was claimed ${most} times, and whoever claimed it was lost before taking it up.`
    const failed = await this.#deps.handoffs.failHandoff({ handoff, reason, by: this.#claimant })
    if (!failed.ok) return
    this.#poisoned += 1
    this.#deps.logger?.error({ handoffId: handoff, reason }, 'a handoff was failed')
  }

  /** Sessions of these agents whose worker was lost are resumed here, now and then. */
  async #recoverNowAndThen(): Promise<void> {
    const { agents, concurrency: atOnce = 1, signal = this.#never, cancel, run, onEvent } = this.#request
    const about = { agents, leaveOthers: true, atOnce, ...(run && { run }), ...(onEvent && { onEvent }) }
    while (!signal.aborted) {
      try {
        await this.#runner.recover({ ...about, signal: cancel ?? this.#never, stop: signal })
      } catch (error) {
        this.#deps.logger?.warn({ ...errorFields(error, this.#deps.redact) }, 'a worker could not look for lost work')
      }
      await pauseFor(this.#leaseMs, signal).catch(() => undefined)
    }
  }

  get #leaseMs(): number {
    return this.#request.run?.leaseMs ?? this.#deps.settings?.leaseMs ?? DEFAULT_LEASE_MS
  }
}

/** Waits until one of these is over, or the signal aborts. */
const firstOf = async (running: Iterable<Promise<void>>, signal: AbortSignal): Promise<void> => {
  const over = new AbortController()
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true, signal: over.signal })
  })
  await Promise.race([...running, aborted]).finally(() => over.abort())
}

/** Refuses agents and settings that no run could begin with, before anything is claimed. @throws TypeError, RefusedError */
const checkAgents = (deps: RunnerDeps, { agents, run }: WorkRequest): void => {
  const [start = ''] = Object.keys(agents ?? {})
  const seat = new Seat({ ...run, agents, start, prompt: '' }, deps.agents)
  for (const agent of [start.trim(), ...seat.others]) checkRequest(seat.requestFor(agent) ?? seat.request)
}
