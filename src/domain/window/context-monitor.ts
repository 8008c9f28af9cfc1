import type { BudgetLimit, RestartBudget } from '../budget/restart-budget.ts'
import type { DomainEvent } from '../kernel/event.ts'
import type { AgentSessionId, ConversationId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/instant.ts'
import { type Pressure, pressureOf, type WindowParts } from './context-pressure.ts'
import { DEFAULT_MILESTONES, type Milestone, milestoneProblem, RESTART } from './milestone.ts'
import { UNKNOWN_USAGE, type UsageReading } from './usage-reading.ts'
import type { CompactionTrigger } from './window-event.ts'

/** The policy about a full window: do nothing, say so, or restart. */
export const PRESSURE_POLICIES = ['manual', 'advise', 'auto'] as const

/** The policies about a full window. */
export type PressurePolicy = (typeof PRESSURE_POLICIES)[number]

/** The policy of a session that no runner works: its holder is told how full the window is, and decides. */
export const UNCHOSEN_POLICY: PressurePolicy = 'advise'

/** The policy of a run that nobody chose one for. */
export const RUN_POLICY: PressurePolicy = 'auto'

/** The settings of a monitor; a setting that is left out stays, or has its default. */
export interface MonitorSettings {
  /** While it is off, readings are kept and nothing is signalled. */
  readonly isEnabled?: boolean
  readonly policy?: PressurePolicy
  readonly milestones?: readonly Milestone[]
  /** How many tokens the user allows, below what the model takes. */
  readonly contextLimit?: number
}

/** The monitor of a session's window. It has a row and version of its own, so that samples do not conflict with turns. */
export interface ContextMonitor {
  readonly conversationId: ConversationId
  readonly sessionId: AgentSessionId
  readonly version: number
  readonly isEnabled: boolean
  readonly policy: PressurePolicy
  readonly milestones: readonly Milestone[]
  readonly window: WindowParts
  readonly reading: UsageReading
  readonly isCompacting: boolean
  /** After a compaction, until something is read again. */
  readonly awaitsReading: boolean
  /** 1, 2, 3 …: a milestone signals once in each. */
  readonly cycle: number
  /** The milestones at or below this fraction are spent in this cycle. */
  readonly latchedAt: number
  /** When the cycle began, by the producer's clock. */
  readonly boundaryAt?: Instant
  /** The producer's name for what began it. */
  readonly boundaryKey?: string
  /** The newest sample, by the producer's clock. */
  readonly sampledAt?: Instant
}

type Of<Type extends string, Body = unknown> = DomainEvent<Type, { sessionId: AgentSessionId } & Body>

/** A milestone was reached. */
export type MilestoneReached = Of<
  'context.milestone_reached',
  { milestone: Milestone; cycle: number; ratio: number; usedTokens?: number; windowTokens?: number }
>

/** Why the milestones count anew. A low reading is never a reason. */
export type RearmReason =
  | 'cleared'
  | 'enabled'
  | 'milestones_changed'
  | 'limit_changed'
  | 'auto_chosen'
  | 'restart_ended'

/** A window is full, and the budget allows no other. */
export type RestartRefused = Of<
  'context.restart_refused',
  { limit: BudgetLimit; whenExhausted: RestartBudget['whenExhausted'] }
>

/** Events about a window. Readings without a signal are none: they come by the thousand. */
export type MonitorEvent =
  | MilestoneReached
  | RestartRefused
  | Of<
      'context.compacted',
      {
        trigger: CompactionTrigger
        preTokens?: number
        cycle: number
        /** The usable window from now on, when the compaction showed that it is smaller than believed. */
        loweredTo?: number
      }
    >
  | Of<'context.rearmed', { cycle: number; why: RearmReason }>
  | Of<
      'context.monitor_set',
      {
        isEnabled: boolean
        /** The policy that somebody chose; absent where none was. */
        policy?: PressurePolicy
        milestones: readonly Milestone[]
        contextLimit?: number
      }
    >

/** Whether an event is about a window rather than about the session it belongs to. */
export const isMonitorEvent = <E extends { readonly type: string }>(event: E): event is E & MonitorEvent =>
  event.type.startsWith('context.')

/** The start of a new monitor: settings, and the believed window. */
export interface MonitorStart extends MonitorSettings {
  readonly window?: WindowParts
}

/** A monitor as a session begins: nothing read, nothing spent. */
export const newMonitor = (
  { conversationId, sessionId }: Pick<ContextMonitor, 'conversationId' | 'sessionId'>,
  { isEnabled, policy, milestones, contextLimit, window = {} }: MonitorStart = {},
): ContextMonitor => ({
  conversationId,
  sessionId,
  version: 1,
  isEnabled: isEnabled ?? true,
  policy: policy ?? UNCHOSEN_POLICY,
  milestones: milestones ?? DEFAULT_MILESTONES,
  window: contextLimit === undefined ? window : { ...window, configuredLimit: contextLimit },
  reading: UNKNOWN_USAGE,
  isCompacting: false,
  awaitsReading: false,
  cycle: 1,
  latchedAt: 0,
})

/** The start of a successor's monitor: the same settings, and the known parts of the window it works in. */
export const inheritMonitor = (
  { isEnabled, policy, milestones, window }: ContextMonitor,
  believed: WindowParts | undefined,
): MonitorStart => {
  const { configuredLimit } = window
  const allowed = configuredLimit === undefined ? {} : { configuredLimit }
  // Where this session was compacted says nothing certain of another.
  const { compactedAt: _, ...parts } = window
  return { isEnabled, policy, milestones, window: believed === undefined ? parts : { ...believed, ...allowed } }
}

/** A monitor of a session that has handed off: what is still said of that window is of no consequence. */
export const closedMonitor = (monitor: ContextMonitor): ContextMonitor => ({
  ...monitor,
  version: monitor.version + 1,
  isEnabled: false,
})

/** How full the monitored window is. */
export const monitoredPressure = ({ reading, window }: ContextMonitor): Pressure => pressureOf(reading, window)

/** Whether a restart is due under `auto` and no later turn begins it: its milestone is spent, and the window still full. */
export const isRestartOwed = (monitor: ContextMonitor): boolean => {
  const restartAt = monitor.milestones.find(({ name }) => name === RESTART)?.at ?? Number.POSITIVE_INFINITY
  return monitor.policy === 'auto' && monitor.latchedAt >= restartAt && restartAdvice(monitor).isSuggested
}

/** Why a restart is, or is not, a good idea now. */
export type RestartReason =
  | 'milestone_reached'
  | 'below_milestone'
  | 'no_restart_milestone'
  | 'milestones_invalid'
  | 'pressure_unknown'
  | 'compacting'
  | 'monitor_disabled'
  | 'policy_manual'
  /** The session is over, and nothing is restarted any more. */
  | 'session_ended'
  /** The budget of the conversation allows no restart. */
  | 'budget_exhausted'

/** Whether to restart in a fresh window now. */
export interface RestartAdvice {
  readonly isSuggested: boolean
  readonly reasons: readonly RestartReason[]
}

/** Facts about a session beside its window. */
export interface RestartBarriers {
  readonly hasEnded?: boolean
  /** The part of the budget that stood against a restart just now. */
  readonly refusedBy?: BudgetLimit
}

/** Whether to restart now, with everything that speaks against it. */
const restartAdvice = (monitor: ContextMonitor, barriers: RestartBarriers = {}): RestartAdvice => {
  const { isEnabled, policy, milestones, isCompacting } = monitor
  const pressure = monitoredPressure(monitor)
  const isValid = milestoneProblem(milestones) === undefined
  const restartAt = milestones.find(({ name }) => name === RESTART)?.at
  const against: readonly (RestartReason | false)[] = [
    barriers.hasEnded === true && 'session_ended',
    barriers.refusedBy !== undefined && 'budget_exhausted',
    !isEnabled && 'monitor_disabled',
    policy === 'manual' && 'policy_manual',
    isCompacting && 'compacting',
    !isValid && 'milestones_invalid',
    isValid && restartAt === undefined && 'no_restart_milestone',
    pressure.state === 'unknown' && 'pressure_unknown',
    pressure.state === 'known' && restartAt !== undefined && !(pressure.ratio >= restartAt) && 'below_milestone',
  ]
  const reasons = against.filter((reason) => reason !== false)
  return reasons.length === 0 ? { isSuggested: true, reasons: ['milestone_reached'] } : { isSuggested: false, reasons }
}

/** How full a window is, and whether a fresh one is due. */
export interface WindowStanding {
  readonly pressure: Pressure
  readonly restart: RestartAdvice
}

/** The standing of a window, computed from its monitor. */
export const standingOfWindow = (monitor: ContextMonitor, barriers: RestartBarriers = {}): WindowStanding => ({
  pressure: monitoredPressure(monitor),
  restart: restartAdvice(monitor, barriers),
})
