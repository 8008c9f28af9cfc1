import type { Store, Unit } from '../../src/entry/ports.ts'
import { withUnitOfWork } from './wrap.ts'

const carelessly = (change: Unit['changes'][number]): Unit['changes'][number] => {
  if (change.type !== 'set_lease' && change.type !== 'drop_lease') return change
  const { ifExpired: _, ...careless } = change
  return careless
}

/** Gives a session away though its holder was heard of, as a write that does not look at the clock again would. */
export const robbingTheLiving = (store: Store): Store =>
  withUnitOfWork(store, {
    commit: (unit) => store.unitOfWork.commit({ ...unit, changes: unit.changes.map(carelessly) }),
  })
