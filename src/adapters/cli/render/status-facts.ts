import { defined } from '../../../domain/kernel/defined.ts'
import { heldBy } from '../../../domain/session/agent-session.ts'
import { levelJson, levelOf } from '../../../domain/window/window-level.ts'
import type { ServiceState } from '../../../main/doctor.ts'
import type { HiddenSoFar } from '../../../main/redaction.ts'
import type { SessionNow, TakenDocument, WaitingHandoff, WorkStatus } from '../../../services/history/work-status.ts'
import type { PendingFound } from '../../hook-client/waiting-document.ts'

/** The result of one look. */
export interface StatusFrame {
  /** Which store was looked at. */
  readonly store: string
  readonly service: ServiceState
  /** How much was hidden from the record of terminal sessions; absent where nothing was. */
  readonly secrets?: HiddenSoFar
  /** The documents that wait for the next session of a workspace. */
  readonly documents?: readonly PendingFound[]
  /** Absent where there is no store yet, or where it could not be read. */
  readonly work?: WorkStatus
  /** Why it could not be read. */
  readonly problem?: string
}

/** Whether a session is active, paused by hand, held by a handoff, or its terminal was closed. */
export const workStateOf = ({ session, isClosed }: SessionNow): 'active' | 'paused' | 'held' | 'closed' => {
  if (heldBy(session) !== undefined) return 'held'
  if (session.state !== 'active') return 'paused'
  return isClosed === true ? 'closed' : 'active'
}

/** A look as a document for machines. */
export const statusDocument = ({ store, service, work, problem, secrets, documents }: StatusFrame): object =>
  defined({
    at: work?.at,
    store,
    problem,
    service,
    redaction: secrets,
    sessions: work?.sessions.map(sessionFacts) ?? [],
    handoffs: work?.handoffs.map(handoffFacts) ?? [],
    documents: documents?.map(documentFacts) ?? [],
    takenDocuments: work?.takenDocuments.map(takenFacts) ?? [],
    hasMoreSessions: work?.hasMoreSessions ?? false,
    hasMoreHandoffs: work?.hasMoreHandoffs ?? false,
  })

const sessionFacts = (now: SessionNow): object => {
  const { session, lease } = now
  const runner = lease?.runner
  return defined({
    sessionId: session.id,
    conversationId: session.conversationId,
    conversationKey: now.conversationKey,
    agent: session.agentName,
    backend: session.backend,
    model: session.model,
    providerSessionId: session.providerSessionId,
    epoch: session.epoch,
    state: workStateOf(now),
    heldBy: heldBy(session),
    startedAt: session.startedAt,
    turns: session.progress.turns,
    window: levelJson(levelOf(now.monitor)),
    holder: defined({
      state: now.holder,
      broken: lease?.broken,
      until: lease?.until,
      host: runner?.host,
      pid: runner?.leader?.pid,
    }),
    waitingSignals: now.waitingSignals,
  })
}

const handoffFacts = ({ handoff, conversationKey, isClaimOver }: WaitingHandoff): object =>
  defined({
    handoffId: handoff.id,
    conversationId: handoff.conversationId,
    conversationKey,
    kind: handoff.kind,
    from: handoff.sourceAgent,
    to: handoff.targetAgent,
    status: handoff.status,
    initiatedAt: handoff.initiatedAt,
    claim:
      handoff.status === 'accepted'
        ? { claimant: handoff.claim.claimant, until: handoff.claim.deadline, isOver: isClaimOver }
        : undefined,
  })

const documentFacts = ({
  agentName,
  providerSessionId,
  workspace,
  path,
  writtenAt,
  expiresAt,
}: PendingFound): object => ({
  from: agentName,
  providerSessionId,
  workspace,
  path,
  writtenAt,
  expiresAt,
})

const takenFacts = ({ handoff, workspace, leftBy, takenBy }: TakenDocument): object => ({
  handoffId: handoff.id,
  conversationId: handoff.conversationId,
  from: handoff.sourceAgent,
  to: handoff.targetAgent,
  workspace,
  leftBy,
  takenBy,
  takenAt: handoff.initiatedAt,
})
