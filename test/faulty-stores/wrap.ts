import type { AgentSession } from '../../src/entry/index.ts'
import type { Store, UnitOfWork } from '../../src/entry/ports.ts'

/** A store with some of its parts replaced. */
export const withParts = (store: Store, parts: Partial<Omit<Store, typeof Symbol.asyncDispose>>): Store => {
  const {
    unitOfWork,
    conversations,
    sessions,
    handoffs,
    snapshots,
    messages,
    audit,
    monitors,
    signals,
    leases,
    commands,
    ids,
    lookBacks,
    threadSummaries,
  } = store
  const dispose = (): PromiseLike<void> => store[Symbol.asyncDispose]()
  const kept = {
    unitOfWork,
    conversations,
    sessions,
    handoffs,
    snapshots,
    messages,
    audit,
    monitors,
    signals,
    leases,
    commands,
    ids,
    lookBacks,
    threadSummaries,
  }
  return { ...kept, ...parts, [Symbol.asyncDispose]: dispose }
}

/** A store whose unit of work is partly replaced. */
export const withUnitOfWork = (store: Store, parts: Partial<UnitOfWork>): Store => {
  const { unitOfWork } = store
  const load: UnitOfWork['load'] = (question, command) => unitOfWork.load(question, command)
  const estimateNow = () => unitOfWork.estimateNow()
  return withParts(store, { unitOfWork: { load, commit: (unit) => unitOfWork.commit(unit), estimateNow, ...parts } })
}

/** A store that reads sessions back changed. */
export const withSessions = (store: Store, change: (session: AgentSession) => AgentSession): Store => {
  const { sessions } = store
  const changed = (session: AgentSession | undefined): AgentSession | undefined => session && change(session)
  return withParts(store, {
    sessions: {
      find: async (id) => changed(await sessions.find(id)),
      findActive: async (id) => changed(await sessions.findActive(id)),
      findBaton: async (id) => changed(await sessions.findBaton(id)),
      findLatest: async (id) => changed(await sessions.findLatest(id)),
      isHeldBy: (id, holder) => sessions.isHeldBy(id, holder),
      findByProviderSession: async (id) => (await sessions.findByProviderSession(id)).map(change),
      listUnfinished: async (page) => {
        const paged = await sessions.listUnfinished(page)
        return { ...paged, items: paged.items.map((item) => ({ ...item, session: change(item.session) })) }
      },
      list: async (filter, page) => {
        const paged = await sessions.list(filter, page)
        return { ...paged, items: paged.items.map(change) }
      },
      listForConversation: async (id, page) => {
        const paged = await sessions.listForConversation(id, page)
        return { ...paged, items: paged.items.map(change) }
      },
    },
  })
}
