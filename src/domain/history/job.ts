import type { Conversation } from '../conversation/conversation.ts'
import type { HandoffMetadata } from '../handoff/handoff.ts'
import { defined } from '../kernel/defined.ts'
import type { ConversationId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { type AgentSession, heldBy, isTerminal, isWaitingThread } from '../session/agent-session.ts'
import type { HolderState } from '../session/holder-state.ts'

/** One session of a job, and everything that says how it stands. */
export interface JobWindow {
  readonly session: AgentSession
  readonly holder: HolderState
  /** The cost of the checkpoints that were asked of it, as far as is known. */
  readonly checkpointUsd?: number
  /** When its latest turn was recorded; absent once it has ended, and before it had one. */
  readonly lastTurnAt?: Instant
}

/** A job as stores know it: a conversation without a parent, and all its threads. */
export interface JobParts {
  /** When a session of it last began or ended; else when it was opened. */
  readonly latestAt: Instant
  /** The conversation itself, then its threads, oldest first. */
  readonly conversations: readonly [Conversation, ...Conversation[]]
  /** Of all these conversations, in the order they started. */
  readonly windows: readonly JobWindow[]
  /** Those that have not ended. */
  readonly openHandoffs: readonly HandoffMetadata[]
  /** Restarts that were initiated, in all these conversations. */
  readonly restarts: number
}

/** A document that waits for the next session of a folder. */
export interface WaitingDocument {
  readonly conversationId: ConversationId
  readonly workspace: string
  readonly writtenAt: Instant
}

/**
 * The standing of a job: somebody works on it; somebody is waited for; its process is gone; it has not ended, and nobody
 * says whether somebody works on it; or how it ended.
 */
export type JobState = 'running' | 'waiting' | 'orphaned' | 'open' | 'finished' | 'failed'

/** Something that waits, and for whom: an agent by its name, or the person. */
export interface JobWait {
  readonly for: { readonly agent: string } | 'person'
  readonly what: 'handoff' | 'thread' | 'restart' | 'paused' | 'not_started' | 'document'
  readonly since: Instant
  readonly conversationId: ConversationId
  /** Where the document waits for the next session. */
  readonly folder?: string
}

/** The failure of a conversation's latest session. */
export interface JobFailure {
  readonly agent: string
  readonly reason: string
  readonly at: Instant
  readonly conversationId: ConversationId
}

/** One job, as a report tells it. */
export interface Job extends Pick<JobParts, 'conversations' | 'latestAt' | 'restarts' | 'windows'> {
  readonly state: JobState
  /** In the order they first worked. */
  readonly agents: readonly string[]
  /** Of all sessions and checkpoints; absent where no runtime said one. */
  readonly costUsd?: number
  readonly waits: readonly JobWait[]
  readonly failures: readonly JobFailure[]
}

/** Tells how a job stands, from the parts of it that are stored and the documents that wait beside them. */
export const jobOf = (parts: JobParts, documents: readonly WaitingDocument[], now: Instant): Job => {
  const { conversations, windows, latestAt, restarts } = parts
  const waits = [...windows.flatMap((window) => waitsOf(window, parts, now)), ...notStarted(parts)].concat(
    documents.flatMap((document) => documentWait(document, conversations)),
  )
  return defined({
    conversations,
    latestAt,
    restarts,
    windows,
    state: stateOf(parts, waits, now),
    agents: [...new Set(windows.map(({ session }) => session.agentName))],
    costUsd: costOf(windows),
    waits,
    failures: conversations.flatMap(({ id }) => failureOf(latestOf(windows, id))),
  })
}

/** The cost of some windows with their checkpoints; absent where none is known. */
export const costOf = (windows: readonly JobWindow[]): number | undefined => {
  const costs = windows.flatMap(({ session, checkpointUsd }) => [session.totals?.costUsd, checkpointUsd])
  return costs.reduce((sum, cost) => (cost === undefined ? sum : (sum ?? 0) + cost), undefined)
}

/** The last that is known of a window: its end, its latest turn, or its beginning. */
export const latestMomentOf = ({ session, lastTurnAt }: JobWindow): Instant =>
  'endedAt' in session ? session.endedAt : (lastTurnAt ?? session.startedAt)

const latestOf = (windows: readonly JobWindow[], id: ConversationId): AgentSession | undefined =>
  windows
    .map(({ session }) => session)
    .filter(({ conversationId }) => conversationId === id)
    .reduce<AgentSession | undefined>((last, next) => (last && last.epoch > next.epoch ? last : next), undefined)

const failureOf = (session: AgentSession | undefined): readonly JobFailure[] =>
  session?.state === 'failed'
    ? [
        {
          agent: session.agentName,
          reason: session.endReason,
          at: session.endedAt,
          conversationId: session.conversationId,
        },
      ]
    : []

/** The most urgent of what its unfinished sessions are; when all have ended, how its own latest one ended. */
const stateOf = (parts: JobParts, waits: readonly JobWait[], now: Instant): JobState => {
  const { conversations, windows } = parts
  const standings = windows.flatMap((window) => standingOf(window, parts, now) ?? [])
  const urgent = URGENCY.find((state) => standings.includes(state))
  if (urgent !== undefined) return urgent
  if (waits.length > 0) return 'waiting'
  return latestOf(windows, conversations[0].id)?.state === 'failed' ? 'failed' : 'finished'
}

const URGENCY = ['orphaned', 'running', 'waiting', 'open'] as const

const standingOf = (window: JobWindow, parts: JobParts, now: Instant): (typeof URGENCY)[number] | undefined => {
  const { session, holder } = window
  if (isTerminal(session)) return undefined
  const open = openHandoffOf(session, parts)
  if (open?.status === 'accepted' && open.claim.deadline > now) return 'running'
  if (open !== undefined && open.kind !== 'context_restart') return 'waiting'
  if (session.state === 'paused' && open === undefined) {
    // A runtime that cannot resume leaves it paused, and a later session has its work.
    return latestOf(parts.windows, session.conversationId)?.id === session.id ? 'waiting' : undefined
  }
  if (isWaitingThread(session) && holder === 'unleased') return 'waiting'
  if (holder === 'held') return 'running'
  if (holder !== 'unleased') return 'orphaned'
  return open === undefined ? 'open' : 'waiting'
}

const waitsOf = (window: JobWindow, parts: JobParts, now: Instant): readonly JobWait[] => {
  const { session } = window
  if (standingOf(window, parts, now) !== 'waiting') return []
  const { conversationId, agentName } = session
  const open = openHandoffOf(session, parts)
  if (open !== undefined) {
    const what = open.kind === 'context_restart' ? 'restart' : 'handoff'
    return [{ for: { agent: open.targetAgent }, what, since: open.initiatedAt, conversationId }]
  }
  if (isWaitingThread(session))
    return [{ for: { agent: agentName }, what: 'thread', since: session.startedAt, conversationId }]
  return [{ for: 'person', what: 'paused', since: latestMomentOf(window), conversationId }]
}

const openHandoffOf = (session: AgentSession, { openHandoffs }: JobParts): HandoffMetadata | undefined => {
  const id = heldBy(session)
  return id && openHandoffs.find((handoff) => handoff.id === id)
}

/** A conversation that was opened, and in which nobody has begun to work. */
const notStarted = ({ conversations: [root], windows }: JobParts): readonly JobWait[] =>
  root.closedAt === undefined && latestOf(windows, root.id) === undefined
    ? [{ for: 'person', what: 'not_started', since: root.openedAt, conversationId: root.id }]
    : []

const documentWait = (
  { conversationId, workspace, writtenAt }: WaitingDocument,
  conversations: readonly Conversation[],
): readonly JobWait[] =>
  conversations.some(({ id }) => id === conversationId)
    ? [{ for: 'person', what: 'document', since: writtenAt, conversationId, folder: workspace }]
    : []
