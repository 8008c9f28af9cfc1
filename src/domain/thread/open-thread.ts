import { continuationFor } from '../checkpoint/continuation.ts'
import { type Conversation, taskOf, type Workspace } from '../conversation/conversation.ts'
import { newConversation, type OpenConversation } from '../conversation/open-conversation.ts'
import { type Decided, newDraft } from '../decision.ts'
import type { SourceFacts } from '../facts.ts'
import type { HandoffMetadata } from '../handoff/handoff.ts'
import { HANDOFF } from '../handoff/handoff-aggregate.ts'
import { describeHandoff, type HandoffRequest, type NewHandoffIds } from '../handoff/initiate-handoff.ts'
import { claimIfFree } from '../handoff/settle-handoff.ts'
import { type Succession, windowFor } from '../handoff/succession.ts'
import { defined } from '../kernel/defined.ts'
import type { AgentSessionId, ConversationId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import type { Metadata } from '../kernel/metadata.ts'
import { err, ok, type Result } from '../kernel/result.ts'
import { sequenceNumber } from '../kernel/sequence.ts'
import { allOf, type Refusal } from '../refusal.ts'
import type { AgentSession, SessionIdentity } from '../session/agent-session.ts'
import { findChanged } from '../session/change-session.ts'
import type { LeaseAsked } from '../session/process-identity.ts'
import { SESSION } from '../session/session-aggregate.ts'
import { takeSnapshot } from '../session/snapshot-aggregate.ts'
import { type NewSessionIds, newSession, type SessionStartedAnswer } from '../session/start-session.ts'
import { inheritMonitor } from '../window/context-monitor.ts'

/** A request to open a thread: a handoff into a child conversation. */
export interface OpenThread extends HandoffRequest, LeaseAsked {
  readonly child?: {
    /** The parent's task unless given. */
    readonly originalTask?: string
    readonly externalKey?: string
    readonly subject?: string
    readonly workspace?: Workspace
    readonly metadata?: Metadata
  }
  readonly backend?: string
  readonly model?: string
  readonly providerSessionId?: string
  readonly continuation?: string
  /** The id that the first session of the child is to have. */
  readonly targetSessionId?: AgentSessionId
}

/** The ids a thread needs. */
export interface NewThreadIds extends NewHandoffIds {
  readonly conversationId: ConversationId
  readonly session: NewSessionIds
}

/** The answer to opening a thread: the handoff, the child conversation and its first session. */
export interface ThreadOpened extends SessionStartedAnswer {
  readonly handoff: HandoffMetadata
  readonly conversation: Conversation
}

/** Opens a child conversation from a session, active or ended, and never changes that session. */
export const openThread = (
  facts: SourceFacts,
  request: OpenThread,
  {
    ids,
    at,
    believed,
  }: { readonly ids: NewThreadIds; readonly at: Instant; readonly believed?: Succession['believed'] },
): Decided<ThreadOpened> => {
  const found = findChanged(facts, request)
  if (!found.ok) return found
  const { session: source } = found.value
  const may = allOf({
    child: describeChild(facts, request),
    initiated: describeHandoff(facts, source, { ...request, kind: 'thread' }, { id: ids.handoffId, at }),
  })
  if (!may.ok) return may
  const draft = newDraft()
  draft.guard(SESSION, found.value)
  const handoff = draft.begin(HANDOFF, may.value.initiated)
  takeSnapshot(draft, source, { id: ids.snapshotId, type: 'handoff_initiated', at })
  const conversation = newConversation(draft, may.value.child, { id: ids.conversationId, at })
  const { openingId } = ids.session
  const text =
    request.continuation ?? continuationFor({ originalTask: conversation.originalTask }, request.document, openingId)
  const first = firstSession(conversation, source, request, ids)
  const watch = facts.monitor && inheritMonitor(facts.monitor, windowFor(source, first, believed))
  const opening = [{ id: openingId, text, origin: 'batonpass' as const }]
  const { providerSessionId, leaseMs, runner } = request
  const parts = defined({ opening, watch, providerSessionId, leaseMs, runner })
  const started = newSession(draft, first, ids.session, parts)
  const by = { by: request.targetAgent, at, now: facts.now }
  const claimed = claimIfFree(draft, handoff, by)
  if (!claimed.ok) return claimed
  const target = { targetSessionId: first.id, targetConversationId: conversation.id }
  const completed = draft.apply(HANDOFF, handoff, { type: 'complete', ...by, ...target })
  if (!completed.ok) return completed
  return draft.finish({ ...started, conversation, handoff: completed.value })
}

const describeChild = (
  { conversation: parent, keyTakenBy }: SourceFacts,
  { child = {}, sessionId }: OpenThread,
): Result<OpenConversation, Refusal> => {
  if (parent === undefined) return err({ code: 'session.not_found', sessionId })
  if (child.externalKey !== undefined && keyTakenBy !== undefined) {
    return err({ code: 'conversation.key_taken', externalKey: child.externalKey, conversationId: keyTakenBy })
  }
  const { subject, workspace, restartBudget } = parent
  const inherited = defined({ originalTask: taskOf(parent), subject, workspace, restartBudget })
  return ok({ ...inherited, ...child, parentId: parent.id })
}

const firstSession = (
  { id: conversationId, openedAt }: Conversation,
  source: AgentSession,
  { targetAgent, backend = source.backend, model, targetSessionId }: OpenThread,
  { handoffId, session }: NewThreadIds,
): SessionIdentity =>
  defined({
    id: targetSessionId ?? session.sessionId,
    conversationId,
    epoch: 1,
    agentName: targetAgent,
    backend,
    model,
    initiatedByHandoff: handoffId,
    startSequence: sequenceNumber(1),
    startedAt: openedAt,
  })
