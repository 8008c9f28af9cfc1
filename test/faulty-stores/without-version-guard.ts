import { expecting, expectingHandoff } from '../../src/domain/decision.ts'
import type { Store, Unit } from '../../src/index.ts'
import { withUnitOfWork } from './wrap.ts'

/** Writes over whatever version is there, as an UPDATE without its WHERE would. */
export const withoutVersionGuard = (store: Store): Store => {
  const current = async (change: Unit['changes'][number]): Promise<Unit['changes'][number]> => {
    if (change.type === 'move_session') {
      const stored = await store.sessions.find(change.working.session.id)
      if (stored === undefined) return change
      return { ...change, expected: { ...change.expected, ...expecting({ session: stored }) } }
    }
    if (change.type === 'move_handoff') {
      const stored = await store.handoffs.find(change.handoff.id)
      return stored === undefined ? change : { ...change, expected: expectingHandoff(stored) }
    }
    return change
  }
  return withUnitOfWork(store, {
    commit: async (unit) => store.unitOfWork.commit({ ...unit, changes: await Promise.all(unit.changes.map(current)) }),
  })
}
