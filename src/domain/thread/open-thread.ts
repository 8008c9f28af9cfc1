import { continuationFor } from '../checkpoint/continuation.ts'
import { type Conversation, taskOf, type Workspace } from '../conversation/conversation.ts'
import { openConversation } from '../conversation/open-conversation.ts'
import { type Decided, expecting } from '../decision.ts'
import type { SourceFacts } from '../facts.ts'
import type { HandoffMetadata } from '../handoff/handoff.ts'
import { beginHandoff } from '../handoff/handoff-lifecycle.ts'
import { describeHandoff, type HandoffRequest, type NewHandoffIds } from '../handoff/initiate-handoff.ts'
import { acceptAndComplete } from '../handoff/settle-handoff.ts'
import { type Succession, windowFor } from '../handoff/succession.ts'
import { defined } from '../kernel/defined.ts'
import type { ConversationId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import type { Metadata } from '../kernel/metadata.ts'
import { err, ok } from '../kernel/result.ts'
import { sequenceNumber } from '../kernel/sequence.ts'
import { type Refusal, refuseForAll } from '../refusal.ts'
import type { AgentSession, SessionIdentity } from '../session/agent-session.ts'
import { findWorking } from '../session/change-session.ts'
import { captureWindow } from '../session/context-snapshot.ts'
import { type NewSessionIds, newSession, type SessionStartedAnswer } from '../session/start-session.ts'
import { inheritMonitor } from '../window/context-monitor.ts'

/** What it takes to open a thread: a handoff into a child conversation. */
export interface OpenThread extends HandoffRequest {
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
}

/** The ids a thread needs. */
export interface NewThreadIds extends NewHandoffIds {
  readonly conversationId: ConversationId
  readonly session: NewSessionIds
}

/** What opening a thread answers with: the handoff, the child conversation and its first session. */
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
  const found = findWorking(facts, request)
  if (!found.ok) return found
  const { session: source } = found.value
  const child = openChild(facts, request, { id: ids.conversationId, at })
  const described = describeHandoff(facts, found.value, { ...request, kind: 'thread' }, { id: ids.handoffId, at })
  const obstacles = [...(child.ok ? [] : [child.error]), ...(described.ok ? [] : described.error)]
  if (!child.ok || !described.ok) return err(refuseForAll(obstacles) as Refusal)
  const { conversation } = child.value.answer
  const continuation =
    request.continuation ?? continuationFor(conversation.originalTask, request.document, ids.session.openingId)
  const first = firstSession(conversation, source, request, ids)
  const watch = facts.monitor && inheritMonitor(facts.monitor, windowFor(source, first, believed))
  const opening = [{ id: ids.session.openingId, text: continuation, origin: 'batonpass' as const }]
  const started = newSession(first, ids.session, defined({ opening, watch }))
  const target = { targetSessionId: ids.session.sessionId, targetConversationId: ids.conversationId }
  const by = request.targetAgent
  const done = acceptAndComplete(beginHandoff(described.value), { type: 'complete', by, ...target, at, now: facts.now })
  if (!done.ok) return done
  const snapshot = captureWindow(source, { id: ids.snapshotId, type: 'handoff_initiated', at })
  return ok({
    changes: [
      {
        type: 'expect_session',
        session: { id: source.id, conversationId: source.conversationId },
        expected: expecting(found.value),
      },
      ...child.value.changes,
      ...started.changes,
      { type: 'add_handoff', handoff: done.value.handoff },
      { type: 'add_snapshot', snapshot },
    ],
    events: [
      described.value,
      { type: 'snapshot.captured', version: 1, conversationId: source.conversationId, at, snapshot },
      ...child.value.events,
      ...started.events,
      ...done.value.events,
    ],
    answer: { ...started.answer, conversation, handoff: done.value.handoff },
  })
}

const openChild = (
  { conversation: parent, keyTakenBy }: SourceFacts,
  { child = {}, sessionId }: OpenThread,
  { id, at }: { readonly id: ConversationId; readonly at: Instant },
): Decided<{ readonly conversation: Conversation }> => {
  if (parent === undefined) return err({ code: 'session.not_found', sessionId })
  if (child.externalKey !== undefined && keyTakenBy !== undefined) {
    return err({ code: 'conversation.key_taken', externalKey: child.externalKey, conversationId: keyTakenBy })
  }
  const { subject, workspace, restartBudget } = parent
  const inherited = defined({ originalTask: taskOf(parent), subject, workspace, restartBudget })
  return openConversation({ parent }, { ...inherited, ...child, parentId: parent.id }, { id, at })
}

const firstSession = (
  { id: conversationId, openedAt }: Conversation,
  source: AgentSession,
  { targetAgent, backend = source.backend, model }: OpenThread,
  { handoffId, session }: NewThreadIds,
): SessionIdentity =>
  defined({
    id: session.sessionId,
    conversationId,
    epoch: 1,
    agentName: targetAgent,
    backend,
    model,
    initiatedByHandoff: handoffId,
    startSequence: sequenceNumber(1),
    startedAt: openedAt,
  })
