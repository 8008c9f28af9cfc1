import { commandId } from '../../src/entry/index.ts'
import type { Store } from '../../src/entry/ports.ts'
import { CountingIds } from '../../src/entry/testing.ts'
import { withUnitOfWork } from './wrap.ts'

/** Keeps the changes of a unit one by one: when a later one fails, the earlier ones stay. */
export const withoutRollback = (store: Store): Store => {
  const ids = new CountingIds(0xfa017)
  return withUnitOfWork(store, {
    commit: async (unit) => {
      for (const change of unit.changes.slice(0, -1)) {
        const command = { id: commandId(ids.next()), payload: 'part' }
        const kept = await store.unitOfWork.commit({ command, changes: [change], events: [], isRemembered: false })
        if (kept.outcome !== 'kept') return kept
      }
      return store.unitOfWork.commit({ ...unit, changes: unit.changes.slice(-1) })
    },
  })
}
