import type { Store } from '../../src/entry/ports.ts'
import { withParts, withUnitOfWork } from './wrap.ts'

/** Keeps what a message says, and not which thread it reports. */
export const losingReports = (store: Store): Store =>
  withUnitOfWork(store, {
    commit: (unit) =>
      store.unitOfWork.commit({
        ...unit,
        changes: unit.changes.map((change) =>
          change.type === 'add_turn'
            ? { ...change, messages: change.messages.map(({ reports: _, ...message }) => message) }
            : change,
        ),
      }),
  })

/** Looks at one conversation where the whole tree is asked for. */
export const seeingNoTree = (store: Store): Store => {
  const { conversations } = store
  const findTree: typeof conversations.findTree = async (id) => {
    const use = await conversations.findUse(id)
    const { length: threads } = await conversations.listDelegated(id)
    return use && { depth: 0, threads, costUsd: use.costUsd }
  }
  return withParts(store, { conversations: { ...conversations, findTree } })
}
