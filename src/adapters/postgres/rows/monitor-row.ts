import { z } from 'zod'
import { defined } from '../../../domain/kernel/defined.ts'
import { signalId } from '../../../domain/kernel/ids.ts'
import {
  type ContextSignal,
  SIGNAL_DELIVERIES,
  SIGNAL_KINDS,
  SIGNAL_STATUSES,
} from '../../../domain/session/context-signal.ts'
import { type ContextMonitor, PRESSURE_POLICIES } from '../../../domain/window/context-monitor.ts'
import { WINDOW_SOURCES } from '../../../domain/window/context-pressure.ts'
import type { Milestone } from '../../../domain/window/milestone.ts'
import { aConversation, aSession, maybe, reader, time, usage } from './row-types.ts'

/** Milestones that somebody damaged are read as they are: the domain says what is wrong with them, and never signals. */
const milestones = z
  .array(z.object({ name: z.string(), at: z.unknown() }))
  .catch([])
  .transform((list) => list as readonly Milestone[])

const windowParts = z.strictObject({
  hardLimit: z.strictObject({ tokens: z.number(), source: z.enum(WINDOW_SOURCES) }).exactOptional(),
  configuredLimit: z.number().exactOptional(),
  autoCompactAt: z.number().exactOptional(),
  compactedAt: z.number().exactOptional(),
})

const monitorRow = z.object({
  conversation_id: aConversation,
  session_id: aSession,
  version: z.number(),
  is_enabled: z.boolean(),
  policy: z.enum(PRESSURE_POLICIES),
  milestones,
  window_parts: windowParts,
  reading: usage,
  is_compacting: z.boolean(),
  awaits_reading: z.boolean(),
  cycle: z.number(),
  latched_at: z.number(),
  boundary_at: maybe(time),
  boundary_key: maybe(z.string()),
  sampled_at: maybe(time),
})

export const toMonitor = reader(
  'context monitor',
  monitorRow.transform(
    (stored): ContextMonitor =>
      defined({
        conversationId: stored.conversation_id,
        sessionId: stored.session_id,
        version: stored.version,
        isEnabled: stored.is_enabled,
        policy: stored.policy,
        milestones: stored.milestones,
        window: stored.window_parts,
        reading: stored.reading,
        isCompacting: stored.is_compacting,
        awaitsReading: stored.awaits_reading,
        cycle: stored.cycle,
        latchedAt: stored.latched_at,
        boundaryAt: stored.boundary_at,
        boundaryKey: stored.boundary_key,
        sampledAt: stored.sampled_at,
      }),
  ),
)

export const fromMonitor = (monitor: ContextMonitor) => ({
  conversation_id: monitor.conversationId,
  session_id: monitor.sessionId,
  version: monitor.version,
  is_enabled: monitor.isEnabled,
  policy: monitor.policy,
  milestones: monitor.milestones,
  window_parts: monitor.window,
  reading: monitor.reading,
  is_compacting: monitor.isCompacting,
  awaits_reading: monitor.awaitsReading,
  cycle: monitor.cycle,
  latched_at: monitor.latchedAt,
  boundary_at: monitor.boundaryAt,
  boundary_key: monitor.boundaryKey,
  sampled_at: monitor.sampledAt,
})

const signalRow = z.object({
  conversation_id: aConversation,
  id: z.string().transform(signalId),
  recipient_session_id: aSession,
  about_session_id: aSession,
  kind: z.enum(SIGNAL_KINDS),
  milestone: maybe(z.string()),
  text: z.string(),
  delivery: z.enum(SIGNAL_DELIVERIES),
  status: z.enum(SIGNAL_STATUSES),
  queued_at: time,
  settled_at: maybe(time),
})

export const toSignal = reader(
  'signal',
  signalRow.transform(
    (stored): ContextSignal =>
      defined({
        id: stored.id,
        conversationId: stored.conversation_id,
        recipientId: stored.recipient_session_id,
        aboutId: stored.about_session_id,
        kind: stored.kind,
        milestone: stored.milestone,
        text: stored.text,
        delivery: stored.delivery,
        status: stored.status,
        queuedAt: stored.queued_at,
        settledAt: stored.settled_at,
      }),
  ),
)

export const fromSignal = (signal: ContextSignal) => ({
  conversation_id: signal.conversationId,
  id: signal.id,
  recipient_session_id: signal.recipientId,
  about_session_id: signal.aboutId,
  kind: signal.kind,
  milestone: signal.milestone,
  text: signal.text,
  delivery: signal.delivery,
  status: signal.status,
  queued_at: signal.queuedAt,
  settled_at: signal.settledAt,
})
