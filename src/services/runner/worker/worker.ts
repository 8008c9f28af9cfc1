import type { HandoffMetadata } from '../../../domain/handoff/handoff.ts'
import type { RunEvent } from '../../../domain/run/run-event.ts'
import type { RunSummary } from '../../../domain/run/run-summary.ts'
import { pauseFor } from '../../pause-for.ts'
import { errorFields } from '../../safe-logger.ts'
import type { Cast } from '../cast.ts'
import { DEFAULT_LEASE_MS } from '../lease.ts'
import type { RecoverRequest } from '../recover/recover.ts'
import type { RunnerDeps } from '../run-in-progress.ts'
import type { RunSettings } from '../run-request.ts'

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
  readonly #running = new Set<Promise<void>>()
  readonly #ended: Partial<Record<RunSummary['outcome'], number>> = {}
  readonly #never = new AbortController().signal
  #poisoned = 0
  /** The agent that is asked for first: each in its turn. */
  #first = 0

  constructor(deps: RunnerDeps, request: WorkRequest, runner: WorkerRunner) {
    const { concurrency = 1, agents } = request
    if (!Number.isSafeInteger(concurrency) || concurrency < 1)
      throw new TypeError('concurrency is a whole number from 1 up.')
    if (Object.keys(agents ?? {}).length === 0)
      throw new TypeError('agents needs at least one agent, with its runtime.')
    this.#deps = deps
    this.#request = request
    this.#runner = runner
    this.#claimant = `worker-${deps.ids.next()}`
  }

  async work(): Promise<WorkSummary> {
    const { concurrency = 1, signal = this.#never, pollMs = POLL } = this.#request
    const recovering = this.#recoverNowAndThen()
    let waitMs = pollMs.least
    while (!signal.aborted) {
      if (this.#running.size >= concurrency) {
        await Promise.race([...this.#running, aborted(signal)])
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

  /** The next handoff for any of the agents; the agent after the last one that got something is asked for first. */
  async #claim(): Promise<HandoffMetadata | undefined> {
    const names = Object.keys(this.#request.agents)
    const claimMs = this.#leaseMs
    try {
      for (let tried = 0; tried < names.length; tried += 1) {
        const index = (this.#first + tried) % names.length
        const targetAgent = names[index] ?? ''
        const claimed = await this.#deps.handoffs.claimNext({ targetAgent, claimant: this.#claimant, claimMs })
        const handoff = claimed.ok ? claimed.value.handoff : undefined
        if (handoff === undefined) continue
        this.#first = index + 1
        return handoff
      }
    } catch (error) {
      this.#deps.logger?.warn({ ...errorFields(error, this.#deps.redact) }, 'a worker could not look for work')
    }
    return undefined
  }

  #begin(handoff: HandoffMetadata): void {
    const work = this.#isPoisoned(handoff) ? this.#fail(handoff) : this.#takeUp(handoff)
    const done = work
      .catch((error: unknown) => {
        const fields = { handoffId: handoff.id, ...errorFields(error, this.#deps.redact) }
        this.#deps.logger?.warn(fields, 'a handoff was not taken up; it can be claimed again once the claim is over')
      })
      .finally(() => this.#running.delete(done))
    this.#running.add(done)
  }

  async #takeUp(handoff: HandoffMetadata): Promise<void> {
    const { outcome } = await this.#runner.takeUp(handoff, this.#claimant, this.#request.cancel ?? this.#never)
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
        await this.#runner.recover({ ...about, signal: cancel ?? this.#never })
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

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
