import { type Decided, newDraft } from '../decision.ts'
import type { ResumeFacts, SessionFacts } from '../facts.ts'
import { defined } from '../kernel/defined.ts'
import type { AgentSessionId, HolderToken, SnapshotId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { noteOf, type SetMetadata } from '../kernel/metadata.ts'
import { err, ok, type Result } from '../kernel/result.ts'
import type { Refusal } from '../refusal.ts'
import type { ContextMonitor } from '../window/context-monitor.ts'
import type { UsageTotals } from '../window/usage-reading.ts'
import { type AgentSession, hasBaton, isWaitingThread, type WorkingSession } from './agent-session.ts'
import type { SnapshotRecord, SnapshotType } from './context-snapshot.ts'
import type { LeaseAsked } from './process-identity.ts'
import { SESSION } from './session-aggregate.ts'
import { dropLease, grantLease } from './session-lease.ts'
import type { SessionCommand } from './session-lifecycle.ts'
import { takeSnapshot } from './snapshot-aggregate.ts'
import { batonTaken } from './start-session.ts'
import { type HolderProof, type StoredSession, shownBy } from './stored-session.ts'

/** Which session a command is for, and who asks. */
export interface SessionTarget {
  readonly sessionId: AgentSessionId
  /** When given, the command is taken only from the session's current holder. */
  readonly holder?: HolderProof
}

/** Which session a command is for, and the token of its holder. */
export interface HeldTarget extends SessionTarget {
  readonly holder: HolderProof
}

/**
 * Which session is changed, and by whom: its holder shows the token; anyone else says that they act by hand, which is on
 * record. Never both, and never neither.
 */
export interface ChangeTarget extends SessionTarget {
  readonly byHand?: true
}

/** The session a command is for, if the token shown is the current one. */
export const findHeld = (
  { working }: SessionFacts,
  { sessionId, holder }: HeldTarget,
): Result<StoredSession, Refusal> => {
  if (working === undefined) return err({ code: 'session.not_found', sessionId })
  const { session } = working
  return working.holder === holder.digest
    ? ok(shownBy(session, holder))
    : err({ code: 'session.superseded', sessionId })
}

/** The session a command is for, unless it is unknown, or a token is shown that is not the current one. */
export const findWorking = (facts: SessionFacts, target: SessionTarget): Result<StoredSession, Refusal> => {
  const { sessionId, holder } = target
  if (holder !== undefined) return findHeld(facts, { sessionId, holder })
  return facts.working === undefined ? err({ code: 'session.not_found', sessionId }) : ok(facts.working)
}

/** The session that a command changes: the caller shows the current token, or says that it acts by hand. */
export const findChanged = (facts: SessionFacts, target: ChangeTarget): Result<StoredSession, Refusal> => {
  const { sessionId, holder, byHand } = target
  if (byHand === true && holder !== undefined) return err({ code: 'input.invalid', fields: [BOTH_GIVEN] })
  if (byHand === true) return findWorking(facts, { sessionId })
  return holder === undefined ? err({ code: 'session.no_token', sessionId }) : findHeld(facts, { sessionId, holder })
}

const BOTH_GIVEN = {
  field: 'byHand',
  problem: "it is given together with the holder's token; give the token alone, or leave it out and act by hand",
}

/** Pauses, completes or fails a session. */
export const changeSession = (
  facts: SessionFacts,
  target: ChangeTarget,
  command: Extract<SessionCommand, { type: 'pause' | 'complete' | 'fail' }>,
): Decided<{ readonly session: AgentSession }> => {
  const found = findChanged(facts, target)
  if (!found.ok) return found
  const draft = newDraft()
  const changed = draft.apply(SESSION, found.value, command)
  if (!changed.ok) return changed
  const { session } = changed.value
  dropLease(draft, session)
  return draft.finish({ session })
}

/** A request to resume a session. With a lease the caller becomes its holder; without one the session keeps its holder. */
export interface Resume extends LeaseAsked {}

/** The answer to resuming a session; only a new holder gets a token. */
export interface SessionResumed {
  readonly session: AgentSession
  readonly holder?: HolderToken
  readonly monitor?: ContextMonitor
}

/** Resumes a session that was paused by hand, if nobody else has the baton; its next message comes after everyone's. */
export const resumeSession = (
  facts: ResumeFacts,
  { leaseMs, runner, ...target }: ChangeTarget & Resume,
  { holder, at }: { readonly holder: HolderProof; readonly at: Instant },
): Decided<SessionResumed> => {
  const { baton, conversation, nextSequence, monitor } = facts
  if (conversation?.closedAt !== undefined)
    return err({ code: 'conversation.closed', conversationId: conversation.id, since: conversation.closedAt })
  if (baton !== undefined && baton.id !== target.sessionId) return err(batonTaken(baton))
  const found = findChanged(facts, target)
  if (!found.ok) return found
  const draft = newDraft()
  // Others may have come, spoken and gone since the facts were read, and left the baton free again.
  const { conversationId } = found.value.session
  draft.effect({ type: 'expect_open', conversationId }, { type: 'expect_tail', conversationId, nextSequence })
  const resumed = draft.apply(SESSION, found.value, { type: 'resume', nextSequence, at })
  if (!resumed.ok) return resumed
  const { session } = resumed.value
  // A lease from before the pause does not belong to the caller that resumes it.
  if (leaseMs === undefined) {
    dropLease(draft, session)
    return draft.finish(defined({ session, monitor }))
  }
  const taken = { session, holder: holder.digest }
  draft.move(SESSION, resumed.value, taken)
  grantLease(draft, taken, defined({ leaseMs, runner }))
  return draft.finish(defined({ session, holder: holder.token, monitor }))
}

/**
 * How a session is taken over. One that was paused by hand gets no lease: nobody waits to hear of its holder until it is
 * resumed.
 */
export interface TakeOver extends LeaseAsked {
  /**
   * Only when its holder was not heard of in time, or is the one that {@link deadRunner} names. The first session of a
   * thread that nobody has launched is free to the first process that takes it over, with no lease to wait for.
   */
  readonly ifAbandoned?: true
  /** The mark of a runner that is known to be gone: while the session is held by that one, its lease need not be over. */
  readonly deadRunner?: string
}

/** Gives a session to a new holder. The earlier holder is superseded. */
export const takeOverSession = (
  facts: SessionFacts,
  { sessionId, leaseMs, runner, ifAbandoned, deadRunner }: SessionTarget & TakeOver,
  { holder, at }: { readonly holder: HolderProof; readonly at: Instant },
): Decided<WorkingSession> => {
  const found = findWorking(facts, { sessionId })
  if (!found.ok) return found
  // Another takeover meanwhile moves the session, and this is decided again.
  const isGone = deadRunner !== undefined && facts.lease?.runner === deadRunner
  const isFree = facts.lease === undefined && isWaitingThread(found.value.session)
  const ifExpired = isGone || isFree ? undefined : ifAbandoned
  const held = ifExpired === true ? stillHeld(facts, sessionId) : undefined
  if (held !== undefined) return err(held)
  const draft = newDraft()
  const isAbandoned = isFree ? undefined : ifAbandoned
  const taking = defined({ type: 'take_over' as const, isAbandoned, at })
  const taken = draft.apply(SESSION, found.value, taking)
  if (!taken.ok) return taken
  const { session } = taken.value
  const ours = { session, holder: holder.digest }
  draft.move(SESSION, taken.value, ours)
  if (leaseMs !== undefined && hasBaton(session))
    grantLease(draft, ours, { leaseMs, ifExpired, ...defined({ runner }) })
  else dropLease(draft, session, { ifExpired })
  return draft.finish(defined({ session, holder: holder.token, monitor: facts.monitor }))
}

const stillHeld = ({ lease }: SessionFacts, sessionId: AgentSessionId): Refusal | undefined => {
  if (lease === undefined) return { code: 'session.not_leased', sessionId }
  return lease.until > lease.now ? { code: 'session.leased', sessionId, until: lease.until } : undefined
}

/** Says under which name the runtime has launched a session. Said again, it changes nothing. */
export const attachSession = (
  facts: SessionFacts,
  target: HeldTarget,
  { providerSessionId, at }: { readonly providerSessionId: string; readonly at: Instant },
): Decided<{ readonly session: AgentSession }> => {
  const { working } = facts
  const isSaidAgain =
    working?.holder === target.holder.digest && working.session.providerSessionId === providerSessionId
  if (isSaidAgain) return newDraft().finish({ session: working.session })
  return sayAsHolder(facts, target, { type: 'attach', providerSessionId, at })
}

/** Says what a session used in sum so far, as its runtime counts. */
export const accountSession = (
  facts: SessionFacts,
  target: HeldTarget,
  { totals, at }: { readonly totals: UsageTotals; readonly at: Instant },
): Decided<{ readonly session: AgentSession }> => sayAsHolder(facts, target, { type: 'account', totals, at })

const sayAsHolder = (
  facts: SessionFacts,
  target: HeldTarget,
  command: Extract<SessionCommand, { type: 'attach' | 'account' }>,
): Decided<{ readonly session: AgentSession }> => {
  const found = findHeld(facts, target)
  if (!found.ok) return found
  const draft = newDraft()
  const changed = draft.apply(SESSION, found.value, command)
  // Only the command that makes a token answers with it.
  return changed.ok ? draft.finish({ session: changed.value.session }) : changed
}

/** Sets the note of a session, whatever its state. */
export const setSessionMetadata = (
  facts: SessionFacts,
  { metadata, ...target }: SetMetadata & ChangeTarget,
  at: Instant,
): Decided<{ readonly session: AgentSession }> => {
  const found = findChanged(facts, target)
  if (!found.ok) return found
  const { conversationId, id: sessionId } = found.value.session
  const about = { version: 1, conversationId, sessionId, at } as const
  const draft = newDraft()
  const { session } = draft.record(SESSION, found.value, {
    type: 'session.metadata_set',
    ...about,
    ...noteOf(metadata),
  })
  return draft.finish({ session })
}

/** Takes a picture of a session's window, in whatever state the session is. */
export const captureSnapshot = (
  facts: SessionFacts,
  target: SessionTarget,
  { id, type, at }: { readonly id: SnapshotId; readonly type: SnapshotType; readonly at: Instant },
): Decided<{ readonly snapshot: SnapshotRecord }> => {
  const found = findWorking(facts, target)
  if (!found.ok) return found
  const draft = newDraft()
  draft.guard(SESSION, found.value)
  return draft.finish({ snapshot: takeSnapshot(draft, found.value.session, { id, type, at }) })
}
