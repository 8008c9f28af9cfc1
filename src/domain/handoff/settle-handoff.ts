import { wordsToCarry } from '../checkpoint/carried-words.ts'
import { continuationFor } from '../checkpoint/continuation.ts'
import { personWordsBudget } from '../checkpoint/person-words.ts'
import { askedTask, type Conversation } from '../conversation/conversation.ts'
import { type Decided, type DecisionDraft, newDraft, UNDECIDED, type Undecided } from '../decision.ts'
import type { HandoffFacts } from '../facts.ts'
import { defined } from '../kernel/defined.ts'
import type { AgentSessionId, HandoffId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { err, ok, type Result } from '../kernel/result.ts'
import type { Refusal } from '../refusal.ts'
import type { AgentSession } from '../session/agent-session.ts'
import type { LeaseAsked } from '../session/process-identity.ts'
import { SESSION } from '../session/session-aggregate.ts'
import { dropLease } from '../session/session-lease.ts'
import { newSession, type SessionStartedAnswer } from '../session/start-session.ts'
import { type HolderProof, type SourceSession, shownBy } from '../session/stored-session.ts'
import { type ContextMonitor, inheritMonitor, type MonitorStart } from '../window/context-monitor.ts'
import { usableWindow } from '../window/context-pressure.ts'
import { DEFAULT_CLAIM_MS, type HandoffMetadata } from './handoff.ts'
import { HANDOFF } from './handoff-aggregate.ts'
import { decideHandoff, type HandoffCommand } from './handoff-lifecycle.ts'
import { closeMonitor, rearmRestart, type Succession, windowFor } from './succession.ts'

/** A request to claim a handoff. */
export interface AcceptHandoff {
  readonly handoffId: HandoffId
  /** Names the worker; give each process its own. */
  readonly claimant: string
  /** How long nobody else may claim it. */
  readonly claimMs?: number
  /** Who works the source: refused when somebody else does by now. */
  readonly holder?: HolderProof
}

/** A request to complete a handoff. */
export interface CompleteHandoff extends LeaseAsked {
  readonly handoffId: HandoffId
  /** The claimant; a handoff that nobody claimed is claimed and completed at once, by its target agent unless given. */
  readonly claimant?: string
  /** The kind of runtime of the target agent; the source's unless named. */
  readonly backend?: string
  readonly model?: string
  readonly providerSessionId?: string
  /** The opening of the new session; the task, the person's words and the document unless given. */
  readonly continuation?: string
  /** The id that the new session is to have, unless one was prepared. */
  readonly targetSessionId?: AgentSessionId
  /** Who works the source: refused when somebody else does by now. */
  readonly holder?: HolderProof
}

/** A request to end a handoff without a successor. */
export interface EndHandoff {
  readonly handoffId: HandoffId
  readonly reason: string
  /** Who asks. Needed once somebody has claimed the handoff. */
  readonly by?: string
  /** Who works the source: refused when somebody else does by now. */
  readonly holder?: HolderProof
}

/** The answer to a claim: the handoff, and the source its successor begins from. Pass it on to complete. */
export interface HandoffAccepted {
  readonly handoff: HandoffMetadata
  /** The source, as the handoff holds it. */
  readonly session: AgentSession
  readonly conversation: Conversation
  /** The monitor of the source's window. */
  readonly monitor?: ContextMonitor
}

/** The answer to completing a handoff: the handoff, and the new session with its holder. */
export interface HandoffCompleted extends SessionStartedAnswer {
  readonly handoff: HandoffMetadata
}

/** A handoff, and what belongs to it. */
export interface LoadedHandoff {
  readonly handoff: HandoffMetadata
  readonly source: SourceSession
  readonly conversation: Conversation
}

/** The handoff a command is for, with its source and conversation. */
export const findHandoff = (
  { handoff, source, conversation }: HandoffFacts,
  handoffId: HandoffId,
  holder?: HolderProof,
): Result<LoadedHandoff, Refusal> => {
  if (handoff === undefined || source === undefined || conversation === undefined)
    return err({ code: 'handoff.not_found', handoffId })
  const isOvertaken = holder !== undefined && source.holder !== undefined && source.holder !== holder.digest
  if (isOvertaken) return err({ code: 'session.superseded', sessionId: source.session.id })
  // A caller's own copy has no token; the one that was shown must be the current one then, which the guard compares.
  return ok({ handoff, source: holder === undefined ? source : shownBy(source.session, holder), conversation })
}

/** One step of a handoff that leaves its source alone. From a holder, it is kept only while the source is theirs. */
export const moveHandoff = (
  draft: DecisionDraft,
  facts: HandoffFacts,
  { handoffId, holder }: Pick<AcceptHandoff, 'handoffId' | 'holder'>,
  command: HandoffCommand,
): Result<HandoffAccepted, Refusal> => {
  const found = findHandoff(facts, handoffId, holder)
  if (!found.ok) return found
  const { handoff, source, conversation } = found.value
  const moved = draft.apply(HANDOFF, handoff, command)
  if (!moved.ok) return moved
  if (holder !== undefined) draft.guard(SESSION, source)
  return ok(defined({ handoff: moved.value, session: source.session, conversation, monitor: facts.monitor }))
}

/** Claims a handoff for one claimant until a deadline. */
export const acceptHandoff = (facts: HandoffFacts, request: AcceptHandoff, at: Instant): Decided<HandoffAccepted> =>
  claim(facts, request, { type: 'accept', at })

/** Lets a claim last longer, from now on. Only its claimant may ask, and may ask until somebody else has claimed it. */
export const renewClaim = (facts: HandoffFacts, request: AcceptHandoff, at: Instant): Decided<HandoffAccepted> =>
  claim(facts, request, { type: 'renew', at })

const claim = (
  facts: HandoffFacts,
  { claimant, claimMs = DEFAULT_CLAIM_MS, ...target }: AcceptHandoff,
  { type, at }: { readonly type: 'accept' | 'renew'; readonly at: Instant },
): Decided<HandoffAccepted> => {
  const draft = newDraft()
  const claimed = moveHandoff(draft, facts, target, { type, by: claimant, claimMs, at, now: facts.now })
  return claimed.ok ? draft.finish(claimed.value) : claimed
}

/** Claims the oldest handoff that waits for an agent; none waiting is an answer too. */
export const claimNextHandoff = (
  facts: HandoffFacts,
  request: Omit<AcceptHandoff, 'handoffId'> & { readonly targetAgent: string },
  at: Instant,
): Decided<Partial<HandoffAccepted>> =>
  facts.handoff === undefined
    ? newDraft().finish({})
    : acceptHandoff(facts, { ...request, handoffId: facts.handoff.id }, at)

/**
 * Completes a handoff: the source is handed off and the target starts, in one commit.
 *
 * Undecided when the target is to start from the built-in continuation, and the facts do not hold the person's words.
 */
export const completeHandoff = (
  facts: HandoffFacts,
  request: CompleteHandoff,
  { ids, at, believed }: Succession,
): Decided<HandoffCompleted> | Undecided => {
  const { providerSessionId, leaseMs, runner } = request
  const found = findHandoff(facts, request.handoffId, request.holder)
  if (!found.ok) return found
  const { handoff, source } = found.value
  const prepared = handoff.status === 'accepted' ? handoff.prepared : undefined
  const by = { by: request.claimant ?? handoff.targetAgent, at, now: facts.now }
  const targetSessionId = prepared?.sessionId ?? request.targetSessionId ?? ids.sessionId
  const draft = newDraft()
  const claimed = claimIfFree(draft, handoff, by)
  if (!claimed.ok) return claimed
  // Asked before anything else happens, and told last, when all that it names is there.
  const completed = decideHandoff(claimed.value, { type: 'complete', ...by, targetSessionId })
  if (!completed.ok) return completed
  const left = draft.apply(SESSION, source, { type: 'hand_off', handoffId: handoff.id, at })
  if (!left.ok) return left
  dropLease(draft, source.session)
  if (facts.monitor !== undefined) closeMonitor(draft, facts.monitor, at)
  const next = successor(facts, found.value, request, { id: targetSessionId, at })
  const watch = facts.monitor && inheritMonitor(facts.monitor, windowFor(source.session, next, believed))
  const text =
    request.continuation ?? prepared?.continuation ?? builtInContinuation(facts, found.value, watch, ids.openingId)
  if (text === undefined) return UNDECIDED
  const opening = [{ id: ids.openingId, text, origin: 'batonpass' as const }]
  const started = newSession(draft, next, ids, defined({ opening, watch, providerSessionId, leaseMs, runner }))
  return draft.finish({ ...started, handoff: draft.record(HANDOFF, handoff, completed.value) })
}

/** The task, the person's words within the successor's window, and the document; undefined when the words were not read. */
const builtInContinuation = (
  { personMessages }: HandoffFacts,
  { handoff, conversation }: LoadedHandoff,
  watch: MonitorStart | undefined,
  nonce: string,
): string | undefined => {
  if (personMessages === undefined) return undefined
  const tokens = personWordsBudget(defined({ windowTokens: watch && usableWindow(watch.window ?? {})?.tokens }))
  const current = askedTask(conversation)
  const personWords = { chosen: wordsToCarry(personMessages, current, tokens), nonce }
  return continuationFor({ originalTask: current.task, personWords }, handoff.document, nonce)
}

/** Claims a handoff that nobody has claimed yet for the caller that completes it at once; both are recorded. */
export const claimIfFree = (
  draft: DecisionDraft,
  handoff: HandoffMetadata,
  claimant: { readonly by: string; readonly at: Instant; readonly now: Instant },
): Result<HandoffMetadata, Refusal> =>
  handoff.status === 'initiated'
    ? draft.apply(HANDOFF, handoff, { type: 'accept', claimMs: DEFAULT_CLAIM_MS, ...claimant })
    : ok(handoff)

const successor = (
  { lastEpoch, nextSequence }: HandoffFacts,
  { handoff, source: { session: source } }: LoadedHandoff,
  { backend = source.backend, model }: CompleteHandoff,
  { id, at }: { readonly id: AgentSession['id']; readonly at: Instant },
) => {
  const sameAgent = handoff.targetAgent === source.agentName
  return defined({
    id,
    conversationId: handoff.conversationId,
    epoch: lastEpoch + 1,
    agentName: handoff.targetAgent,
    backend,
    model: model ?? (sameAgent ? source.model : undefined),
    parentSessionId: source.parentSessionId,
    initiatedByHandoff: handoff.id,
    startSequence: nextSequence,
    startedAt: at,
  })
}

/** Cancels or fails a handoff: the source is active again, in the same commit, with nothing left over. */
export const endHandoff = (
  facts: HandoffFacts,
  { handoffId, reason, by, holder }: EndHandoff,
  { type, at }: { readonly type: 'cancel' | 'fail'; readonly at: Instant },
): Decided<{ readonly handoff: HandoffMetadata; readonly session: AgentSession }> => {
  const found = findHandoff(facts, handoffId, holder)
  if (!found.ok) return found
  const { handoff, source } = found.value
  const draft = newDraft()
  const ended = draft.apply(HANDOFF, handoff, defined({ type, by, reason, at, now: facts.now }))
  if (!ended.ok) return ended
  const released = draft.apply(SESSION, source, { type: 'release', handoffId, at })
  if (!released.ok) return released
  if (handoff.kind === 'context_restart' && facts.monitor !== undefined) rearmRestart(draft, facts.monitor, at)
  return draft.finish({ handoff: ended.value, session: released.value.session })
}
