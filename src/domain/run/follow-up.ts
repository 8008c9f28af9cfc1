import type { Instant } from '../kernel/instant.ts'
import type { AgentSession } from '../session/agent-session.ts'
import { type ContextMonitor, monitoredPressure } from '../window/context-monitor.ts'
import { type Milestone, RESTART } from '../window/milestone.ts'
import type { SessionMode } from './session-settings.ts'

/** The run that follows up on a session. */
export interface FollowUp {
  readonly agentName: string
  readonly backend: string
  /** Whether its runtime can resume a provider session. */
  readonly canResume: boolean
  readonly mode: SessionMode
  readonly timeoutMs: number
  /** Whether it works in a directory that is not on record as the conversation's. */
  readonly isElsewhere?: boolean
  /** The time of the last message of a paused session. A session that has ended has its time of end instead. */
  readonly restedAt?: Instant
  /** The milestones of the run; those of the session unless given. */
  readonly milestones?: readonly Milestone[]
  readonly at: Instant
}

const SENTENCES = {
  mode_fresh: 'the session mode is "fresh"',
  not_completed: 'the session before it was not completed',
  another_agent: 'another agent worked on the session before it',
  another_runtime: 'another runtime ran the session before it',
  another_directory: 'it works in a directory that is not on record as the conversation’s',
  cannot_resume: 'the runtime cannot resume a session',
  too_old: 'the session before it is older than the session timeout',
  nearly_full: 'the window of the session before it is nearly full',
  session_gone: 'the runtime no longer has the session before it',
} as const

/** The reason for which a follow-up starts in a fresh window. */
export type FreshReason = keyof typeof SENTENCES

/** The reason for which a follow-up starts in a fresh window, for a person. */
export const describeFreshReason = (reason: FreshReason): string => SENTENCES[reason]

/**
 * The first reason for which a follow-up does not resume the provider session of the latest session, if there is one.
 * An unknown pressure is no reason: unknown never triggers anything.
 */
export const freshReason = (
  latest: AgentSession,
  monitor: ContextMonitor | undefined,
  followUp: FollowUp,
): FreshReason | undefined => {
  const { agentName, backend, canResume, mode, timeoutMs, isElsewhere = false, at } = followUp
  if (mode === 'fresh') return 'mode_fresh'
  if (latest.state !== 'completed' && latest.state !== 'paused') return 'not_completed'
  if (latest.agentName !== agentName) return 'another_agent'
  if (latest.backend !== backend) return 'another_runtime'
  if (isElsewhere) return 'another_directory'
  if (!canResume || latest.providerSessionId === undefined) return 'cannot_resume'
  const restedAt = latest.state === 'paused' ? (followUp.restedAt ?? latest.startedAt) : latest.endedAt
  if (Date.parse(at) - Date.parse(restedAt) >= timeoutMs) return 'too_old'
  // A paused session is resumed even when its window is full: it is restarted at once, with a checkpoint.
  if (latest.state === 'paused') return undefined
  return isNearlyFull(monitor, followUp.milestones) ? 'nearly_full' : undefined
}

const isNearlyFull = (monitor: ContextMonitor | undefined, milestones = monitor?.milestones ?? []): boolean => {
  const pressure = monitor && monitoredPressure(monitor)
  const restartAt = milestones.find(({ name }) => name === RESTART)?.at
  return pressure?.state === 'known' && restartAt !== undefined && pressure.ratio >= restartAt
}
