import type { BudgetLimit } from '../../domain/budget/restart-budget.ts'
import type { HandoffMetadata } from '../../domain/handoff/handoff.ts'
import type { AgentSessionId, HolderToken } from '../../domain/kernel/ids.ts'
import { ok, type Result } from '../../domain/kernel/result.ts'
import type { TurnsRecorded } from '../../domain/recording/record-turns.ts'
import type { Refusal } from '../../domain/refusal.ts'
import type { AgentSession, WorkingSession } from '../../domain/session/agent-session.ts'
import { RefusedError } from '../../domain/unwrap.ts'
import type { ContextMonitor, WindowStanding } from '../../domain/window/context-monitor.ts'

/** A promise of an answer, or of the reason there is none. */
export type Reply<T> = Promise<Result<T, Refusal>>

/**
 * The answer to a command that makes its caller the holder of a session, when the caller named it: another process may
 * have been answered before. The token went there and is kept nowhere, so `next` says what to do: take the session over.
 */
export type MaybeHeld<A extends { readonly holder: HolderToken }> =
  | (A & { readonly next?: never })
  | (Omit<A, 'holder'> & { readonly holder?: never; readonly next: 'take_over' })

/** A request without a name: only this call can repeat it, so its answer always has the token. */
export interface Unnamed {
  readonly commandId?: never
}

/** A handoff, and its source as the command left it. */
export interface HandoffAndSource {
  readonly handoff: HandoffMetadata
  readonly session: AgentSession
  /** The monitor of the source's window. */
  readonly monitor?: ContextMonitor
}

/** The turns with their places, the session after them, and how full its window is. */
export interface RecordedTurns extends TurnsRecorded, WindowStanding {
  /** The token that the turns were recorded with. */
  readonly holder: HolderToken
  /** A restart was due and the budget allowed none: the limit, and the state of the session after that. */
  readonly exhausted?: {
    readonly limit: BudgetLimit
    /**
     * `failed` when the work is over with it; `paused` when it was the money, and it can be resumed once there is more;
     * `active` when it carries on in its window, or is to be ended later.
     */
    readonly state: 'failed' | 'paused' | 'active'
  }
}

/** The answer with its token. @throws RefusedError `session.superseded` when another call has it */
export const mustHold = <A extends WorkingSession>(answer: MaybeHeld<A>): A => {
  if (answer.holder !== undefined) return answer as A
  const { session }: { readonly session: AgentSession } = answer
  throw new RefusedError({ code: 'session.superseded', sessionId: session.id })
}

/** Gives a session to its caller. */
interface TakesOver {
  takeOverSession(request: { readonly session: AgentSessionId }): Reply<WorkingSession>
}

/** The session of an answer, held: one that a process before this one was answered with is taken over. */
export const heldOrTaken = async (handoffs: TakesOver, answer: MaybeHeld<WorkingSession>): Reply<WorkingSession> =>
  answer.next === undefined ? ok(answer) : handoffs.takeOverSession({ session: answer.session.id })
