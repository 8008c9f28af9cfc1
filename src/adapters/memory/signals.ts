import type { AgentSessionId } from '../../domain/kernel/ids.ts'
import type { Instant } from '../../domain/kernel/instant.ts'
import type { ContextSignal } from '../../domain/session/context-signal.ts'
import { settledSignal } from '../../domain/session/context-signal.ts'
import type { SignalQueue } from '../../ports/store/signal-queue.ts'
import { pageByAge } from './all-rows.ts'
import type { Undo } from './table.ts'
import type { Tables } from './tables.ts'

const byQueueing = (a: ContextSignal, b: ContextSignal): number =>
  a.queuedAt === b.queuedAt ? Number(a.id > b.id) - Number(a.id < b.id) : a.queuedAt < b.queuedAt ? -1 : 1

/** A session hears what was for it, and for those before it that have handed off. */
const heardBy = (tables: Tables, recipient: AgentSessionId): readonly AgentSessionId[] => {
  const own = tables.sessions.get(recipient)?.session
  if (own === undefined) return []
  return tables.sessions
    .in('conversation', own.conversationId)
    .filter(({ session }) => session.id === own.id || (session.state === 'handed_off' && session.epoch < own.epoch))
    .map(({ session }) => session.id)
}

/** The signals that a session is still to be told, oldest first. */
export const queuedFor = (tables: Tables, recipient: AgentSessionId): readonly ContextSignal[] =>
  heardBy(tables, recipient)
    .flatMap((id) => tables.signals.in('queuedFor', id))
    .sort(byQueueing)

/** The queue of signals. */
export const signalsIn = (tables: Tables): SignalQueue => {
  const queued = (recipient: AgentSessionId): readonly ContextSignal[] => queuedFor(tables, recipient)
  return {
    find: async (id) => tables.signals.get(id),
    waiting: async (recipient) => {
      const all = queued(recipient)
      const urgent = all.filter(({ delivery }) => delivery === 'urgent')
      return [...urgent, ...all.filter(({ delivery }) => delivery === 'sequential').slice(0, 1)]
    },
    acknowledge: async (recipient, ids, at) => {
      const found = queued(recipient).filter(({ id }) => ids.includes(id))
      for (const signal of found) tables.signals.replace(settledSignal(signal, 'delivered', at))
      return found.length
    },
    listFor: async (recipient, page) =>
      pageByAge([...tables.signals.in('recipient', recipient)], ({ queuedAt }) => queuedAt, page),
  }
}

/** Takes back what is still to be said about a session's window. */
export const signalWithdrawals = (tables: Tables, about: AgentSessionId, at: Instant): readonly (() => Undo)[] =>
  tables.signals
    .in('queuedAbout', about)
    .filter(({ kind }) => kind === 'milestone')
    .map((signal) => () => tables.signals.replace(settledSignal(signal, 'withdrawn', at)))
