import type { Change } from '../../domain/decision.ts'
import { by } from '../../domain/history/lineage.ts'
import { defined } from '../../domain/kernel/defined.ts'
import { type Instant, later } from '../../domain/kernel/instant.ts'
import { hasBaton } from '../../domain/session/agent-session.ts'
import type { Page } from '../../ports/store/page.ts'
import type { HeldLease, SessionLeases } from '../../ports/store/session-leases.ts'
import { tokenDigest } from '../../ports/system/holder-tokens.ts'
import type { Clock } from '../../ports/system/system.ts'
import { frozenCopy } from './frozen-copy.ts'
import { pageBy } from './paging.ts'
import type { Undo } from './table.ts'
import type { LeaseRow, Tables } from './tables.ts'

/** Whether a lease may be set or dropped: always, or only once the one before it has expired. */
export const mayLease = (tables: Tables, { session, ifExpired }: LeaseChange, now: Instant): boolean => {
  const before = tables.leases.get(session.id)
  return ifExpired !== true || before === undefined || before.expiresAt <= now
}

type Lease = Extract<Change, { type: 'set_lease' }>
type LeaseChange = Lease | Extract<Change, { type: 'drop_lease' }>

/** Sets a lease from now on. */
export const setLease = (tables: Tables, { session, holder, leaseMs, runner }: Lease, now: Instant): Undo => {
  const { id: sessionId, conversationId } = session
  const before = tables.leases.get(sessionId)
  const { processes = [] } = before ?? {}
  const frozen = runner && frozenCopy(runner)
  const about = { sessionId, conversationId, holder, expiresAt: later(now, leaseMs), processes }
  const row: LeaseRow = { ...about, ...defined({ runner: frozen }) }
  return before === undefined ? tables.leases.insert(row) : tables.leases.replace(row)
}

/** A lease as others see it: without the token of its holder. */
export const heldLease = ({ conversationId, sessionId, expiresAt: until, processes, runner }: LeaseRow): HeldLease =>
  defined({ conversationId, sessionId, until, processes, runner })

/** The leases of sessions that have the baton, soonest over first. */
const ofBatons = (tables: Tables, page: Page, isWanted: (row: LeaseRow) => boolean) => {
  const hasIt = ({ sessionId }: LeaseRow): boolean => {
    const session = tables.sessions.get(sessionId)?.session
    return session !== undefined && hasBaton(session)
  }
  const rows = tables.leases
    .in('all', 'all')
    .filter((row) => isWanted(row) && hasIt(row))
    .sort(
      by(
        ({ expiresAt }) => expiresAt,
        ({ sessionId }) => sessionId,
      ),
    )
  return pageBy(rows, ({ expiresAt, sessionId }) => `${expiresAt} ${sessionId}`, page)
}

/** Until when holders are to be heard of, by the clock of the store. */
export const leasesIn = (tables: Tables, clock: Clock): SessionLeases => ({
  renew: async (session, holder, leaseMs) => {
    const lease = tables.leases.get(session)
    if (lease?.holder !== tokenDigest(holder)) return false
    tables.leases.replace({ ...lease, expiresAt: later(clock.now(), leaseMs) })
    return true
  },
  keepProcesses: async (session, holder, processes) => {
    const lease = tables.leases.get(session)
    if (lease?.holder !== tokenDigest(holder)) return false
    tables.leases.replace({ ...lease, processes: frozenCopy(processes) })
    return true
  },
  find: async (session) => {
    const lease = tables.leases.get(session)
    return lease && heldLease(lease)
  },
  listRunning: async (page) => {
    const now = clock.now()
    const { items, ...rest } = ofBatons(tables, page, ({ expiresAt }) => expiresAt > now)
    return { ...rest, items: items.map(heldLease) }
  },
  listExpired: async (page) => {
    const now = clock.now()
    const { items, ...rest } = ofBatons(tables, page, ({ expiresAt }) => expiresAt <= now)
    return {
      ...rest,
      items: items.map(({ conversationId, sessionId, expiresAt: expiredAt }) => ({
        conversationId,
        sessionId,
        expiredAt,
      })),
    }
  },
})
