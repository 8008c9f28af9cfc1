import type { DecisionDraft } from '../decision.ts'
import { defined } from '../kernel/defined.ts'
import type { AgentSession } from './agent-session.ts'
import type { LeaseAsked } from './process-identity.ts'
import { keyOf } from './session-aggregate.ts'
import type { StoredSession } from './stored-session.ts'

/** Kept only when the promise before it was broken: its holder may say that it lives after the facts were read. */
interface OnlyExpired {
  readonly ifExpired?: true | undefined
}

/** Gives the holder of a session the lease that is asked for, if one is. */
export const grantLease = (
  draft: DecisionDraft,
  { session, holder }: StoredSession,
  { leaseMs, runner, ifExpired }: LeaseAsked & OnlyExpired,
): void => {
  if (leaseMs === undefined) return
  draft.effect({ type: 'set_lease', session: keyOf(session), holder, leaseMs, ...defined({ runner, ifExpired }) })
}

/** Nobody waits to hear of the holder of a session that does not work. */
export const dropLease = (draft: DecisionDraft, session: AgentSession, { ifExpired }: OnlyExpired = {}): void =>
  draft.effect({ type: 'drop_lease', session: keyOf(session), ...defined({ ifExpired }) })
