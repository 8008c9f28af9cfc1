import type { Store, Unit } from '../../src/entry/ports.ts'
import { withParts, withUnitOfWork } from './wrap.ts'

/** Keeps leases when their sessions end or pause, and lists them, as a list that forgot to look at the session would. */
export const keepingEndedLeases = (store: Store): Store => {
  const ended = new Map<string, Awaited<ReturnType<Store['leases']['listExpired']>>['items'][number]>()
  const remember = async ({ changes }: Unit): Promise<void> => {
    for (const change of changes) {
      if (change.type !== 'drop_lease') continue
      const { id: sessionId, conversationId } = change.session
      const { items } = await store.audit.list(conversationId, { limit: 1 })
      const [first] = items
      if (first !== undefined) ended.set(sessionId, { sessionId, conversationId, expiredAt: first.event.at })
    }
  }
  const remembering = withUnitOfWork(store, {
    commit: async (unit) => {
      const kept = await store.unitOfWork.commit(unit)
      if (kept.outcome === 'kept') await remember(unit)
      return kept
    },
  })
  return withParts(remembering, {
    leases: {
      ...store.leases,
      listExpired: async (page) => {
        const paged = await store.leases.listExpired(page)
        return page.after === undefined ? { ...paged, items: [...ended.values(), ...paged.items] } : paged
      },
    },
  })
}
