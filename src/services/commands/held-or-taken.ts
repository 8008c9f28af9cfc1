import { ok } from '../../domain/kernel/result.ts'
import type { AgentSession, WorkingSession } from '../../domain/session/agent-session.ts'
import { RefusedError } from '../../domain/unwrap.ts'
import type { HandoffService } from '../handoff-service.ts'
import type { MaybeHeld, Reply } from './answers.ts'

/** The answer with its token. @throws RefusedError `session.superseded` when another call has it */
export const mustHold = <A extends WorkingSession>(answer: MaybeHeld<A>): A => {
  if (answer.holder !== undefined) return answer as A
  const { session }: { readonly session: AgentSession } = answer
  throw new RefusedError({ code: 'session.superseded', sessionId: session.id })
}

/** The session of an answer, held: one that a process before this one was answered with is taken over. */
export const heldOrTaken = async (
  handoffs: Pick<HandoffService, 'takeOverSession'>,
  answer: MaybeHeld<WorkingSession>,
): Reply<WorkingSession> =>
  answer.next === undefined ? ok(answer) : handoffs.takeOverSession({ session: answer.session.id })
