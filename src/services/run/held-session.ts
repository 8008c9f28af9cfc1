import type { AgentSessionId, HolderToken } from '../../domain/kernel/ids.ts'
import { UNKNOWN_FIGURES, type WindowFigures } from '../../domain/run/run-event.ts'
import { type AgentSession, hasBaton, type WorkingSession } from '../../domain/session/agent-session.ts'
import type { ProcessIdentity } from '../../domain/session/process-identity.ts'
import type { ContextMonitor } from '../../domain/window/context-monitor.ts'
import { levelIn } from '../../domain/window/window-level.ts'
import { roundedShare } from '../../ports/agent/hook-payload.ts'
import { SupersededError } from './run-errors.ts'

/** The session that a run holds at the moment, under which name, and which model answers in it. */
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

  /** The monitor of the window; nothing where no answer had one, or where there is no session yet. */
  get monitor(): ContextMonitor | undefined {
    return this.#working?.monitor
  }

  /** The id of the session, or of the one that is about to begin. */
  get id(): AgentSessionId | undefined {
    return this.#working?.session.id ?? this.#plannedId
  }

  /** Names the session that is about to begin: hooks are told of it before it is there. */
  plan(sessionId: AgentSessionId): void {
    this.#plannedId = sessionId
  }

  /** Holds this session from now on. */
  hold({ session, holder, monitor }: WorkingSession): void {
    this.#working = { session, holder, ...(monitor !== undefined && { monitor }) }
  }

  /** Takes in what a command answered about the session. */
  update({ session, monitor }: Pick<WorkingSession, 'session' | 'monitor'>): void {
    this.#working = { ...this.working, session, ...(monitor !== undefined && { monitor }) }
  }

  /** Hands the session on and holds its successor. The lease goes with it, so that none is renewed meanwhile. */
  async handOn<Successor extends WorkingSession>(hand: () => Promise<Successor>): Promise<Successor> {
    return this.givingBack(async () => {
      const successor = await hand()
      this.hold(successor)
      return successor
    })
  }

  /** Carries out a command with which the session may give its lease back: none is renewed meanwhile. */
  async givingBack<Answer>(command: () => Promise<Answer>): Promise<Answer> {
    this.#isSettling = true
    try {
      return await command()
    } finally {
      this.#isSettling = false
    }
  }

  /** Begins to end the session, for good: from now on no lease is renewed. */
  beginToEnd(): void {
    this.#isSettling = true
  }

  /** Whether there is a lease to renew: a session that is being handed on, has ended or was paused has given its own back. */
  get hasLease(): boolean {
    return this.#working !== undefined && !this.#isSettling && hasBaton(this.#working.session)
  }

  /** The name under which this process claims handoffs. */
  get claimant(): string {
    return this.#claimant
  }

  /** Claims as the runner that is gone: its claim on a restart would have to be waited for, like its lease. */
  claimAs(claimant: string): void {
    this.#claimant = claimant
  }

  /** The model that answers, once it has said so. */
  get answeringModel(): string | undefined {
    return this.#answeringModel
  }

  /** The model that answers, or else the one that was asked for. */
  get model(): string | undefined {
    return this.#answeringModel ?? this.session.model
  }

  /** Notes the model that answers, where it has said so. */
  answeredBy(model: string | undefined): void {
    this.#answeringModel = model ?? this.#answeringModel
  }

  /** How full the window is, as people and hooks are told. */
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

  /** The error of a run whose session somebody else has now. */
  supersededError(): SupersededError {
    return new SupersededError(`Session ${this.session.id} is worked by somebody else now, so this run has stopped.`)
  }
}

/** Keeps the processes that were launched for a session, all of them: whoever takes it over ends what is left. */
export class LaunchedProcesses {
  #sessionId: AgentSessionId | undefined
  #processes: readonly ProcessIdentity[] = []

  /** Adds a process. Answers with those of its session: the ones before it may be slow to end. */
  add(sessionId: AgentSessionId, process: ProcessIdentity): readonly ProcessIdentity[] {
    const before = this.#sessionId === sessionId ? this.#processes : []
    this.#sessionId = sessionId
    this.#processes = [...before, process]
    return this.#processes
  }
}
