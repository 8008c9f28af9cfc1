import type { AgentSessionId, HolderToken } from '../../domain/kernel/ids.ts'
import { UNKNOWN_FIGURES, type WindowFigures } from '../../domain/run/run-event.ts'
import { type AgentSession, hasBaton, type WorkingSession } from '../../domain/session/agent-session.ts'
import type { ProcessIdentity } from '../../domain/session/process-identity.ts'
import type { ContextMonitor } from '../../domain/window/context-monitor.ts'
import { levelIn } from '../../domain/window/window-level.ts'
import { roundedShare } from '../../ports/agent/hook-payload.ts'
import { SupersededError } from './run-errors.ts'

/** The session that a run holds now, the name under which the run claims handoffs, and the model that answers. */
export class HeldSession {
  #working: WorkingSession | undefined
  #plannedId: AgentSessionId | undefined
  #claimant: string
  #answeringModel: string | undefined
  #isSettling = false

  constructor(claimant: string) {
    this.#claimant = claimant
  }

  /** Whether the run has a session by now. */
  get isThere(): boolean {
    return this.#working !== undefined
  }

  /** The copy that goes with the next command. @throws TypeError when the run has no session yet */
  get working(): WorkingSession {
    if (this.#working === undefined) throw new TypeError('The run has no session yet')
    return this.#working
  }

  get session(): AgentSession {
    return this.working.session
  }

  get holder(): HolderToken {
    return this.working.holder
  }

  /**
   * The monitor of the window; undefined before there is a session, and until a command has answered with a monitor.
   */
  get monitor(): ContextMonitor | undefined {
    return this.#working?.monitor
  }

  /** The id of the session that is held, or of the planned one. */
  get id(): AgentSessionId | undefined {
    return this.#working?.session.id ?? this.#plannedId
  }

  /** Names the session that is about to begin: hooks are called with its id before it is stored. */
  plan(sessionId: AgentSessionId): void {
    this.#plannedId = sessionId
  }

  /** Holds this session from now on. */
  hold({ session, holder, monitor }: WorkingSession): void {
    this.#working = { session, holder, ...(monitor !== undefined && { monitor }) }
  }

  /** Replaces the copy of the session with the one that a command has answered with. */
  update({ session, monitor }: Pick<WorkingSession, 'session' | 'monitor'>): void {
    this.#working = { ...this.working, session, ...(monitor !== undefined && { monitor }) }
  }

  /** Hands the session off and holds its successor. The lease moves with it, so no heartbeat renews it meanwhile. */
  async handOn<Successor extends WorkingSession>(hand: () => Promise<Successor>): Promise<Successor> {
    return this.givingBack(async () => {
      const successor = await hand()
      this.hold(successor)
      return successor
    })
  }

  /** Carries out a command that may release the lease of the session; no heartbeat renews the lease meanwhile. */
  async givingBack<Answer>(command: () => Promise<Answer>): Promise<Answer> {
    this.#isSettling = true
    try {
      return await command()
    } finally {
      this.#isSettling = false
    }
  }

  /** Notes that the run is ending its session: from now on no heartbeat renews the lease. */
  beginToEnd(): void {
    this.#isSettling = true
  }

  /** Whether there is a lease to renew: a session that is handed off, has ended or is paused has released its lease. */
  get hasLease(): boolean {
    return this.#working !== undefined && !this.#isSettling && hasBaton(this.#working.session)
  }

  /** The name under which this process claims handoffs. */
  get claimant(): string {
    return this.#claimant
  }

  /**
   * Claims handoffs under the name of the lost runner: its claims are then ours, and nobody waits until they expire.
   */
  claimAs(claimant: string): void {
    this.#claimant = claimant
  }

  /** The model that answers, once the agent has named it. */
  get answeringModel(): string | undefined {
    return this.#answeringModel
  }

  /** The model that answers, or else the requested one. */
  get model(): string | undefined {
    return this.#answeringModel ?? this.session.model
  }

  /** Notes the model that answers, where it is known. */
  answeredBy(model: string | undefined): void {
    this.#answeringModel = model ?? this.#answeringModel
  }

  /** How full the window is, in the figures for people and hooks. */
  figures(): WindowFigures {
    const { monitor } = this.working
    const level = monitor === undefined ? undefined : levelIn(monitor.reading, monitor.window)
    if (level?.state !== 'known') return UNKNOWN_FIGURES
    const { ratio, usedTokens, windowTokens, end, wholeTokens } = level
    return {
      usagePercent: roundedShare(ratio),
      inputTokens: usedTokens ?? null,
      contextWindow: windowTokens ?? null,
      windowEnd: end ?? null,
      wholeWindow: wholeTokens ?? null,
    }
  }

  /** The error that ends a run when another process has taken its session over. */
  supersededError(): SupersededError {
    return new SupersededError(`Session ${this.session.id} is worked by somebody else now, so this run has stopped.`)
  }
}

/** All processes that were launched for a session: a process that takes the session over ends those that still run. */
export class LaunchedProcesses {
  #sessionId: AgentSessionId | undefined
  #processes: readonly ProcessIdentity[] = []

  /** Adds a process. Answers with all of its session: earlier ones may be slow to end. */
  add(sessionId: AgentSessionId, process: ProcessIdentity): readonly ProcessIdentity[] {
    const before = this.#sessionId === sessionId ? this.#processes : []
    this.#sessionId = sessionId
    this.#processes = [...before, process]
    return this.#processes
  }
}
